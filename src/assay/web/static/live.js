// The page follows its inputs. All values come from the server: each change asks it for the page in its new state and takes
// over what has changed. The address is the state, so that it can be shared, reloaded and walked back.

import { NO_ANSWER, partOf, refuse, settle, wordsOf } from "./refusing.js";
import { say } from "./saying.js";

const LOWEST = -60; // the lowest grade
const BURST = 1000; // milliseconds: changes of one input that follow each other are one step of the history
const LONGEST = 32000; // characters of an address; the server refuses more than 32 KB
const SEVERAL = "Only one value fits here. A decimal takes a point, such as 1.5.";
const FIELD = "Assay-Field"; // header of a refusal: the field that cannot be read, and which of its values

const main = () => document.querySelector("main");
const form = () => document.querySelector("form[data-state]");
const after = []; // called when a page was taken over
const refused = new Map(); // parts of the form with words of a refusal, and the fields that were refused, as text

let shown = ""; // the address whose values are on the page
let here = ""; // the address that the browser shows, without the part of the page
let last = { source: null, time: 0 };
let asking = false;
let waiting = null; // what `update` was called with while the server was asked
let turn = 0; // of what was asked: an answer that comes after something newer was asked is dropped

export function onChange(call) {
  after.push(call);
}

export function watchState() {
  shown = main().dataset.address ?? "";
  here = location.pathname + location.search;
  if (!form() || !shown) return;
  history.replaceState({ before: null, depth: history.state?.depth ?? 0 }, "");
  document.addEventListener("input", (event) => {
    if (event.target.name && event.target.closest("form[data-state]")) update(event.target);
  });
  document.addEventListener("submit", (event) => {
    if (event.target.matches("form[data-state]")) event.preventDefault();
  });
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-go]");
    if (!link || event.button || event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    go(link.getAttribute("href"), link);
  });
  document.addEventListener("click", step);
  document.addEventListener("keydown", stepByKey);
  addEventListener("popstate", () => {
    const there = location.pathname + location.search;
    if (there !== here) show(there); // else a link led to a part of the page
  });
}

/**
 * Asks for the values of what is in the inputs.
 *
 * Changes from one source that follow each other soon, or that belong to one gesture, are one step of the history. A part of
 * the form that was refused keeps its last values until it is changed, so that the other parts go on.
 */
export async function update(source, gesture = null) {
  if (asking) {
    waiting = [source, gesture];
    return;
  }
  for (const [part, [input, words]] of misread()) refusePart(part, words, input);
  const held = [...refused.keys()].filter((part) => refused.get(part) === textOf(part));
  if (held.includes(partOf(source))) return;
  asking = true;
  try {
    const texts = new Map(parts().map((part) => [part, textOf(part)]));
    const burst = gesture ? gesture === last.gesture : source === last.source && performance.now() - last.time < BURST;
    const before = burst ? history.state?.before : shown;
    const answer = await ask(addressOf(held), before ?? shown);
    if (!answer) return;
    if (!answer.page) {
      const part = partOf(answer.input ?? source);
      refusePart(part, answer.words, answer.input, answer.gone ? null : texts.get(part));
      if (part !== partOf(source)) waiting ??= [source, gesture]; // the other parts go on
      return;
    }
    for (const part of refused.keys()) if (!held.includes(part)) forget(part);
    const address = answer.page.querySelector("main").dataset.address;
    if (address !== shown) {
      last = { source, gesture, time: performance.now() };
      if (burst && address === before) stepBack(address);
      else if (burst) replace(address);
      else push(address, before);
    }
    take(answer.page, address, waiting === null && shapeOf(answer.page, held) !== shapeOf(document, held));
  } finally {
    asking = false;
    if (waiting !== null) {
      const next = waiting;
      waiting = null;
      update(...next);
    }
  }
}

/** Shows another state of the page, whose inputs are others, too; words of a refusal stand near the source. */
export async function go(address, source) {
  waiting = null;
  const answer = await ask(address, shown);
  if (!answer) return;
  if (!answer.page) {
    refused.set(partOf(source), null);
    if (source.matches("textarea")) refuse(partOf(source), answer.ofResult ?? answer.all, source);
    else refuse(partOf(source), answer.all);
    return;
  }
  const there = answer.page.querySelector("main").dataset.address; // as the server writes it
  if (there !== shown) push(there, shown);
  nextStep();
  take(answer.page, there, true);
}

function replace(address) {
  history.replaceState(history.state, "", address);
  here = address;
}

function push(address, before) {
  history.pushState({ before, depth: (history.state?.depth ?? 0) + 1 }, "", address);
  here = address;
}

/** A step that has led back to where it began is none. */
function stepBack(address) {
  here = address;
  nextStep();
  history.back();
}

/** What comes next is a step of its own in the history. */
export function nextStep() {
  last = { source: null, time: 0 };
}

/** Back to the state before, if this page had one. */
export function undo() {
  if (history.state?.depth) history.back();
}

async function show(address) {
  here = address;
  waiting = null;
  nextStep();
  const answer = await ask(address, shown);
  if (answer?.page) take(answer.page, address, true);
  else if (answer) refusePart(main(), answer.all, null, null);
}

/**
 * The page at an address, or why there is none: `words` for the input at fault, `all` with the name of the field for elsewhere.
 * Null if something newer was asked since.
 */
async function ask(address, before) {
  const mine = ++turn;
  if (address.length > LONGEST) return trouble("This is more than an address can hold. Shorten the names, or leave out some results.");
  let answer, text;
  try {
    answer = await fetch(address, { headers: { "Assay-Before": before, Accept: "text/html" } });
    text = await answer.text();
  } catch {
    return mine === turn ? { ...trouble(NO_ANSWER), gone: true } : null;
  }
  if (mine !== turn) return null;
  const page = new DOMParser().parseFromString(text, "text/html");
  for (const each of page.querySelectorAll("noscript")) each.remove(); // here it has elements, on the page it has none
  if (answer.ok) return { page };
  return trouble(wordsOf(page), answer.headers.get(FIELD));
}

function trouble(all, field = null) {
  if (!field) return { all, words: all, input: null };
  const [name, place] = field.split(" ");
  const input = inputOf(name, place);
  const start = all.indexOf(": ") + 2; // of what is wrong, after the name of the field
  const first = name.startsWith("p.") ? all[start] : all[start].toUpperCase(); // words on a parameter begin with its name
  const words = first + all.slice(start + 1);
  return { all, words: input ? words : all, input, ofResult: place && `Result ${place}: ${all.slice(start)}` };
}

/** The input of a field, or of one of its values; null if it is not to be seen. */
function inputOf(name, place = 1) {
  const inputs = [...form().elements].filter((input) => input.name === name);
  const input = inputs[Math.min(place, inputs.length) - 1];
  return input?.type === "hidden" ? null : (input ?? null);
}

/** For each part of the form: the first input whose text is not one value, and words. */
function misread() {
  const found = new Map();
  for (const input of form().elements) {
    const one = input.dataset.joined !== undefined && input.type !== "hidden";
    const several = one && /[\s,;]/.test(input.value.trim());
    if (!several && !input.validity.badInput || found.has(partOf(input))) continue;
    found.set(partOf(input), [input, several ? SEVERAL : "This is not a number."]);
  }
  return found;
}

/** Words for a part of the form, whose values are then old; `text` is what was refused, null if it may be asked again. */
function refusePart(part, words, input, text = textOf(part)) {
  refused.set(part, text);
  part.classList.add("stale");
  refuse(part, words, input);
}

function forget(part) {
  refused.delete(part);
  part.classList.remove("stale");
  settle(part);
}

function take(page, address, whole) {
  if (whole) takeAll(page);
  else takeLive(page);
  shown = address;
  main().dataset.address = address;
  document.title = page.title;
  const twin = document.getElementById("twin");
  if (twin) twin.href = page.getElementById("twin").getAttribute("href");
  for (const call of after) call();
}

/** The lists of a page, and how many rows they have, but for those in parts that were refused. */
function shapeOf(page, held) {
  const other = new Set(held.flatMap((part) => [...part.querySelectorAll("[data-list]")].map((list) => list.dataset.list)));
  const lists = [...page.querySelectorAll("main [data-list]")].filter((list) => !other.has(list.dataset.list));
  return lists.map((list) => `${list.dataset.list} ${list.querySelectorAll(":scope > [data-row]").length}`).join();
}

/** Replaces the whole page, but leaves open what was open, and the focus where it was; says what has changed. */
function takeAll(page) {
  const open = [...main().querySelectorAll("details")].map((each) => each.open);
  const focus = placeOf(document.activeElement);
  const pictures = [...main().querySelectorAll(".plot")];
  refused.clear();
  main().classList.remove("stale");
  main().replaceChildren(...page.querySelector("main").childNodes);
  for (const plot of main().querySelectorAll(".plot")) {
    const old = pictures.find((each) => each.dataset.chart === plot.dataset.chart);
    if (old) plot.replaceWith(old);
  }
  const details = [...main().querySelectorAll("details")];
  if (details.length === open.length) details.forEach((each, place) => (each.open = open[place]));
  if (focus) find(focus)?.focus({ preventScroll: true });
  const words = main().querySelector("[role=status]")?.textContent || main().querySelector("h1[data-live]")?.textContent;
  if (words) say(words); // a live region that comes with the page is not read
}

/** Replaces what follows the inputs, and marks the values that have changed. */
function takeLive(page) {
  const fresh = new Map();
  for (const element of page.querySelectorAll("[data-live]")) {
    const same = fresh.get(element.dataset.live) ?? [];
    fresh.set(element.dataset.live, [...same, element]);
  }
  for (const old of [...document.querySelectorAll("[data-live]")]) {
    const element = fresh.get(old.dataset.live)?.shift();
    if (!element || element.outerHTML === old.outerHTML || old.contains(document.activeElement) && old.matches("textarea")) continue;
    if (old.matches("[role=status], h1")) {
      old.textContent = element.textContent; // a live region speaks when its content changes, not when it is replaced
      continue;
    }
    mark(old, element);
    const focus = old.contains(document.activeElement) ? placeOf(document.activeElement) : null;
    const across = old.scrollLeft;
    old.replaceWith(element);
    element.scrollLeft = across;
    if (focus) find(focus)?.focus({ preventScroll: true });
  }
  for (const input of main().querySelectorAll("input[id]")) {
    const same = page.getElementById(input.id);
    for (const name of ["min", "max", "placeholder"]) if (same && input[name] !== same[name]) input[name] = same[name];
  }
}

function mark(old, element) {
  const values = (root) => (root.matches(".value") ? [root] : [...root.querySelectorAll(".value")]);
  const before = values(old);
  values(element).forEach((value, place) => {
    if (before[place] && before[place].textContent !== value.textContent) value.classList.add("changed");
  });
}

/** Where an element is: its id, or its row, or what it is called and its place in the block that is replaced with it. */
function placeOf(element) {
  if (!element || !main().contains(element) || element === main()) return null;
  const kind = element.tagName;
  const within = (root) => [...root.querySelectorAll(kind)].indexOf(element);
  const row = element.closest("[data-row]");
  const list = row?.closest("[data-list]");
  const block = element.closest("[data-live]");
  return {
    kind,
    id: element.id,
    name: nameOf(element),
    section: element.closest("section")?.id,
    row: list && { list: list.dataset.list, row: [...list.children].indexOf(row), place: within(row) },
    block: block && { key: block.dataset.live, place: block === element ? -1 : within(block) },
  };
}

/** The same element on the page as it is now; if it is gone, the heading of its section, or else of the first list. */
function find({ kind, id, name, section, row, block }) {
  if (id && document.getElementById(id)) return document.getElementById(id);
  const around = document.getElementById(section);
  const list = row && main().querySelector(`[data-list="${row.list}"]`);
  const there = list?.children[row.row]?.querySelectorAll(kind)[row.place];
  if (there) return there;
  for (const root of [around, main()]) {
    const same = !row && root && [...root.querySelectorAll(kind)].find((each) => nameOf(each) === name);
    if (same) return same;
  }
  const old = block && main().querySelector(`[data-live="${block.key}"]`);
  if (old) return block.place < 0 ? old : (old.querySelectorAll(kind)[block.place] ?? headingOf(around));
  return headingOf(around);
}

function headingOf(section) {
  const heading = (section ?? main().querySelector("[data-list]")?.closest("section"))?.querySelector("h2");
  if (heading) heading.tabIndex = -1;
  return heading;
}

function nameOf(element) {
  return element.getAttribute("aria-label") ?? (element.name ? `${element.name}=${element.value}` : element.textContent);
}

/** The parts of the form that can be refused on their own. */
function parts() {
  return [...new Set([...form().elements].map(partOf))];
}

/** The fields of a part of the form, as text. */
const textOf = (part) => String(new URLSearchParams(fieldsOf(part)));

/** The fields of the form, or of a part of it, as pairs. Inputs of a list become one field, with commas. */
function fieldsOf(part) {
  const joined = new Map([...part.querySelectorAll("[data-list]")].map((list) => [list.dataset.list, []]));
  const single = [];
  for (const input of form().elements) {
    if (!part.contains(input) || !input.name || (["radio", "checkbox"].includes(input.type) && !input.checked)) continue;
    const value = input.value.trim();
    if (input.dataset.joined === undefined) single.push([input.name, value]);
    else joined.set(input.name, [...(joined.get(input.name) ?? []), value || (input.dataset.empty ?? "")]);
  }
  return [...[...joined].map(([name, values]) => [name, values.join(",")]), ...single];
}

/** The address that the form stands for; some parts are left as they were when they were last taken. */
function addressOf(held) {
  const kept = new Set(held.flatMap((part) => fieldsOf(part).map(([name]) => name)));
  const now = fieldsOf(form()).filter(([name]) => !kept.has(name));
  const then = [...new URL(shown, location).searchParams].filter(([name]) => kept.has(name));
  return addressFrom([...now, ...then]);
}

function addressFrom(fields) {
  return `${form().getAttribute("action")}?${new URLSearchParams(fields)}`;
}

/** The address of the values on the page with some other fields. */
export function addressWith(fields) {
  const names = new Set(fields.map(([name]) => name));
  return addressFrom([...[...new URL(shown, location).searchParams].filter(([name]) => !names.has(name)), ...fields]);
}

/** A button beside a number makes it larger or smaller. */
function step(event) {
  const button = event.target.closest("[data-step]");
  const input = button?.parentElement.querySelector("input");
  if (!input) return;
  change(input, Number(button.dataset.step));
}

/** Arrow keys in an input do what the buttons beside it do. */
function stepByKey(event) {
  if (!["ArrowUp", "ArrowDown"].includes(event.key) || !event.target.matches("input")) return;
  const [less, more] = event.target.parentElement.querySelectorAll("[data-step]");
  if (!more) return;
  event.preventDefault();
  change(event.target, Number((event.key === "ArrowUp" ? more : less).dataset.step));
}

/** Adds to the number of an input; from nothing, counting begins at what the input shows instead of it. */
export function change(input, step) {
  const from = Number.parseFloat(input.value || input.placeholder);
  const low = input.min !== "" ? Number(input.min) : input.inputMode === "numeric" ? 0 : LOWEST;
  const high = input.max === "" || input.max === undefined ? Infinity : Number(input.max);
  const start = from === low ? Math.floor(low) : from; // from 0.001, up is 1
  const to = Number.isNaN(from) ? Math.max(low, 0) : Math.round((start + step) * 1000) / 1000;
  input.value = Math.min(Math.max(to, low), high);
  input.dispatchEvent(new Event("input", { bubbles: true }));
}
