// Words about what cannot be read. They stand over the page, at the input that caused them, so that nothing moves.

export const NO_ANSWER = "The workbench does not answer. Is assay serve still running?";

/** What a page of the server says is wrong. */
export function wordsOf(page) {
  return page.querySelector("[data-error]")?.textContent ?? page.body.textContent;
}

/** The part of a form that an element belongs to, which has values of its own; without one, the whole page. */
export function partOf(element) {
  let part = element?.closest("section, form");
  while (part && !part.querySelector(":scope > [data-trouble]")) part = part.parentElement.closest("section, form");
  return part ?? document.querySelector("main");
}

/** Shows words for a part of a form, at the input if there is one. */
export function refuse(part, words, input = null) {
  if (input && document.getElementById(input.getAttribute("aria-describedby"))?.textContent === words) return;
  settle(part);
  const around = input?.closest(".field, td, [data-row], details");
  if (!around) {
    const place = part.querySelector("[data-trouble]") ?? document.querySelector("[data-trouble]");
    if (place) place.textContent = words;
    return;
  }
  const note = document.createElement("p");
  note.className = "trouble at";
  note.role = "alert";
  note.id = "refused";
  for (let number = 2; document.getElementById(note.id); number += 1) note.id = `refused-${number}`;
  around.append(note);
  note.textContent = words;
  input.setAttribute("aria-invalid", "true");
  input.setAttribute("aria-describedby", note.id);
  if (input === document.activeElement) note.scrollIntoView({ block: "nearest" });
  const beyond = note.getBoundingClientRect().right - document.documentElement.clientWidth;
  if (beyond > 0) note.style.translate = `${-beyond - 8}px`;
}

/** Takes the words of a part away. */
export function settle(part) {
  for (const note of part.querySelectorAll(".trouble.at")) note.remove();
  for (const place of part.querySelectorAll("[data-trouble]")) place.textContent = "";
  for (const input of part.querySelectorAll("[aria-invalid]")) {
    input.removeAttribute("aria-invalid");
    input.removeAttribute("aria-describedby");
  }
}
