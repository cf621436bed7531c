// A search field that hides the rows that do not match. What is searched for stays in the address.

export function watchFilter() {
  const input = document.querySelector("[data-filter]");
  if (!input) return;
  const field = new URL(location).searchParams.get(input.name);
  if (field) input.value = field;
  const rows = [...document.querySelectorAll(`${input.dataset.filter} [data-row]`)];
  const texts = rows.map((row) => row.textContent.toLowerCase());
  const names = rows.map((row) => new Set([...row.querySelectorAll("[data-names]")].flatMap(namesIn)));

  const apply = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let found = 0;
    rows.forEach((row, place) => {
      row.hidden = !words.every((word) => texts[place].includes(word) || names[place].has(withoutCutoff(word)));
      found += !row.hidden;
    });
    for (const group of document.querySelectorAll("[data-group]")) {
      group.hidden = !group.querySelector("[data-row]:not([hidden])");
    }
    document.getElementById("found").textContent = words.length ? `${found} of ${rows.length}` : "";
    const address = new URL(location);
    if (words.length) address.searchParams.set(input.name, input.value);
    else address.searchParams.delete(input.name);
    history.replaceState(history.state, "", address);
  };
  input.addEventListener("input", apply);
  if (field) apply();
}

function namesIn(cell) {
  return cell.textContent.toLowerCase().split(/[\s,]+/).map(withoutCutoff);
}

/** The name of a measure that is given with a cutoff: map@10, P_5, ndcg_cut.10. */
function withoutCutoff(word) {
  return word.replace(/(@.*|[._]\d+)$/, "");
}
