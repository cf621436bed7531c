// The page follows its inputs. All values come from the server: each change asks it for the page in its new state and takes
// over what has changed. The address is the state, so that it can be shared, reloaded and walked back.

const LOWEST = -60; // the lowest grade
const BURST = 1000; // milliseconds: changes of one input that follow each other are one step of the history

const main = () => document.querySelector("main");
const form = () => document.querySelector("form[data-state]");
const after = []; // called when a page was taken over

let shown = ""; // the address whose values are on the page
let here = ""; // the address that the browser shows, without the part of the page
let last = { source: null, time: 0 };
let asking = false;
let waiting = null; // the source of a change that came while the server was asked
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
    go(link.getAttribute("href"));
  });
  document.addEventListener("click", step);
  addEventListener("popstate", () => {
    const there = location.pathname + location.search;
    if (there !== here) show(there); // else a link led to a part of the page
  });
}

/** Asks for the values of what is in the inputs. */
export async function update(source) {
  if (asking) {
    waiting = source;
    return;
  }
  asking = true;
  try {
    const asked = addressOf(form());
    const burst = source === last.source && performance.now() - last.time < BURST;
    const before = burst ? history.state?.before : shown;
    last = { source, time: performance.now() };
    const page = await ask(asked, before ?? shown, source);
    if (!page) return;
    const address = page.querySelector("main").dataset.address;
    if (address !== shown) {
      if (burst) replace(address);
      else push(address, before);
    }
    take(page, address, false);
  } finally {
    asking = false;
    if (waiting !== null) {
      const next = waiting;
      waiting = null;
      update(next);
    }
  }
}

/** Shows another state of the page, whose inputs are others, too. */
export async function go(address) {
  waiting = null;
  const page = await ask(address, shown, null);
  if (!page) return;
  push(address, shown);
  nextStep();
  take(page, address, true);
}

function replace(address) {
  history.replaceState(history.state, "", address);
  here = address;
}

function push(address, before) {
  history.pushState({ before, depth: (history.state?.depth ?? 0) + 1 }, "", address);
  here = address;
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
  const page = await ask(address, shown, null);
  if (page) take(page, address, true);
}

/** The page at an address; null, and words on the page, if there is none; just null if something newer was asked since. */
async function ask(address, before, source) {
  const mine = ++turn;
  let answer, text;
  try {
    answer = await fetch(address, { headers: { "Assay-Before": before, Accept: "text/html" } });
    text = await answer.text();
  } catch {
    if (mine === turn) trouble("The workbench does not answer. Is assay serve still running?", source);
    return null;
  }
  if (mine !== turn) return null;
  const page = new DOMParser().parseFromString(text, "text/html");
  for (const each of page.querySelectorAll("noscript")) each.remove(); // here it has elements, on the page it has none
  if (answer.ok) {
    trouble("", source);
    return page;
  }
  trouble(page.querySelector("[data-error]")?.textContent ?? page.body.textContent, source);
  return null;
}

/** Words near the input that caused them; the values on the page are those of the last state that had some. */
function trouble(words, source) {
  for (const each of document.querySelectorAll("[data-trouble]")) each.textContent = "";
  const near = source?.closest?.("section, form")?.querySelector("[data-trouble]");
  const place = near ?? document.querySelector("[data-trouble]");
  if (place) place.textContent = words;
  main().classList.toggle("stale", words !== "");
}

function take(page, address, whole) {
  if (whole || lists(page) !== lists(document)) takeAll(page); // without its last result, the second list is gone
  else takeLive(page);
  shown = address;
  main().dataset.address = address;
  document.title = page.title;
  const twin = document.getElementById("twin");
  if (twin) twin.href = page.getElementById("twin").getAttribute("href");
  for (const call of after) call();
}

/** The names of the lists of a page. */
function lists(page) {
  return [...page.querySelectorAll("main [data-list]")].map((list) => list.dataset.list).join();
}

/** Replaces the whole page, but leaves open what was open, and the focus where it was. */
function takeAll(page) {
  const open = [...main().querySelectorAll("details")].map((each) => each.open);
  const focus = placeOf(document.activeElement);
  const pictures = [...main().querySelectorAll(".plot")];
  main().replaceChildren(...page.querySelector("main").childNodes);
  for (const plot of main().querySelectorAll(".plot")) {
    const old = pictures.find((each) => each.dataset.chart === plot.dataset.chart);
    if (old) plot.replaceWith(old);
  }
  const details = [...main().querySelectorAll("details")];
  if (details.length === open.length) details.forEach((each, place) => (each.open = open[place]));
  find(focus)?.focus({ preventScroll: true });
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
}

function mark(old, element) {
  const values = (root) => (root.matches(".value") ? [root] : [...root.querySelectorAll(".value")]);
  const before = values(old);
  values(element).forEach((value, place) => {
    if (before[place] && before[place].textContent !== value.textContent) value.classList.add("changed");
  });
}

/** Where an element is: its id, or its place among those of its kind. */
function placeOf(element) {
  if (!element || !main().contains(element)) return null;
  if (element.id) return { id: element.id };
  const kind = element.tagName;
  return { kind, place: [...main().querySelectorAll(kind)].indexOf(element) };
}

function find(place) {
  if (!place) return null;
  return place.id ? document.getElementById(place.id) : main().querySelectorAll(place.kind)[place.place];
}

/** The address that the inputs of a form stand for. */
export function addressOf(form) {
  const joined = new Map([...form.querySelectorAll("[data-list]")].map((list) => [list.dataset.list, []]));
  const single = [];
  for (const input of form.elements) {
    if (!input.name || ((input.type === "radio" || input.type === "checkbox") && !input.checked)) continue;
    const value = input.value.trim();
    if (input.dataset.joined === undefined) single.push([input.name, value]);
    else joined.set(input.name, [...(joined.get(input.name) ?? []), value || (input.dataset.empty ?? "")]);
  }
  const fields = [...[...joined].map(([name, values]) => [name, values.join(",")]), ...single];
  return `${form.getAttribute("action")}?${new URLSearchParams(fields)}`;
}

/** A button beside a number makes it larger or smaller. */
function step(event) {
  const button = event.target.closest("[data-step]");
  const input = button?.parentElement.querySelector("input");
  if (!input) return;
  change(input, Number(button.dataset.step));
}

/** Adds to the number of an input; from nothing, counting begins at what the input shows instead of it. */
export function change(input, step) {
  const from = Number.parseFloat(input.value || input.placeholder);
  const low = input.min !== "" ? Number(input.min) : input.inputMode === "numeric" ? 0 : LOWEST;
  const high = input.max === "" || input.max === undefined ? Infinity : Number(input.max);
  const to = Number.isNaN(from) ? Math.max(low, 0) : Math.round((from + step) * 1000) / 1000;
  input.value = Math.min(Math.max(to, low), high);
  input.dispatchEvent(new Event("input", { bubbles: true }));
}
