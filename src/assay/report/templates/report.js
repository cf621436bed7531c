// What readers can do with a page: sort, search and open the rows of its tables, and see what a mark of a chart stands for.
// Each table says in its own markup what it is (drawing/tables.py); without this script it is plain and whole. Texts
// become text, never markup.
"use strict";
(() => {
  const SEARCHED = 12; // rows from which a table has a search field
  const PAGE = 50; // rows at once, at first
  const SIZES = [25, 50, 100, 500];
  const NEAR = 18; // pixels from a mark of a chart that still mean it
  const naturally = new Intl.Collator("en", { numeric: true }); // q2 before q10
  const data = JSON.parse(document.getElementById("data")?.textContent || "{}");

  function made(kind, properties, ...children) {
    const element = Object.assign(document.createElement(kind), properties);
    element.append(...children);
    return element;
  }

  const counted = (count) => count.toLocaleString("en");

  // The number that a cell starts with; null for a dash. "<0.0001" is a little less than 0.0001.
  function numberIn(text) {
    const found = /^\s*([<>]?)([+-]?[\d,]*\.?\d+(?:e[+-]?\d+)?)/.exec(text);
    if (!found) return null;
    const value = Number(found[2].replaceAll(",", ""));
    return found[1] ? value * (found[1] === "<" ? 1 - 1e-9 : 1 + 1e-9) : value;
  }

  // The keys of one column, for every row: numbers, null for none, or texts.
  function keysOf(rows, column, isNumber) {
    return new Map(
      rows.map((row) => {
        const cell = row.cells[column];
        const text = cell.textContent.trim();
        return [row, isNumber ? numberIn(cell.dataset.sort ?? text) : (cell.dataset.sort ?? text)];
      }),
    );
  }

  function compared(one, other, sign) {
    if (one === null || other === null) return (one === null) - (other === null); // none stands last, both ways
    return sign * (typeof one === "number" ? one - other : naturally.compare(one, other));
  }

  function bars(rows, column) {
    const keys = keysOf(rows, column, true);
    const top = Math.max(1, ...keys.values());
    for (const [row, value] of keys) {
      if (!(value > 0)) continue;
      row.cells[column].classList.add("bar");
      row.cells[column].style.setProperty("--share", String(value / top));
    }
  }

  function enhance(box) {
    const table = box.querySelector("table");
    const body = table.tBodies[0];
    const heads = [...table.tHead.rows[0].cells];
    const names = heads.map((head) => head.textContent.trim());
    const isNumber = heads.map((head) => head.classList.contains("number"));
    const rows = [...body.rows];
    const place = new Map(rows.map((row, at) => [row, at]));
    const nouns = box.dataset.nouns;
    const opened = new Map(); // row -> the row below it
    const keys = [];
    let texts;
    const sorted = heads.findIndex((head) => head.hasAttribute("aria-sort"));
    const state = {
      column: sorted,
      descending: heads[sorted]?.getAttribute("aria-sort") === "descending",
      words: "",
      kind: "",
      size: PAGE,
      page: 0,
    };

    function found() {
      texts ??= new Map(
        rows.map((row) => [row, [...row.cells].filter((_, at) => !isNumber[at]).map((cell) => cell.textContent).join("\n").toLowerCase()]),
      );
      const words = state.words.toLowerCase().split(/\s+/).filter(Boolean);
      return rows.filter(
        (row) =>
          (!state.kind || row.dataset.kinds.split(" ").includes(state.kind)) &&
          words.every((word) => texts.get(row).includes(word)),
      );
    }

    function ordered() {
      const kept = found();
      const column = state.column;
      if (column < 0) return kept;
      const by = (keys[column] ??= keysOf(rows, column, isNumber[column]));
      const sign = state.descending ? -1 : 1;
      return kept.sort((a, b) => compared(by.get(a), by.get(b), sign) || place.get(a) - place.get(b));
    }

    function inWords(from, count, total) {
      if (total === 0) return `No ${nouns} match.`;
      const whole = count === total; // one page
      const all = total === rows.length ? "" : whole ? ` of ${counted(rows.length)}` : `, of ${counted(rows.length)} in all`;
      const ways = isNumber[state.column] ? ["lowest first", "highest first"] : ["A to Z", "Z to A"];
      const order = state.column < 0 ? "" : `, by ${names[state.column]}, ${ways[Number(state.descending)]}`;
      if (whole) return `${counted(total)}${all} ${nouns}${order}`;
      return `${counted(from + 1)} to ${counted(from + count)} of ${counted(total)} ${nouns}${all}${order}`;
    }

    function refresh() {
      const order = ordered();
      const pages = Math.max(Math.ceil(order.length / state.size), 1);
      state.page = Math.min(Math.max(state.page, 0), pages - 1);
      const from = state.page * state.size;
      const visible = order.slice(from, from + state.size);
      body.replaceChildren(...visible.flatMap((row) => (opened.has(row) ? [row, opened.get(row)] : [row])));
      heads.forEach((head, at) => {
        if (at !== state.column) head.removeAttribute("aria-sort");
        else head.setAttribute("aria-sort", state.descending ? "descending" : "ascending");
      });
      shown.textContent = inWords(from, visible.length, order.length);
      pager.hidden = pages === 1;
      pager.replaceChildren(
        ...[
          ["First", 0, state.page === 0],
          ["Previous", state.page - 1, state.page === 0],
          ["Next", state.page + 1, state.page === pages - 1],
          ["Last", pages - 1, state.page === pages - 1],
        ].map(([words, page, disabled], at) => (pagers[at] = turned(pagers[at], words, page, disabled))),
      );
      setWidths();
    }

    const pagers = [];
    function turned(button, words, page, disabled) {
      const known = button ?? made("button", { type: "button", textContent: words });
      known.disabled = disabled;
      known.onclick = () => change({ page });
      return known;
    }

    function change(changes) {
      Object.assign(state, "page" in changes ? {} : { page: 0 }, changes);
      const focused = document.activeElement;
      refresh();
      if (box.contains(focused)) focused.focus();
    }

    // The second fixed column stands beside the first, and what a row opens is as wide as what can be seen of the table:
    // both widths are known only now.
    function setWidths() {
      table.style.setProperty("--left", `${heads[0].getBoundingClientRect().width}px`);
      table.style.setProperty("--inside", `${table.parentElement.clientWidth}px`);
    }

    function open(row, button) {
      if (opened.has(row)) {
        opened.get(row).remove();
        opened.delete(row);
      } else {
        const cell = made("td", { colSpan: heads.length }, made("div", { className: "inside" }, ...contentOf(row.dataset.opens)));
        const below = made("tr", { className: "below" }, cell);
        opened.set(row, below);
        row.after(below);
        below.querySelectorAll(".table").forEach(enhance);
      }
      button.setAttribute("aria-expanded", String(opened.has(row)));
    }

    function control(words, input) {
      controls.append(made("label", {}, `${words} `, input));
      return input;
    }

    function options(pairs, chosen) {
      return pairs.map(([value, textContent]) => made("option", { value, textContent, selected: value === chosen }));
    }

    const controls = made("form", { className: "controls" });
    controls.addEventListener("submit", (event) => event.preventDefault());
    const shown = made("p", { className: "quiet shown" });
    shown.setAttribute("role", "status");
    const pager = made("div", { className: "buttons pages" });
    pager.setAttribute("role", "group");
    pager.setAttribute("aria-label", "Pages");
    if (rows.length > SEARCHED) {
      const search = control(`Search ${nouns}`, made("input", { type: "search", autocomplete: "off", spellcheck: false }));
      search.addEventListener("input", () => change({ words: search.value }));
    }
    if (box.dataset.choices && rows.length > SEARCHED) {
      const choices = box.dataset.choices.split("|").map((choice) => choice.split("="));
      const select = control("Show", made("select", {}, ...options([["", "all"], ...choices], "")));
      select.addEventListener("change", () => change({ kind: select.value }));
    }
    if (rows.length > PAGE) {
      const sizes = SIZES.filter((size, at) => at === 0 || SIZES[at - 1] < rows.length);
      const select = control("Rows", made("select", {}, ...options(sizes.map((size) => [String(size), String(size)]), String(PAGE))));
      select.addEventListener("change", () => change({ size: Number(select.value) }));
    }
    if (controls.childElementCount) box.prepend(controls, shown);
    box.querySelector(".scroll").after(pager);

    if (rows.length > 1) {
      heads.forEach((head, column) => {
        const button = made("button", { type: "button" }, ...head.childNodes);
        button.addEventListener("click", () =>
          change({ column, descending: column === state.column ? !state.descending : isNumber[column] }),
        );
        head.append(button);
      });
    }
    heads.forEach((head, column) => head.classList.contains("bars") && bars(rows, column));
    for (const row of rows.filter((each) => each.dataset.opens !== undefined)) {
      const button = made("button", { type: "button", className: "opener" }, ...row.cells[0].childNodes);
      button.setAttribute("aria-expanded", "false");
      button.addEventListener("click", () => open(row, button));
      row.cells[0].append(button);
    }
    new ResizeObserver(setWidths).observe(table);
    refresh();
  }

  // What a row opens: the values of every system for this query, and parts of the page about it.
  function contentOf(key) {
    const parts = (about.get(key) ?? []).map((part) => part.cloneNode(true));
    return [...(data.values ? [valuesOf(data.values, Number(key))] : []), ...parts];
  }

  // Copies of the parts about each row, before any of their tables gets controls.
  const about = new Map();
  for (const part of document.querySelectorAll("[data-of]")) {
    if (part.dataset.of === "") continue;
    const copy = made("div", {}, ...(part.content ?? part).cloneNode(true).childNodes);
    about.set(part.dataset.of, [...(about.get(part.dataset.of) ?? []), copy]);
  }
  document.querySelectorAll(".unscripted").forEach((part) => part.remove()); // for readers whose rows do not open

  // A table of all systems for one query; the values have four decimals already.
  function valuesOf({ systems, measures, values }, query) {
    const head = made("tr", {}, ...["System", ...measures].map((name, at) => {
      const cell = made("th", { scope: "col", className: at ? "number bars" : "words fixed" }, made("bdi", { textContent: name }));
      if (at === 1) cell.setAttribute("aria-sort", "descending");
      return cell;
    }));
    const rows = systems.map((system, place) =>
      made("tr", {}, made("th", { scope: "row", className: "fixed" }, made("bdi", { textContent: system })), ...values.map((of) => {
        const value = of[query][place];
        return made("td", { className: "number", textContent: value === null ? "–" : value.toFixed(4) });
      })),
    );
    const table = made("table", { className: "values plain" }, made("thead", {}, head), made("tbody", {}, ...rows));
    const scroll = made("div", { className: "scroll", tabIndex: 0 }, table);
    scroll.setAttribute("role", "group");
    scroll.setAttribute("aria-label", "Values of all systems");
    const box = made("div", { className: "table" }, scroll);
    box.dataset.nouns = "systems";
    return box;
  }

  // Charts: the words of the mark under the pointer, or near it. Without this script they are the mark's title.
  function nameMarks(chart) {
    const marks = [...chart.querySelectorAll("svg title")].map((title) => {
      const mark = title.parentElement;
      const words = title.textContent;
      title.remove();
      return { mark, words };
    });
    if (!marks.length) return;
    chart.addEventListener("pointermove", (event) => {
      const near = nearest(marks, event);
      if (near) say(near.words, event);
      else tip.hidden = true;
    });
    chart.addEventListener("pointerleave", () => (tip.hidden = true));
  }

  function nearest(marks, { clientX, clientY }) {
    let best = null;
    let least = NEAR;
    for (const each of marks) {
      const { left, right, top, bottom } = each.mark.getBoundingClientRect();
      const beside = Math.max(left - clientX, clientX - right, 0);
      const distance = Math.hypot(beside, Math.max(top - clientY, clientY - bottom, 0));
      if (distance < least || (distance === 0 && least === 0)) [best, least] = [each, distance];
    }
    return best;
  }

  const tip = made("div", { className: "tip", hidden: true });
  tip.setAttribute("role", "tooltip");
  document.body.append(tip);
  document.addEventListener("keydown", (event) => event.key === "Escape" && (tip.hidden = true));

  function say(words, { clientX, clientY }) {
    tip.textContent = words;
    tip.hidden = false;
    const { width, height } = tip.getBoundingClientRect();
    const left = Math.max(8, Math.min(clientX + 12, document.documentElement.clientWidth - width - 8));
    tip.style.left = `${left}px`;
    tip.style.top = `${clientY - height - 12 < 8 ? clientY + 16 : clientY - height - 12}px`;
  }

  document.querySelectorAll(".table").forEach(enhance);
  document.querySelectorAll(".chart").forEach(nameMarks);
  document.documentElement.dataset.ready = "";
})();
