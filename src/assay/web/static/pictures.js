// The charts of a page: drawn when the first of them comes into view, again when their data changes, and saved as SVG.

import { draw } from "./charts.js";
import { onChange } from "./live.js";

const drawn = new WeakMap(); // the specification that an element shows
const charts = new WeakMap();

export function watchCharts() {
  const watcher = new IntersectionObserver((entries) => {
    if (entries.some((entry) => entry.isIntersecting)) document.querySelectorAll(".plot").forEach(show);
  }, { rootMargin: "200px" });
  const watch = () => document.querySelectorAll(".plot").forEach((plot) => watcher.observe(plot));
  onChange(() => {
    watch();
    document.querySelectorAll(".plot").forEach((plot) => drawn.has(plot) && show(plot));
  });
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-svg]");
    if (button) save(document.querySelector(`[data-chart="${button.dataset.svg}"]`));
  });
  watch();
}

async function show(plot) {
  const spec = document.querySelector(`[data-live="spec-${plot.dataset.chart}"]`)?.textContent;
  if (!spec || drawn.get(plot) === spec) return;
  drawn.set(plot, spec);
  try {
    const chart = await draw(plot, JSON.parse(spec));
    if (!chart) return;
    charts.get(plot)?.finalize();
    charts.set(plot, chart);
  } catch {
    drawn.delete(plot);
    plot.textContent = "The chart cannot be drawn here; the words below say what it shows.";
  }
}

async function save(plot) {
  const chart = charts.get(plot);
  if (!chart) return;
  const address = URL.createObjectURL(new Blob([await chart.view.toSVG()], { type: "image/svg+xml" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = `${plot.dataset.chart}.svg`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}
