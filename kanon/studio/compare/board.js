// The cursor of a comparison: a slider for k, a line through all panels of the chart below, and the
// numbers at its k. All data are loaded in advance, so moving it needs no server; the page gets the k
// where it comes to rest.
const PAPER = "var(--st-background-color)", INK = "var(--st-text-color)";
const NS = "http://www.w3.org/2000/svg";
const REST = 50; // milliseconds without a movement
const LABELLED = 7; // so many lines are named where the cursor stands
const LETTER = 6.6, HIGH = 14; // pixels: about a letter of a label of usual size, and its height

const draw = (parent, tag, attributes, text) => {
  const element = document.createElementNS(NS, tag);
  for (const name in attributes) element.setAttribute(name, attributes[name]);
  if (text !== undefined) element.textContent = text;
  return parent.appendChild(element);
};

const cell = (row, tag, text) => {
  const element = row.appendChild(document.createElement(tag));
  element.textContent = text;
  return element;
};

const thin = (number) => Math.round(number).toString().replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f");

// --- markers, as Plotly draws them --------------------------------------------------------------
const around = (number, turned, radius = () => 1) => Array.from({ length: number }, (_, place) => {
  const angle = (2 * Math.PI * place) / number + turned, far = radius(place);
  return [far * Math.sin(angle), -far * Math.cos(angle)];
});
const plus = [[-0.4, -1], [0.4, -1], [0.4, -0.4], [1, -0.4], [1, 0.4], [0.4, 0.4], [0.4, 1],
  [-0.4, 1], [-0.4, 0.4], [-1, 0.4], [-1, -0.4], [-0.4, -0.4]];
const SHAPES = {
  "square": [[-0.85, -0.85], [0.85, -0.85], [0.85, 0.85], [-0.85, 0.85]],
  "diamond": around(4, 0, () => 1.2),
  "triangle-up": around(3, 0, () => 1.25),
  "triangle-down": around(3, Math.PI, () => 1.25),
  "pentagon": around(5, 0, () => 1.1),
  "hexagon": around(6, 0, () => 1.1),
  "star": around(10, 0, (place) => (place % 2 ? 0.55 : 1.35)),
  "cross": plus,
  "x": plus.map(([x, y]) => [0.75 * (x - y), 0.75 * (x + y)]),
};

// A long name keeps its end, where names often differ.
const short = (name, longest) => (name.length <= longest ? name
  : `${name.slice(0, Math.ceil(0.6 * longest) - 1)}…${name.slice(-Math.floor(0.4 * longest))}`);

const mark = (parent, look, x, y, size, kind) => {
  const inside = look.filled ? look.colour : PAPER, rim = look.filled ? PAPER : look.colour;
  const common = { fill: inside, stroke: rim, "stroke-width": look.filled ? 1 : 2, class: kind };
  const shape = SHAPES[look.marker];
  if (!shape) return draw(parent, "circle", { cx: x, cy: y, r: size, ...common });
  const points = shape.map(([right, down]) => [x + size * right, y + size * down].join()).join(" ");
  return draw(parent, "polygon", { points, ...common });
};

const user = (title, use) => {
  const button = document.createElement("button");
  button.className = "use";
  button.title = title;
  button.setAttribute("aria-label", title);
  button.onclick = use;
  return button;
};

const swatch = (look) => {
  const picture = document.createElementNS(NS, "svg");
  for (const [name, value] of [["width", 34], ["height", 14], ["class", "swatch"]]) {
    picture.setAttribute(name, value);
  }
  picture.setAttribute("aria-hidden", "true");
  draw(picture, "path", { d: "M1,7H33", stroke: look.colour, "stroke-width": look.width,
    "stroke-dasharray": look.dash, fill: "none" });
  mark(picture, look, 17, 7, 4, "mark");
  return picture;
};

// --- labels beside the dots, where they lie on nothing ------------------------------------------
const apart = (one, other) => one.right <= other.left || other.right <= one.left ||
  one.bottom <= other.top || other.bottom <= one.top;

const label = (svg, dots, box, kind, size) => {
  const high = HIGH * size;
  const [wide, tall] = [6 * size, 5 * size];
  const taken = dots.map(({ x, y }) => ({
    left: x - wide, right: x + wide, top: y - tall, bottom: y + tall }));
  for (const { x, y, colour, name, falls } of dots) {
    const long = name.length * LETTER * size, [out, off] = [7 * size, 4 * size];
    const beside = [[x + 9 * size, y - high / 2], [x - 9 * size - long, y - high / 2]];
    const [aboveRight, belowRight, aboveLeft, belowLeft] = [[x + out, y - off - high],
      [x + out, y + off], [x - out - long, y - off - high], [x - out - long, y + off]];
    // First the corners that a line which rises, or falls, leaves free.
    const corners = kind === "points" || falls
      ? [aboveRight, belowLeft, belowRight, aboveLeft]
      : [belowRight, aboveLeft, aboveRight, belowLeft];
    for (const [left, top] of [...corners, ...beside]) {
      const own = { left, right: left + long, top, bottom: top + high };
      const inside = own.left >= box.left && own.right <= box.right + 10 &&
        own.top >= box.top && own.bottom <= box.bottom;
      if (!inside || !taken.every((other) => apart(own, other))) continue;
      // Beside another dot it would be read as the name of that one.
      const misread = dots.some((dot) => dot.y !== y && Math.abs(dot.x - x) < 3 * wide &&
        dot.y > top && dot.y < top + high);
      if (misread) continue;
      taken.push(own);
      draw(svg, "text", { x: left, y: top + 0.8 * high, class: "label",
        style: `fill: color-mix(in srgb, ${colour} 60%, ${INK})` }, name);
      break;
    }
  }
};

export default function (component) {
  const { data, parentElement, setStateValue, setTriggerValue } = component;
  const root = parentElement.querySelector(".cursor");
  const slider = root.querySelector("input");
  const headline = root.querySelector(".headline");
  const finding = root.querySelector(".finding");
  const overlay = root.querySelector(".overlay");
  const points = root.querySelector(".points");
  const place = root.querySelector(".place");
  const numbers = root.querySelector(".numbers");
  const back = root.querySelector(".back");
  const buttons = root.querySelector(".buttons");
  const held = root.held || (root.held = {}); // survives a new drawing of the page
  // Streamlit calls this function for all new data, but its clean-up only in the end.
  if (held.stop) held.stop();

  // One to three panels fill the screen: their texts are large, and there is a way back.
  const filling = !data.numbers, several = filling && data.panels.length > 1;
  const size = several ? 4 / 3 : filling ? 1.5 : 1;
  root.classList.toggle("filling", filling);
  root.classList.toggle("several", several);
  back.hidden = !filling;
  held.fill = (place) => setTriggerValue("fill", { place });
  held.use = (line) => setTriggerValue("use", { line, k: held.k });
  back.onclick = () => held.fill(null);
  const steps = { ArrowLeft: -1, ArrowRight: 1, PageUp: -1, PageDown: 1, Home: -Infinity, End: Infinity };
  const press = (event) => {
    if (event.key === "Escape") held.fill(null);
    if (!(event.key in steps) || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault(); // the slider would go a step of its own
    move(data.ks.indexOf(held.k) + steps[event.key]);
  };
  if (filling) document.addEventListener("keydown", press);
  if (filling && !held.filled) back.focus();
  held.filled = filling;

  // What the page says counts, unless the user has moved on since it was asked.
  const moving = held.timer !== undefined && data.ks.includes(held.k);
  if (!moving && (data.k !== held.page || !data.ks.includes(held.k))) held.k = data.k;
  held.page = data.k;
  slider.max = data.ks.length - 1;
  const said = data.panels.filter((panel) => panel.said);
  finding.hidden = !said.length;

  const chart = () => document.querySelector(".st-key-board .js-plotly-plot") ||
    document.querySelector(".st-key-board");

  function legend() {
    const list = root.querySelector(".legend");
    list.hidden = data.lines.length < 2;
    list.replaceChildren(...data.lines.map((line, number) => {
      const item = document.createElement("li");
      item.append(swatch(line), short(line.name, 40));
      item.title = line.name;
      if (data.use) {  // by keyboard it is reached in the table of numbers
        item.append(user(data.use[number], () => held.use(number)));
        item.lastChild.tabIndex = -1;
      }
      return item;
    }));
  }

  // A button in the corner of each panel; they stay while panels only change, and keep the focus.
  function enlargers() {
    const names = filling ? [] : data.fill;
    if (names.length === buttons.children.length) return;
    buttons.replaceChildren(...names.map((name, number) => {
      const button = document.createElement("button");
      const icon = draw(button, "svg", { viewBox: "0 0 14 14", "aria-hidden": "true" });
      draw(icon, "path", { d: "M1,5V1H5M9,1H13V5M13,9V13H9M5,13H1V9" });
      button.title = name;
      button.setAttribute("aria-label", name);
      button.onclick = () => held.fill(number);
      return button;
    }));
  }

  // Draw what one panel shows at a place in the row of k.
  const kinds = {
    curves(svg, panel, at, across, up, box) {
      const x = across(Math.log10(held.k), data.range);
      draw(svg, "line", { x1: x, x2: x, y1: box.bottom, y2: box.top, class: "line" });
      return panel.lines.flatMap((number, one) => {
        const values = panel.values[one], value = values[at];
        if (value === null) return [];
        const last = values.length - 1;
        const falls = values[Math.min(at + 5, last)] < values[Math.max(at - 5, 0)];
        return [{ x, y: up(panel.log ? Math.log10(Math.max(value, 0.1)) : value), number, falls }];
      });
    },
    points(svg, panel, at, across, up, box) {
      const height = (value) => up(panel.log ? Math.log10(Math.max(value, 0.1)) : value);
      const dots = panel.lines.flatMap((number, one) => {
        const [x, y] = [panel.xs[one][at], panel.values[one][at]];
        if (x === null || y === null) return [];
        return [{ x: across(x, panel.across), y: height(y), number, one }];
      });
      const front = dots.filter(({ one }) => panel.front[at].includes(one))
        .sort((one, other) => one.x - other.x || other.y - one.y);
      const stairs = front.map(({ x, y }, step) => (step ? `H${x}V${y}` : `M${x},${y}`)).join("");
      if (front.length > 1) draw(svg, "path", { d: stairs, class: "front" });
      if (panel.wide) {
        for (const { x, y, number, one } of dots) {
          const [left, right] = panel.wide.map((end) => across(end[one][at], panel.across));
          const [low, high] = panel.high.map((end) => height(end[one][at]));
          const common = { stroke: data.lines[number].colour, class: "bar" };
          draw(svg, "path", { d: `M${left},${y}H${right}M${x},${low}V${high}`, ...common });
        }
      }
      return dots;
    },
    profile(svg, panel, at, across, up, box) {
      panel.lines.forEach((number, one) => {
        const look = data.lines[number], shares = panel.profiles[one][at];
        if (shares[0] === null) return; // it has no release for this k
        const d = panel.grid.map((edge, step) => {
          const x = Math.min(across(edge, panel.across), box.right);
          return step ? `H${x}V${up(shares[step])}` : `M${box.left},${up(0)}H${x}V${up(shares[0])}`;
        }).join("");
        draw(svg, "path", { d, stroke: look.colour, "stroke-width": look.width,
          "stroke-dasharray": look.dash, fill: "none" });
      });
      return [];
    },
    still: () => [],
  };

  const inside = (y, box) => y >= box.top - 1 && y <= box.bottom + 1;

  function drawPanel(svg, panel, at, inner) {
    const box = {
      left: inner.left + inner.width * panel.x[0], right: inner.left + inner.width * panel.x[1],
      top: inner.top + inner.height * (1 - panel.y[1]),
      bottom: inner.top + inner.height * (1 - panel.y[0]),
    };
    const across = (value, ends) =>
      box.left + ((box.right - box.left) * (value - ends[0])) / (ends[1] - ends[0]);
    const up = (value) =>
      box.bottom - ((box.bottom - box.top) * (value - panel.range[0])) / (panel.range[1] - panel.range[0]);
    const dots = kinds[panel.kind](svg, panel, at, across, up, box);
    for (const { x, y, number } of dots) {
      mark(svg, data.lines[number], x, y, size * (panel.kind === "points" ? 6 : 5), "dot");
      if (!data.use || !inside(y, box)) continue;
      const button = points.appendChild(user(data.use[number], () => held.use(number)));
      button.tabIndex = -1; // by keyboard it is reached in the table of numbers
      Object.assign(button.style, { left: `${x}px`, top: `${y}px` });
    }
    const few = dots.length <= LABELLED && dots.length > 1;
    if (!few && panel.kind !== "points") return;
    label(svg, together(dots), box, panel.kind, size);
  }

  // Dots that lie on each other have one name: that of both, or how many more there are.
  function together(dots) {
    const groups = [];
    for (const dot of dots) {
      const near = groups.find(([one]) => Math.hypot(one.x - dot.x, one.y - dot.y) < 2);
      if (near) near.push(dot); else groups.push([dot]);
    }
    return groups.map((group) => {
      const lines = group.map((dot) => data.lines[dot.number]);
      const names = lines.slice(0, lines.length === 2 ? 2 : 1).map((line) => short(line.name, 24));
      let name = names.join(", ");
      if (lines.length > 2) name = lines.length === dots.length ? "all" : `${name} + ${lines.length - 1} more`;
      return { ...group[0], name, colour: lines.length === 1 ? lines[0].colour : INK };
    });
  }

  // The numbers stand in the free place of the grid, or below it.
  function tabulate(at, inner) {
    const below = data.numbers.height, free = data.numbers;
    const wide = inner.width * (free.x[1] - free.x[0]);
    place.classList.toggle("narrow", !below);
    Object.assign(place.style, below ? {
      left: `${inner.left - 44}px`, width: `${inner.width + 50}px`,
      top: `${inner.top + inner.height + 52}px`, maxHeight: `${below}px`,
    } : {
      left: `${inner.left + inner.width * free.x[0] - 24}px`, width: `${wide + 30}px`,
      top: `${inner.top + inner.height * (1 - free.y[1]) - 28}px`,
      maxHeight: `${inner.height * (free.y[1] - free.y[0]) + 70}px`,
    });
    const kept = [place.scrollTop, place.scrollLeft];
    numbers.replaceChildren();
    const head = numbers.createTHead().insertRow();
    cell(head, "th", `k = ${thin(held.k)}`);
    for (const column of data.columns) {
      const words = [column.title, column.unit].filter(Boolean).join(", ");
      const brief = [column.short, column.unit].filter(Boolean).join(", ");
      const name = cell(head, "th", below ? `${brief} ${column.arrow}` : column.numeral);
      name.setAttribute("aria-label", words);
      name.title = words;
    }
    const body = numbers.createTBody();
    data.lines.forEach((line, number) => {
      const row = body.insertRow();
      const name = cell(row, "th", short(line.name, below ? 44 : 22));
      name.title = line.name;
      name.prepend(swatch(line));
      if (data.use) name.append(user(data.use[number], () => held.use(number)));
      for (const column of data.columns) {
        const meant = column.marks[number][at];
        const found = cell(row, "td", column.shown[number][at]);
        if (meant & 1) found.className = "best";
        if (meant & 2) {
          const open = found.appendChild(document.createElement("span"));
          open.className = "open";
          open.title = "Ties decide whether this is the best.";
          open.setAttribute("role", "img");
          open.setAttribute("aria-label", "ties decide");
        }
      }
    });
    [place.scrollTop, place.scrollLeft] = kept;
  }

  function show() {
    const k = held.k, at = data.ks.indexOf(k);
    slider.value = at;
    slider.setAttribute("aria-valuetext", `k = ${k}`);
    headline.textContent = data.headlines[at];
    finding.textContent = said.map((panel) => panel.said[at]).join(" ");
    root.dataset.k = k;
    const target = chart();
    if (!target) { held.where = undefined; return; }
    const own = root.getBoundingClientRect(), its = target.getBoundingClientRect();
    const inner = {
      left: data.margin.left, top: data.margin.top,
      width: its.width - data.margin.left - data.margin.right,
      height: its.height - data.margin.top - data.margin.bottom,
    };
    if (inner.width <= 0 || inner.height <= 0) { held.where = undefined; return; }
    Object.assign(overlay.style, {
      left: `${its.left - own.left}px`, top: `${its.top - own.top}px`,
      width: `${its.width}px`, height: `${its.height}px`,
    });
    const svg = overlay.querySelector("svg");
    svg.replaceChildren();
    points.replaceChildren();
    for (const panel of data.panels) drawPanel(svg, panel, at, inner);
    place.hidden = filling;
    if (!filling) tabulate(at, inner);
    [...buttons.children].forEach((button, number) => {
      const { x, y } = data.panels[number];
      button.style.left = `${inner.left + inner.width * x[1] + 6}px`;
      button.style.top = `${inner.top + inner.height * (1 - y[1]) - data.margin.top}px`;
    });
  }

  function move(to) {
    held.k = data.ks[Math.max(0, Math.min(data.ks.length - 1, to))];
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
      if (panel.kind !== "curves") continue; // others have no axis for k
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
    document.removeEventListener("keydown", press);
    if (held.target) held.target.removeEventListener("click", point);
    held.target = undefined;
  };
  slider.oninput = () => move(Number(slider.value));
  sizes.observe(root);
  legend();
  enlargers();
  show();
  follow();
  return held.stop;
}
