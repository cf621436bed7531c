// Words for a screen reader.

export function say(words) {
  document.getElementById("said").textContent = words;
}
