// Keys of the workbench. They can be turned off: some people's keys come from speech.

import { undo } from "./live.js";
import { recall, remember } from "./storage.js";

const GO = "g";
const TIME = 1500; // milliseconds between the two keys that go somewhere

let going = -TIME; // when the first of them was pressed

const switched = () => document.getElementById("single-keys");

/** Whether letters, digits and signs do something. */
export function singleKeysAreOn() {
  return switched().checked;
}

export function watchKeys() {
  const list = document.getElementById("key-list");
  const open = () => list.showModal();
  document.getElementById("keys").addEventListener("click", open);
  const on = switched();
  on.checked = recall("assay-keys") !== "off";
  on.addEventListener("change", () => remember("assay-keys", on.checked ? null : "off"));
  const places = new Map([...document.querySelectorAll(".top nav a")].map((link) => [link.dataset.key, link]));

  document.addEventListener("keydown", (event) => {
    if (!on.checked || list.open || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    if (performance.now() - going < TIME && places.has(event.key)) {
      places.get(event.key).click();
      return;
    }
    going = event.key === GO ? performance.now() : -TIME;
    if (event.key === "?") open();
    else if (event.key === "u") undo();
    else if (event.key === "j") next(1);
    else if (event.key === "k") next(-1);
    else if (event.key === "/") search(event);
  });
}

function isTyping(element) {
  return element.matches?.("textarea, select, input:not([type=radio], [type=checkbox])") ?? false;
}

function search(event) {
  const input = document.querySelector("[type=search]");
  if (!input) return;
  event.preventDefault();
  input.focus();
}

/** The next or previous handle, or link of a row. */
function next(step) {
  const stops = [...document.querySelectorAll("main [data-handle], main [data-row]:not([hidden]) th a")];
  if (!stops.length) return;
  const place = stops.indexOf(document.activeElement);
  const to = place < 0 ? (step > 0 ? 0 : stops.length - 1) : place + step;
  stops[Math.min(Math.max(to, 0), stops.length - 1)].focus();
}
