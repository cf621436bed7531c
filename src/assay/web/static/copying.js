// Buttons that copy a text to the clipboard.

import { say } from "./saying.js";

export function watchCopying() {
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    const done = await copy(document.getElementById(button.dataset.copy));
    say(done ? "Copied" : "The browser does not allow copying; the text is selected");
    if (!done) return;
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = "Copy"), 1500);
  });
}

async function copy(element) {
  try {
    await navigator.clipboard.writeText(element.textContent);
    return true;
  } catch {
    // Only pages of this machine, or over HTTPS, may write to the clipboard directly.
    getSelection().selectAllChildren(element);
    return document.execCommand("copy");
  }
}
