// Lists whose rows can be added, removed, moved by pointer or keys, and typed as text.

import { singleKeysAreOn } from "./keys.js";
import { addressWith, change, go, nextStep, onChange, update } from "./live.js";
import { refuse, settle } from "./refusing.js";
import { say } from "./saying.js";

const FAR = 5; // pixels that a pointer moves before it drags

const rows = (list) => [...list.querySelectorAll(":scope > [data-row]")];
const listOf = (element) => element.closest("[data-list]");

let lifted = null; // the card that keys move: { card, handle, from }
let dragged = null; // the card that a pointer moves: { card, handle, from, x, y, moving }

export function watchLists() {
  document.addEventListener("click", clicked);
  document.addEventListener("keydown", pressed);
  document.addEventListener("pointerdown", grab);
  document.addEventListener("pointermove", drag);
  document.addEventListener("pointerup", release);
  document.addEventListener("pointercancel", release);
  document.addEventListener("focusout", (event) => {
    if (lifted && event.target === lifted.handle) drop();
  });
  for (const kind of ["pointerover", "focusin"]) document.addEventListener(kind, pointAt);
  document.addEventListener("input", (event) => {
    const card = event.target.closest(".card");
    if (!card) return;
    if (event.target.dataset.joined !== undefined) card.dataset.grade = event.target.value.trim() || event.target.dataset.empty;
    number();
  });
  onChange(number);
  number();
}

/** Gives each row its number in what screen readers say. */
function number() {
  for (const list of document.querySelectorAll("[data-list]")) {
    rows(list).forEach((row, place) => {
      for (const element of row.querySelectorAll("[data-numbered]")) {
        let label = element.dataset.numbered.replace("#", place + 1);
        if (element.matches("[data-handle]")) label += `${called(row)}, ${list.dataset.what.toLowerCase()} ${row.dataset.grade}`;
        element.setAttribute("aria-label", label);
      }
    });
  }
}

/** The name of a result, if it has one, as a part of what is said. */
function called(row) {
  const name = row.querySelector(".title")?.value.trim();
  return name ? `, ${name}` : "";
}

function clicked(event) {
  const button = event.target.closest("button");
  if (!button) return;
  if (button.dataset.add) add(button.dataset.add);
  else if (button.dataset.remove !== undefined) remove(button.closest("[data-row]"));
  else if (button.dataset.letter) turn(button);
  else if (button.dataset.take) takeText(document.getElementById(button.dataset.take));
  else if (button.dataset.handle !== undefined && !event.detail) lift(button); // by a key: a pointer drags
}

function add(name) {
  const list = document.querySelector(`[data-list="${name}"]`);
  const template = document.querySelector(`template[data-for="${name}"]`).content;
  const row = document.importNode(template.querySelector("[data-row]"), true);
  list.append(row);
  number();
  const input = row.querySelector("input");
  input.focus();
  input.select(); // what is typed next replaces what the row begins with
  update(list);
  say(`Added ${list.dataset.noun} ${rows(list).length}`);
}

function remove(row) {
  const list = listOf(row);
  const place = rows(list).indexOf(row);
  row.remove();
  number();
  const next = rows(list)[Math.min(place, rows(list).length - 1)];
  const focus = next?.querySelector("[data-remove]") ?? document.querySelector(`[data-add="${list.dataset.list}"]`);
  focus.focus();
  update(list);
  say(`Removed ${list.dataset.noun} ${place + 1}`);
}

/** A letter of a list becomes the other one. */
function turn(button) {
  const input = button.closest("[data-row]").querySelector("input");
  const place = button.dataset.letter - 1;
  const letter = input.value[place].toUpperCase() === "R" ? "N" : "R";
  input.value = input.value.slice(0, place) + letter + input.value.slice(place + 1);
  update(input);
}

const GRADE = /^([-+]?[\d.]+|[u?-])$/;
const UNJUDGED = ["u", "?", "-"];

/** The text becomes the list: a line is a grade and a name; lines of nothing but grades are a list of them. */
function takeText(area) {
  const lines = area.value.split("\n").map((line) => line.trim()).filter(Boolean);
  const wide = lines.findIndex((line) => line.split("\t").length > 2);
  if (wide >= 0) {
    refuse(area.parentElement, `Line ${wide + 1} has more than two columns. Leave a grade and a name in each line.`, area);
    return;
  }
  settle(area.parentElement);
  const words = lines.map((line) => line.split(/[\s,;]+/).filter(Boolean));
  const alone = words.every((line) => line.every((word) => GRADE.test(word)));
  const parts = alone ? words.flat().map((grade) => [grade, ""]) : lines.map((line) => line.match(/^([^\s,;]*)[\s,;]*(.*)$/).slice(1));
  const [grades, names] = area.dataset.text.split(" ");
  const listed = parts.map(([grade]) => (UNJUDGED.includes(grade) ? "u" : grade)).join(",");
  go(addressWith([[grades, listed], ...namesOf(parts, names)]), area);
}

/** The names as fields; none if no result has one. */
function namesOf(parts, field) {
  const named = parts.findLastIndex(([, name]) => name) + 1;
  return named ? parts.slice(0, named).map(([, name]) => [field, name]) : [[field, ""]];
}

// Moving with a pointer. The card under the pointer stays in the document and its neighbours move past it: what is taken out
// of the document loses the pointer and the focus.

function grab(event) {
  const handle = event.target.closest("[data-handle]");
  if (!handle || event.button) return;
  if (lifted) drop();
  const card = handle.closest("[data-row]");
  dragged = { card, handle, from: rows(listOf(card)).indexOf(card), x: event.clientX, y: event.clientY, moving: false };
}

function drag(event) {
  if (!dragged) return;
  const { card } = dragged;
  if (!dragged.moving) {
    if (Math.hypot(event.clientX - dragged.x, event.clientY - dragged.y) < FAR) return;
    dragged.moving = true;
    nextStep();
    card.classList.add("moving");
  }
  event.preventDefault();
  const list = listOf(card);
  const all = rows(list);
  const over = all.findIndex((row) => row !== card && inside(row.getBoundingClientRect(), event));
  if (over < 0) return;
  const place = all.indexOf(card);
  const box = all[over].getBoundingClientRect();
  const across = list.classList.contains("across");
  // Not before the pointer has passed the middle: otherwise cards of different sizes would change places back and forth.
  const past = across ? (event.clientX - box.left) / box.width : (event.clientY - box.top) / box.height;
  if (over > place ? past > 0.5 : past < 0.5) {
    move(card, place, over);
    update(list, dragged);
  }
}

function inside(box, { clientX, clientY }) {
  return box.left <= clientX && clientX <= box.right && box.top <= clientY && clientY <= box.bottom;
}

function release() {
  if (!dragged) return;
  const { card, moving } = dragged;
  dragged = null;
  if (!moving) return;
  card.classList.remove("moving");
  say(`Dropped at ${rows(listOf(card)).indexOf(card) + 1}`);
}

/** The card that is moved goes back to where it was, and the step with it. */
function putBack(gesture) {
  const { card, from } = gesture;
  const list = listOf(card);
  const place = rows(list).indexOf(card);
  card.classList.remove("moving");
  if (place !== from) {
    move(card, place, from);
    update(list, gesture);
  }
  say(`Put back at ${from + 1}`);
}

/** Moves a card within its list by moving those between past it. */
function move(card, from, to) {
  const list = listOf(card);
  const all = rows(list);
  if (to > from) for (const row of all.slice(from + 1, to + 1)) list.insertBefore(row, card);
  else card.after(...all.slice(to, from));
  number();
}

// Moving with keys.

function lift(handle) {
  if (lifted) {
    drop();
    return;
  }
  const card = handle.closest("[data-row]");
  const list = listOf(card);
  lifted = { card, handle, from: rows(list).indexOf(card) };
  nextStep();
  handle.setAttribute("aria-pressed", "true");
  card.classList.add("moving");
  say(`Lifted ${list.dataset.noun} ${lifted.from + 1} of ${rows(list).length}${called(card)}. Arrow keys move it.`);
}

function drop(back = false) {
  const gesture = lifted;
  const { card, handle } = gesture;
  lifted = null;
  handle.setAttribute("aria-pressed", "false");
  card.classList.remove("moving");
  if (back) putBack(gesture);
  else say(`Dropped at ${rows(listOf(card)).indexOf(card) + 1}`);
}

const STEPS = { ArrowUp: -1, ArrowLeft: -1, ArrowDown: 1, ArrowRight: 1 };

function pressed(event) {
  if (dragged?.moving && event.key === "Escape") {
    event.preventDefault();
    const gesture = dragged;
    dragged = null;
    putBack(gesture);
    return;
  }
  const handle = event.target.closest?.("[data-handle]");
  if (!handle || event.ctrlKey || event.metaKey || event.altKey) return;
  if (lifted && event.key in STEPS) {
    event.preventDefault();
    shift(STEPS[event.key]);
  } else if (lifted && event.key === "Escape") {
    event.preventDefault();
    drop(true);
  } else if (/^[0-9-]$/.test(event.key)) {
    if (singleKeysAreOn()) grade(handle, event.key === "-" ? "" : event.key);
  } else if (!lifted && (event.key === "ArrowUp" || event.key === "ArrowDown")) {
    event.preventDefault();
    change(handle.closest("[data-row]").querySelector("[data-joined]"), -STEPS[event.key]);
    number();
    say(handle.getAttribute("aria-label"));
  }
}

function shift(step) {
  const { card } = lifted;
  const list = listOf(card);
  const place = rows(list).indexOf(card);
  const to = Math.min(Math.max(place + step, 0), rows(list).length - 1);
  if (to === place) return;
  move(card, place, to);
  update(list, lifted);
  say(`${to + 1} of ${rows(list).length}`);
}

function grade(handle, value) {
  const input = handle.closest("[data-row]").querySelector("[data-joined]");
  input.value = value;
  input.dispatchEvent(new Event("input", { bubbles: true }));
  number();
  say(handle.getAttribute("aria-label"));
}

/** The results that count for the measure under the pointer. */
function pointAt(event) {
  const row = event.target.closest?.("[data-ranks]");
  const list = document.querySelector(".bench [data-list]");
  if (!list) return;
  const ranks = row ? row.dataset.ranks.split(" ") : [];
  list.classList.toggle("pointed", row !== null);
  rows(list).forEach((card, place) => card.classList.toggle("counts", ranks.includes(String(place + 1))));
}
