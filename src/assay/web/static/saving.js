// The form that saves a list. What is wrong with it is said at its input, and the list stays on the page.

import { NO_ANSWER, refuse, settle, wordsOf } from "./refusing.js";

const form = (event) => event.target.closest("form[data-save]");

export function watchSaving() {
  document.addEventListener("submit", (event) => {
    if (!form(event)) return;
    event.preventDefault();
    save(form(event));
  });
  document.addEventListener("input", (event) => {
    if (form(event)) settle(form(event));
  });
}

async function save(form) {
  const input = form.elements.file;
  let answer, text;
  try {
    answer = await fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)), headers: { Accept: "text/html" } });
    text = await answer.text();
  } catch {
    refuse(form, NO_ANSWER, input);
    return;
  }
  if (answer.ok) location.assign(answer.url);
  else refuse(form, wordsOf(new DOMParser().parseFromString(text, "text/html")), input);
}
