// Draws the charts of a page. The bundle that can do it is large, so it is loaded for the first chart.

let bundle;

// The bundle of Vega, loaded once; after a failure, the next chart tries again.
function loaded() {
  bundle ??= import(document.querySelector("meta[name=charts]").content).then(
    () => window.assayCharts,
    (error) => {
      bundle = undefined;
      throw error;
    },
  );
  return bundle;
}

// A specification comes with its data. Whatever else it may name, nothing is loaded for it.
function refuse(address) {
  return Promise.reject(new Error(`charts load nothing: ${address}`));
}

const nothing = { load: refuse, sanitize: refuse, http: refuse, file: refuse, options: {} };

const options = {
  ast: true, // expressions are interpreted: the page allows no evaluated script
  actions: false,
  defaultStyle: false, // the page has the styles, and allows no others
  tooltip: { disableDefaultStyle: true },
  renderer: "svg",
  mode: "vega-lite",
  loader: nothing,
};

const latest = new WeakMap(); // the last call of `draw` for an element

/**
 * Draws a Vega-Lite specification into an element, whose content stays until the new chart is complete.
 *
 * Gives an object with `view` and `finalize()`, which removes the chart and what listens for it; null if a later call for
 * the same element came before this one was done.
 */
export async function draw(element, spec) {
  const call = {};
  latest.set(element, call);
  const { embed } = await loaded();
  const fresh = document.createElement("div");
  fresh.className = "vega";
  const { $schema, ...bare } = spec; // the reports name the version that they were written for; newer ones read it, too
  const chart = await embed(fresh, bare, options);
  if (latest.get(element) !== call) {
    chart.finalize();
    return null;
  }
  element.replaceChildren(fresh);
  return {
    view: chart.view,
    finalize() {
      chart.finalize();
      fresh.remove();
    },
  };
}
