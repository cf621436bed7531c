// The query table: sorting, search and paging. Ids become text, never markup.
"use strict";
(() => {
  const part = (id) => document.getElementById(id);
  const data = JSON.parse(part("data").textContent);
  const { measures, ids, values } = data;
  const shown = ids.map((id, at) => data.shown[at] ?? id);
  const sought = ids.map((id, at) => `${id}\n${shown[at]}`.toLowerCase());
  const everything = ids.map((_, at) => at);
  const byId = new Intl.Collator(undefined, { numeric: true }); // q2 before q10
  const QUERY = -1; // the column of ids

  const state = { column: data.main, descending: false, show: "all", words: "", rows: 25, page: 0 };

  const FILTERS = {
    all: { words: "all", keeps: () => true },
    zero: { words: "at 0", keeps: (value) => value === 0 },
    below: { words: "below the mean", keeps: (value, mean) => value !== null && mean !== null && value < mean },
    none: { words: "undefined", keeps: (value) => value === null },
  };

  // Four decimals, rounded as Python does: toFixed rounds an exact half up, Python to the even digit. With four
  // decimals only odd multiples of 1/32 are exact halves, and ten thousand times such a number is exact.
  function decimals(value) {
    const half = (value * 32) % 1 === 0 && (value * 16) % 1 !== 0;
    if (!half) return value.toFixed(4);
    const below = Math.floor(value * 1e4);
    return ((below % 2 === 0 ? below : below + 1) / 1e4).toFixed(4);
  }

  function show(value, measure) {
    if (value === null) return "–";
    return measure.whole ? value.toFixed(0) : decimals(value);
  }

  // The queries to show, in order; undefined values come last in both directions.
  function chosen() {
    const measure = Math.max(state.column, 0);
    const column = values[measure] ?? [];
    const mean = measures[measure]?.mean ?? null;
    const keeps = FILTERS[state.show].keeps;
    const words = state.words.toLowerCase();
    const kept = everything.filter((at) => keeps(column[at], mean) && sought[at].includes(words));
    const sign = state.descending ? -1 : 1;
    if (state.column === QUERY) return kept.sort((a, b) => sign * byId.compare(shown[a], shown[b]) || a - b);
    return kept.sort((a, b) => {
      if (column[a] === null || column[b] === null) return (column[a] === null) - (column[b] === null) || a - b;
      return sign * (column[a] - column[b]) || a - b;
    });
  }

  function cell(kind, text) {
    const made = document.createElement(kind);
    made.textContent = text;
    return made;
  }

  const tops = values.map((column) => column.reduce((top, value) => Math.max(top, value ?? 0), 1));

  function row(at) {
    const made = document.createElement("tr");
    const head = document.createElement("th");
    head.scope = "row";
    head.append(cell("bdi", shown[at]));
    made.append(head);
    measures.forEach((measure, place) => {
      const value = values[place][at];
      const box = cell("td", show(value, measure));
      box.className = "number";
      if (value > 0) {
        box.classList.add("bar");
        box.style.setProperty("--share", String(value / tops[place]));
      }
      made.append(box);
    });
    return made;
  }

  function refresh() {
    const order = chosen();
    const pages = Math.max(Math.ceil(order.length / state.rows), 1);
    state.page = Math.min(Math.max(state.page, 0), pages - 1);
    const from = state.page * state.rows;
    const visible = order.slice(from, from + state.rows);
    part("table").tBodies[0].replaceChildren(...visible.map(row));
    part("shown").textContent = summary(from, visible.length, order.length);
    part("pages").hidden = pages === 1;
    part("first").disabled = part("previous").disabled = state.page === 0;
    part("next").disabled = part("last").disabled = state.page === pages - 1;
    part("lowest").setAttribute("aria-pressed", String(!state.descending));
    part("highest").setAttribute("aria-pressed", String(state.descending));
    part("by").value = String(state.column);
    heads.forEach((head, place) => {
      if (place - 1 !== state.column) head.removeAttribute("aria-sort");
      else head.setAttribute("aria-sort", state.descending ? "descending" : "ascending");
    });
  }

  function summary(from, count, total) {
    const number = (value) => value.toLocaleString("en");
    if (total === 0) return "No matching queries.";
    const column = state.column === QUERY ? "query" : measures[state.column].name;
    const order = `by ${column}, ${state.descending ? "highest" : "lowest"} first`;
    const all = total === ids.length ? "" : `, of ${number(ids.length)} in all`;
    return `${number(from + 1)} to ${number(from + count)} of ${number(total)}${all}, ${order}`;
  }

  function change(changes) {
    Object.assign(state, { page: 0 }, changes);
    refresh();
  }

  function option(value, words) {
    const made = cell("option", words);
    made.value = value;
    return made;
  }

  const heads = [...part("table").tHead.rows[0].cells];
  heads.forEach((head, place) => {
    const column = place - 1;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.addEventListener("click", () => change({ column, descending: column === state.column && !state.descending }));
    head.append(button);
  });
  part("by").append(option(String(QUERY), "Query"), ...measures.map((measure, at) => option(String(at), measure.name)));
  part("show").append(...Object.entries(FILTERS).map(([name, filter]) => option(name, filter.words)));

  part("controls").addEventListener("submit", (event) => event.preventDefault());
  part("search").addEventListener("input", (event) => change({ words: event.target.value }));
  part("by").addEventListener("change", (event) => change({ column: Number(event.target.value) }));
  part("show").addEventListener("change", (event) => change({ show: event.target.value }));
  part("rows").addEventListener("change", (event) => change({ rows: Number(event.target.value) }));
  part("lowest").addEventListener("click", () => change({ descending: false }));
  part("highest").addEventListener("click", () => change({ descending: true }));
  part("first").addEventListener("click", () => change({}));
  part("previous").addEventListener("click", () => change({ page: state.page - 1 }));
  part("next").addEventListener("click", () => change({ page: state.page + 1 }));
  part("last").addEventListener("click", () => change({ page: Infinity }));

  part("controls").hidden = false;
  part("still").hidden = true;
  refresh();
})();
