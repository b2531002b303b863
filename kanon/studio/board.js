// The cursor of a comparison: a slider for k, a line through all panels of the chart below, and the
// numbers where it stands. Everything is known in advance, so moving it asks nobody; where it comes
// to rest is told to the page.
const NS = "http://www.w3.org/2000/svg";
const REST = 50; // milliseconds without a movement

const draw = (parent, tag, attributes) => {
  const element = document.createElementNS(NS, tag);
  for (const name in attributes) element.setAttribute(name, attributes[name]);
  return parent.appendChild(element);
};

const cell = (row, tag, text) => {
  const element = row.appendChild(document.createElement(tag));
  element.textContent = text;
  return element;
};

const thin = (number) => Math.round(number).toString().replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f");

export default function (component) {
  const { data, parentElement, setStateValue } = component;
  const root = parentElement.querySelector(".cursor");
  const slider = root.querySelector("input");
  const headline = root.querySelector(".headline");
  const overlay = root.querySelector(".overlay");
  const numbers = root.querySelector(".numbers");
  const held = root.held || (root.held = {}); // survives a new drawing of the page
  // Streamlit calls this function for all new data, but its clean-up only in the end.
  if (held.stop) held.stop();

  // What the page says counts, unless the user has moved on since it was asked.
  const moving = held.timer !== undefined && data.ks.includes(held.k);
  if (!moving && (data.k !== held.page || !data.ks.includes(held.k))) held.k = data.k;
  held.page = data.k;
  slider.max = data.ks.length - 1;

  const chart = () => document.querySelector(".st-key-board .js-plotly-plot") ||
    document.querySelector(".st-key-board");

  function show() {
    const k = held.k, place = data.ks.indexOf(k);
    slider.value = place;
    slider.setAttribute("aria-valuetext", `k = ${k}`);
    headline.textContent = data.headlines[place];
    root.dataset.k = k;
    const target = chart();
    if (!target) return;
    const own = root.getBoundingClientRect(), its = target.getBoundingClientRect();
    const inner = {
      left: data.margin.left, top: data.margin.top,
      width: its.width - data.margin.left - data.margin.right,
      height: its.height - data.margin.top - data.margin.bottom,
    };
    if (inner.width <= 0 || inner.height <= 0) return;
    Object.assign(overlay.style, {
      left: `${its.left - own.left}px`, top: `${its.top - own.top}px`,
      width: `${its.width}px`, height: `${its.height}px`,
    });
    const svg = overlay.querySelector("svg");
    svg.replaceChildren();
    const along = (Math.log10(k) - data.range[0]) / (data.range[1] - data.range[0]);
    for (const panel of data.panels) {
      const x = inner.left + inner.width * (panel.x[0] + (panel.x[1] - panel.x[0]) * along);
      const y = (share) => inner.top + inner.height * (1 - panel.y[0] - (panel.y[1] - panel.y[0]) * share);
      draw(svg, "line", { x1: x, x2: x, y1: y(0), y2: y(1), class: "line" });
      panel.values.forEach((values, line) => {
        const value = panel.percent ? values[place] : Math.log10(Math.max(values[place], 1));
        const share = (value - panel.range[0]) / (panel.range[1] - panel.range[0]);
        draw(svg, "circle", { cx: x, cy: y(share), r: 4, fill: data.lines[line].colour, class: "dot" });
      });
    }
    Object.assign(numbers.style, {
      left: `${inner.left + inner.width * data.legend.x[0] - 20}px`,
      top: `${inner.top + inner.height * (1 - data.legend.y[1]) - 28}px`,
      width: `${inner.width * (data.legend.x[1] - data.legend.x[0]) + 24}px`,
    });
    numbers.replaceChildren();
    const head = numbers.createTHead().insertRow();
    cell(head, "th", `k = ${thin(k)}`);
    data.panels.forEach((panel) => {
      const name = cell(head, "th", panel.numeral);
      name.setAttribute("aria-label", panel.title);
      name.title = panel.title;
    });
    const body = numbers.createTBody();
    data.lines.forEach((line, number) => {
      const row = body.insertRow();
      const name = cell(row, "th", line.name);
      const swatch = document.createElement("span");
      swatch.className = "swatch";
      swatch.style.background = line.colour;
      name.prepend(swatch);
      for (const panel of data.panels) cell(row, "td", panel.shown[number][place]);
    });
  }

  function move(place) {
    held.k = data.ks[Math.max(0, Math.min(data.ks.length - 1, place))];
    show();
    clearTimeout(held.timer);
    held.timer = setTimeout(() => {
      held.timer = undefined;
      setStateValue("k", held.k);
    }, REST);
  }

  function point(event) {
    const its = event.currentTarget.getBoundingClientRect();
    const width = its.width - data.margin.left - data.margin.right;
    const height = its.height - data.margin.top - data.margin.bottom;
    const x = (event.clientX - its.left - data.margin.left) / width;
    const y = 1 - (event.clientY - its.top - data.margin.top) / height;
    for (const panel of data.panels) {
      if (x < panel.x[0] || x > panel.x[1] || y < panel.y[0] || y > panel.y[1]) continue;
      const share = (x - panel.x[0]) / (panel.x[1] - panel.x[0]);
      const wanted = data.range[0] + share * (data.range[1] - data.range[0]);
      const far = data.ks.map((k) => Math.abs(Math.log10(k) - wanted));
      move(far.indexOf(Math.min(...far)));
    }
  }

  // The chart is drawn beside this, perhaps later, and again whenever the window changes.
  const follow = () => {
    const target = chart();
    if (target && target !== held.target) {
      if (held.target) held.target.removeEventListener("click", point);
      sizes.observe(target);
      target.addEventListener("click", point);
      held.target = target;
    }
    // Drawn again only if the chart has moved or grown.
    const own = root.getBoundingClientRect(), its = target ? target.getBoundingClientRect() : own;
    const where = [its.left - own.left, its.top - own.top, its.width, its.height].join();
    if (where !== held.where) { held.where = where; show(); }
  };
  const sizes = new ResizeObserver(follow);
  const arrivals = setInterval(follow, 200);
  held.stop = () => {
    sizes.disconnect();
    clearInterval(arrivals);
    if (held.target) held.target.removeEventListener("click", point);
    held.target = undefined;
  };
  slider.oninput = () => move(Number(slider.value));
  sizes.observe(root);
  show();
  follow();
  return held.stop;
}
