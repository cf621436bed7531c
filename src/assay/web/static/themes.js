// The button that changes the theme: as the system, light, dark.

import { recall, remember } from "./storage.js";
import { say } from "./saying.js";

const THEMES = ["system", "light", "dark"];

export function watchTheme() {
  const button = document.getElementById("theme");
  const shown = () => recall("assay-theme") ?? document.documentElement.dataset.theme ?? "system";
  const name = () => button.setAttribute("aria-label", `Theme: ${shown()}`);
  button.addEventListener("click", () => {
    const next = THEMES[(THEMES.indexOf(shown()) + 1) % THEMES.length];
    remember("assay-theme", next === "system" ? null : next);
    if (next === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = next;
    name();
    say(`Theme: ${next}`);
  });
  name();
}
