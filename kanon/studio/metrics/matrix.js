// The cells of a cost matrix: Streamlit reports no clicks on heatmaps, so this listens to the chart
// below and sends the chosen cell to the page. A new mark makes Streamlit redraw the chart, so the
// page also gets the zoom of the user.
const DOUBLE = 300; // milliseconds in which a second click makes a double click

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const root = parentElement.querySelector(".cells");
  const held = root.held || (root.held = {}); // survives a new drawing of the page
  // Streamlit calls this function for all new data, but its clean-up only in the end.
  if (held.stop) held.stop();

  function point(event) {
    const found = event.points[0];
    if (!found || !Array.isArray(found.pointNumber)) return; // not a cell
    if (Date.now() < held.quiet) return; // the second of a double click
    const [row, column] = found.pointNumber;
    const { xaxis, yaxis } = held.target.layout;
    clearTimeout(held.click);
    if (xaxis.autorange && yaxis.autorange) {
      setTriggerValue("cell", { row, column });
      return;
    }
    const view = { of: data.of, x: [...xaxis.range], y: [...yaxis.range] };
    // A chart redrawn between two clicks would miss a double click, which zooms out.
    held.click = setTimeout(() => setTriggerValue("cell", { row, column, view }), DOUBLE);
  }

  function out() {
    clearTimeout(held.click);
    held.quiet = Date.now() + DOUBLE;
    if (data.zoomed) setTriggerValue("out", true);
  }

  const leave = () => {
    if (held.target && held.target.removeListener) {
      held.target.removeListener("plotly_click", point);
      held.target.removeListener("plotly_doubleclick", out);
    }
    held.target = undefined;
  };

  // The chart is drawn beside this, perhaps later, and may be another one after a change.
  const follow = () => {
    const target = document.querySelector(`.st-key-${CSS.escape(data.chart)} .js-plotly-plot`);
    if (target === held.target || (target && !target.on)) return;
    leave();
    if (!target) return;
    target.on("plotly_click", point);
    target.on("plotly_doubleclick", out);
    held.target = target;
  };
  const arrivals = setInterval(follow, 200);
  held.stop = () => {
    clearInterval(arrivals);
    clearTimeout(held.click);
    leave();
  };
  follow();
  return held.stop;
}
