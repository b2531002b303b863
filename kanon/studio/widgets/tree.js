// The tree of one column: drawn, walked through and edited. The page owns the tree. Each edit is told
// to it as one operation, the next one only when that is answered, and the tree comes back as new data.
// What only this window knows (folded, selected, searched, zoomed) is kept by label across new data.
const ROW = 30, BOX = 24, PAD = 10, GAP = 46, WEIGHT = 30, NARROW = 110, WIDE = 230, SMALL = 60;
// all in pixels at 100 %
const MARGIN = 8; // rows drawn above and below the visible ones
const LARGE = 300; // nodes; larger trees start folded
const MEASURED = 500; // labels of a level whose widths are measured; after them only longer ones
const MOST = 100; // groups offered at once
const SLOW = 150, LOST = 10000; // milliseconds; a large tree takes up to as many more as it has nodes
const DEFAULTS = {
  about: "", version: 0, answered: "", said: "", bad: false, select: [], labels: [], parents: [], leaves: 0,
  records: null, empty: [], weights: null, weighable: false, editable: true, undo: 0, redo: 0, lit: [], climbed: [],
  height: 520, bare: false,
};
const KEYS = [
  ["↑ ↓ Home End", "walk through the visible nodes"], ["→ ←", "unfold, fold, or go in and out"],
  ["Space", "select or deselect"], ["Shift+↑ ↓", "select a range"], ["Ctrl+A", "select all siblings"],
  ["Escape", "close, cancel, or select nothing"], ["/", "find"], ["G", "put the selected nodes into a new group"],
  ["M", "move the selected nodes to a group"], ["Enter, F2", "rename a group"], ["Delete", "remove groups"],
  ["I", "insert a group above each selected node"], ["W", "change the weight of the edge"],
  ["Ctrl+Z, Ctrl+Y", "undo, redo"], ["Ctrl+wheel", "zoom"], ["Mouse", "drag nodes onto a group; drag the " +
    "background to pan, with Shift to select; Ctrl or Shift and click select more"],
];

// --- texts and elements ------------------------------------------------------------------------
const thin = (number) => Math.round(number).toString().replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f");
const counted = (number, one, many) => `${thin(number)} ${number === 1 ? one : many}`;
const short = (text, most = 300) => (text.length > most ? `${text.slice(0, most)}…` : text);
const between = (low, value, high) => Math.min(Math.max(low, value), Math.max(low, high));
const unique = () => Date.now().toString(36) + Math.random().toString(36).slice(2);

// Texts become text nodes: a label is never read as HTML.
function make(tag, attributes = {}, ...inside) {
  const element = document.createElement(tag);
  for (const name in attributes) element.setAttribute(name, attributes[name]);
  element.append(...inside);
  return element;
}

// --- the tree ----------------------------------------------------------------------------------
function treeOf(data) {
  const { labels, parents } = data, size = parents.length;
  const children = labels.map(() => []), first = labels.map((_, id) => id), values = new Array(size).fill(0);
  const depth = new Array(size).fill(0);
  for (let id = 0; id < size; id++) { // a parent comes after its children
    if (id < data.leaves) values[id] = 1;
    const parent = parents[id];
    if (parent < 0) continue;
    first[parent] = children[parent].length ? Math.min(first[parent], first[id]) : first[id];
    values[parent] += values[id];
    children[parent].push(id);
  }
  for (const below of children) below.sort((a, b) => first[a] - first[b] || a - b);
  for (let id = size - 2; id >= 0; id--) depth[id] = depth[parents[id]] + 1;
  const order = [], waiting = size ? [size - 1] : []; // of an outline: a group before its children
  while (waiting.length) {
    const id = waiting.pop();
    order.push(id);
    for (let place = children[id].length - 1; place >= 0; place--) waiting.push(children[id][place]);
  }
  return {
    labels, parents, children, values, depth, order, root: size - 1,
    ids: new Map(labels.map((label, id) => [label, id])), lower: labels.map((label) => label.toLowerCase()),
  };
}

function* above(tree, id) {
  for (let at = tree.parents[id]; at >= 0; at = tree.parents[at]) yield at;
}

// Beside other pictures there is no room for a button that a small tree can do without.
const folds = (tree, data, id) => tree.children[id].length && !(data.bare && tree.labels.length <= LARGE);

// Where each node that is not folded away stands: the rows from `top` to `bottom` that it spans.
function planOf(tree, folded) {
  const shown = [], index = new Map(), top = [], bottom = [], middle = [];
  let rows = 0;
  for (let place = 0; place < tree.order.length; place++) {
    const id = tree.order[place];
    const parent = tree.parents[id];
    if (parent >= 0 && (folded.has(parent) || !index.has(parent))) continue;
    index.set(id, shown.length);
    shown.push(id);
    top[id] = rows;
    if (!tree.children[id].length || folded.has(id)) bottom[id] = middle[id] = rows++;
  }
  for (let place = shown.length - 1; place >= 0; place--) {
    const id = shown[place], below = tree.children[id];
    if (!below.length || folded.has(id)) continue;
    const last = below[below.length - 1];
    bottom[id] = bottom[last];
    middle[id] = (middle[below[0]] + middle[last]) / 2;
  }
  return { shown, index, top, bottom, middle, rows };
}

// The left edge and the width of each level, wide enough for most labels at any folding.
function columnsOf(tree, data, font) {
  const pen = document.createElement("canvas").getContext("2d"), widths = [], seen = [], longest = [];
  const least = data.bare ? SMALL : NARROW;
  pen.font = `600 14px ${font}`;
  for (const id of tree.order) {
    const depth = tree.depth[id];
    const { length } = tree.labels[id];
    seen[depth] = (seen[depth] || 0) + 1;
    if (widths[depth] >= WIDE || (seen[depth] > MEASURED && length <= longest[depth])) continue;
    longest[depth] = Math.max(longest[depth] || 0, length);
    const fold = folds(tree, data, id) ? 20 + 7 * thin(tree.values[id]).length : 0;
    const records = data.records ? 8 + 6.5 * data.records[id].length : 0;
    const wanted = pen.measureText(tree.labels[id].slice(0, 60)).width + records + fold + 20;
    widths[depth] = between(widths[depth] || least, Math.ceil(wanted), WIDE);
  }
  const gap = (data.bare ? GAP / 2 : GAP) + (data.weights ? WEIGHT : 0);
  let left = PAD;
  return widths.map((width) => {
    const column = { left, width };
    left += width + gap;
    return column;
  });
}

// --- the editor --------------------------------------------------------------------------------
function editorOf(root) {
  const part = (name) => root.querySelector(`.${name}`);
  const frame = part("frame"), canvas = part("canvas"), layer = part("nodes"), panel = part("panel");
  const search = part("search"), paths = [...root.querySelectorAll("path")];
  const button = (name) => root.querySelector(`[data-do="${name}"]`);
  const boxes = new Map(); // the nodes that are in the document
  let data = { ...DEFAULTS, about: null }, tree = treeOf(data), plan, columns = [], tell;
  let folded, selected, cursor, anchor, passing, zoom, matches, found, unsearched, marks;
  let queue = [], flight = null, sentAt = "", waited = 0, timers = [], note = "", heard = null;
  let press = null, editing = null, coming = 0;

  const isGroup = (id) => id >= data.leaves;
  const has = (id) => id !== undefined && id >= 0 && id < tree.labels.length;
  const labelsOf = (ids) => ids.map((id) => tree.labels[id]);
  const inOrder = (ids) => tree.order.filter((id) => ids.has(id));
  // Of nodes that lie below other ones only the upper ones are meant.
  const upper = (ids) => ids.filter((id) => ![...above(tree, id)].some((group) => selected.has(group)));
  const meant = () => upper(inOrder(selected));

  // --- new data --------------------------------------------------------------------------------
  function take(given, trigger) {
    const began = performance.now(), before = { data, tree };
    const other = given.about !== data.about;
    if (other) endPress();
    tell = trigger;
    data = { ...DEFAULTS, ...given };
    tree = treeOf(data);
    const done = !other && flight && flight.id === data.answered ? flight : null;
    const stayed = !flight || before.tree.labels[cursor] === sentAt;
    if (other) startAnew();
    else carryOver(before, done);
    columns = columnsOf(tree, data, getComputedStyle(root).fontFamily);
    boxes.clear();
    layer.replaceChildren();
    for (const edits of root.querySelectorAll(".edits")) edits.hidden = !data.editable;
    root.classList.toggle("bare", data.bare);
    frame.style.maxHeight = `${data.height}px`;
    find(search.value, false);
    refresh();
    // Beside other pictures there is little room, and nothing to zoom with.
    if (other && data.bare) zoomTo(between(0.6, frame.clientWidth / size().width, 1), 0, 0);
    if (!other && stayed && data.answered !== before.data.answered) pickAnswered(before.tree);
    if (other || data.lit.join() !== before.data.lit.join()) showLit();
    if (press && press.drag) hover();
    if (done) settle(done);
    root.dataset.version = data.version;
    root.dataset.answered = data.answered;
    root.dataset.drawMs = (performance.now() - began).toFixed(1);
    sizes.observe(frame);
    pump();
  }

  function startAnew() {
    folded = new Set(tree.labels.length > LARGE ? tree.order.filter((id) => isGroup(id)) : []);
    openTop();
    selected = new Set();
    cursor = tree.root;
    anchor = undefined;
    passing = true;
    zoom = 1;
    search.value = note = "";
    heard = null;
    matches = [];
    unsearched = null;
    queue = [];
    flight = null;
    calm();
    closePanel(false);
    endEdit();
    frame.scrollTo(0, 0);
  }

  function carryOver(before, done) {
    const renamed = done && done.kind === "rename" && !data.bad;
    const label = (text) => (renamed && text === done.node ? done.name.trim() : text);
    const now = (id) => tree.ids.get(label(before.tree.labels[id]));
    const all = (ids) => new Set([...ids].map(now).filter(has));
    selected = all(selected);
    folded = all(folded);
    if (unsearched) unsearched = all(unsearched);
    matches = [now(matches[found])];
    found = 0;
    anchor = anchor === undefined ? anchor : now(anchor);
    const survivor = [cursor, ...above(before.tree, cursor)].map(now).find(has);
    cursor = survivor === undefined ? tree.root : survivor;
    // Many new groups at once in a large tree: somebody has built it anew.
    const old = new Set(before.tree.labels.map(label));
    const fresh = tree.order.filter((id) => isGroup(id) && !old.has(tree.labels[id]));
    if (tree.labels.length > LARGE && fresh.length > 20) {
      for (const id of fresh) if (id !== tree.root && !data.select.includes(id)) folded.add(id);
    }
    if (renamed) for (const wish of queue) rewrite(wish, label);
    if (press && press.id !== undefined) press.id = now(press.id);
    if (press && press.drag) Object.assign(press.drag, { nodes: all(press.drag.nodes), to: undefined });
    if (editing) editing.label = label(editing.label);
    if (editing && !tree.ids.has(editing.label)) endEdit();
  }

  // After an operation the page may say what to select: a new group. Whoever has gone on to another
  // node meanwhile is left there.
  function pickAnswered(old) {
    const wanted = data.select.filter(has);
    if (!wanted.length) return;
    selected = new Set(wanted);
    cursor = anchor = wanted[0];
    passing = true;
    unfoldAbove(wanted);
    for (const id of wanted) if (!old.ids.has(tree.labels[id])) folded.delete(id);
    refresh();
    reveal(cursor, true);
  }

  function showLit() {
    const lit = data.lit.filter(has);
    if (!lit.length) return;
    unfoldAbove(lit);
    refresh();
    reveal(lit[0]);
  }

  // --- operations ------------------------------------------------------------------------------
  // An operation that waits names nodes by label, because their numbers may change meanwhile.
  function submit(kind, fields = {}) {
    if (!data.editable || !tree.labels.length) return;
    note = "";
    queue.push({ id: unique(), kind, ...fields });
    pump();
  }

  function rewrite(wish, label) {
    if (wish.nodes) wish.nodes = wish.nodes.map(label);
    for (const field of ["node", "to"]) if (wish[field] !== undefined) wish[field] = label(wish[field]);
  }

  function pump() {
    while (!flight && queue.length) {
      flight = queue.shift();
      if (!send()) flight = null;
    }
    bar();
  }

  function send() {
    const operation = { ...flight, about: data.about, base: data.version };
    const named = [flight.node, flight.to, ...(flight.nodes || [])].filter((label) => label !== undefined);
    const gone = named.find((label) => !tree.ids.has(label));
    if (gone !== undefined) {
      note = `“${short(gone, 40)}” is no longer in the tree, so nothing was done with it.`;
      return false;
    }
    rewrite(operation, (label) => tree.ids.get(label));
    calm();
    timers = [SLOW, LOST + tree.labels.length].map((wait, place) => setTimeout(() => { waited = place + 1; say(); }, wait));
    sentAt = tree.labels[cursor];
    tell("operation", operation);
    return true;
  }

  function calm() {
    timers.forEach(clearTimeout);
    timers = [];
    waited = 0;
  }

  // What was typed and is refused is shown again, to be mended.
  function settle(done) {
    flight = null;
    calm();
    if (!data.bad) return;
    const id = tree.ids.get(done.node);
    if (done.kind === "group") askName(done.nodes, done.name);
    if (done.kind === "rename" && has(id)) edit(id, "name", done.name);
    if (done.kind === "weigh" && has(id)) edit(id, "weight", done.weight);
    heard = null; // opening these has not ended what is said
  }

  // The steps that there are once all that waits is answered.
  function steps() {
    let { undo, redo } = data;
    for (const wish of flight ? [flight, ...queue] : queue) {
      if (wish.kind === "undo") { undo -= 1; redo += 1; }
      else if (wish.kind === "redo") { undo += 1; redo -= 1; }
      else { undo += 1; redo = 0; }
    }
    return { undo, redo };
  }

  // --- what is said and can be done ------------------------------------------------------------
  function begin() { // what was said of the last operation no longer matters
    heard = data.answered + data.said;
    note = "";
    say();
  }

  function write(element, text) { // an unchanged text is not read out again
    if (element.textContent !== text) element.textContent = text;
  }

  function say() {
    const groups = Math.max(0, tree.labels.length - data.leaves - 1); // all but the root
    const within = groups ? ` in ${counted(groups, "group", "groups")}` : ", no groups";
    const sum = counted(data.leaves, "value", "values") + within;
    write(part("sum"), selected.size ? `${sum}, ${thin(selected.size)} selected` : sum);
    const lost = "The server has not answered the last change; the connection may be lost.";
    const news = heard !== data.answered + data.said;
    const told = waited === 2 ? lost : waited === 1 ? "Saving…" : note || (news ? data.said : "");
    const bad = waited === 2 || (!waited && (note !== "" || (news && data.bad)));
    write(part("said"), told && bad ? `⚠ ${told}` : told);
    part("said").classList.toggle("bad", bad);
    part("said").title = short(told);
    button("again").hidden = waited !== 2;
  }

  function bar() {
    const nodes = data.editable ? [...selected] : [];
    const movable = nodes.length > 0 && !nodes.includes(tree.root);
    const one = nodes.length === 1 ? nodes[0] : undefined, { undo, redo } = steps();
    const group = one !== undefined && isGroup(one), what = group ? "the selected group" : "the whole tree";
    const can = {
      undo: undo > 0, redo: redo > 0, group: movable, move: movable, insert: movable,
      rename: group, ungroup: nodes.some((id) => isGroup(id) && id !== tree.root),
      "by-records": data.records !== null, matches: matches.length > 0,
    };
    const focused = root.getRootNode().activeElement;
    for (const name in can) {
      if (!can[name] && button(name) === focused) frame.focus({ preventScroll: true });
      button(name).disabled = !can[name];
    }
    button("rename").title = one === undefined || group ? "Rename the selected group (F2)" :
      "A value of the column keeps its name";
    button("by-name").title = `Sort ${what} by name`;
    button("by-records").title = data.records ? `Sort ${what}, most records first` : "No records are counted";
    write(part("zoom"), `${Math.round(100 * zoom)}\u202f%`);
    const none = search.value.trim() ? "no match" : "";
    write(part("count"), matches.length ? `${thin(found + 1)} of ${thin(matches.length)}` : none);
    say();
  }

  // --- drawing ---------------------------------------------------------------------------------
  function refresh() {
    plan = planOf(tree, folded);
    const { lit, climbed, empty } = data;
    marks = { lit: new Set(lit), climbed: new Set(climbed), match: new Set(matches), empty: new Set(empty) };
    if (!plan.index.has(cursor)) cursor = [...above(tree, cursor)].find((id) => plan.index.has(id));
    draw();
    bar();
  }

  const size = () => {
    const last = columns[columns.length - 1];
    return { width: last ? last.left + last.width + PAD : 0, height: plan.rows * ROW + 2 * PAD };
  };

  // A group stands in the middle of its children, but stays visible as long as one of them is.
  function spot(id) {
    const { left, width } = columns[tree.depth[id]], y = (row) => (PAD + row * ROW) * zoom;
    const inside = between(frame.scrollTop + 2, y(plan.middle[id]), frame.scrollTop + frame.clientHeight -
      ROW * zoom);
    const top = between(y(plan.top[id]), inside, y(plan.bottom[id]));
    const round = Math.round; // no blurred texts
    return {
      left: round(left * zoom), width: round(width * zoom),
      top: round(top + ((ROW - BOX) / 2) * zoom), height: BOX * zoom,
    };
  }

  function draw() {
    const { width, height } = size();
    Object.assign(canvas.style, {
      width: `${width * zoom}px`, height: `${height * zoom}px`, fontSize: `${14 * zoom}px`,
    });
    const from = frame.scrollTop / (ROW * zoom) - MARGIN;
    const to = (frame.scrollTop + frame.clientHeight) / (ROW * zoom) + MARGIN;
    const near = plan.shown.filter((id) => id === cursor || (plan.bottom[id] >= from && plan.top[id] <= to));
    const wanted = new Set(near);
    for (const [id, box] of boxes) if (!wanted.has(id)) { box.remove(); boxes.delete(id); }
    const lines = ["", ""];
    near.forEach((id, place) => {
      const at = spot(id), box = boxes.get(id) || boxOf(id), parent = tree.parents[id];
      if (layer.children[place] !== box) layer.insertBefore(box, layer.children[place] || null);
      dress(id, box, at);
      if (parent < 0) return;
      lines[marks.climbed.has(id) ? 1 : 0] += edge(spot(parent), at);
    });
    paths.forEach((path, place) => path.setAttribute("d", lines[place]));
    if (has(cursor)) frame.setAttribute("aria-activedescendant", `node-${cursor}`);
    else frame.removeAttribute("aria-activedescendant");
    placeInput();
  }

  function edge(from, to) {
    const start = from.left + from.width, y = from.top + from.height / 2, end = to.top + to.height / 2;
    const bend = data.weights ? to.left - (WEIGHT + 4) * zoom : to.left, middle = (start + bend) / 2;
    return `M${start},${y}C${middle},${y} ${middle},${end} ${bend},${end}L${to.left},${end}`;
  }

  function boxOf(id) {
    const text = tree.labels[id], box = make("div", { class: "node", role: "treeitem", id: `node-${id}` });
    Object.assign(box.dataset, { id, label: text });
    box.append(make("span", { class: "label", dir: "auto" }, short(text, 200)));
    box.title = marks.empty.has(id) ? `${short(text)}: no record` : short(text);
    if (data.records) box.append(make("span", { class: "records" }, data.records[id]));
    if (folds(tree, data, id)) {
      box.append(make("button", { class: "fold", type: "button", tabindex: -1, "aria-hidden": true }));
    }
    if (data.weights && id !== tree.root) {
      const can = data.weighable && data.editable;
      const text = data.weights[id], weight = make(can ? "button" : "span", { "aria-hidden": true }, text);
      Object.assign(weight, can ? { tabIndex: -1, type: "button" } : {}, { className: "weight" });
      weight.title = `Weight of the edge above: ${text}${can ? "; click to change it" : ""}`;
      box.append(weight);
    }
    const siblings = id === tree.root ? [id] : tree.children[tree.parents[id]];
    box.setAttribute("aria-level", tree.depth[id] + 1);
    box.setAttribute("aria-setsize", siblings.length);
    box.setAttribute("aria-posinset", siblings.indexOf(id) + 1);
    box.setAttribute("aria-label", spoken(id));
    boxes.set(id, box);
    return box;
  }

  function spoken(id) {
    const text = [short(tree.labels[id]), isGroup(id) ? "group" : "value"];
    if (isGroup(id)) text.push(counted(tree.values[id], "value", "values"));
    if (data.records) text.push(`${data.records[id]} records`);
    if (data.weights && id !== tree.root) text.push(`edge weight ${data.weights[id]}`);
    return text.join(", ");
  }

  function dress(id, box, at) {
    const inner = tree.children[id].length > 0, open = inner && !folded.has(id), drag = press && press.drag;
    const names = {
      group: isGroup(id), selected: selected.has(id), cursor: id === cursor, lit: marks.lit.has(id),
      climbed: marks.climbed.has(id),
      match: marks.match.has(id), found: id === matches[found], empty: marks.empty.has(id),
      target: drag && drag.to === id, taken: drag && drag.nodes.has(id),
    };
    box.className = Object.keys(names).reduce((all, name) => (names[name] ? `${all} ${name}` : all), "node");
    box.style.transform = `translate(${at.left}px, ${at.top}px)`;
    box.style.width = `${at.width}px`;
    box.setAttribute("aria-selected", names.selected);
    if (!inner) return;
    const fold = box.querySelector(".fold"), values = counted(tree.values[id], "value", "values");
    box.setAttribute("aria-expanded", open);
    if (!fold) return;
    write(fold, open ? "−" : `+${thin(tree.values[id])}`);
    fold.title = open ? "Fold" : `Unfold: ${values}`;
  }

  // How much of the drawing the window shows; a drawing of which it shows no row is brought into it.
  function height() {
    const seen = innerHeight - frame.getBoundingClientRect().top;
    if (seen >= 3 * ROW) return Math.min(frame.clientHeight, seen);
    frame.scrollIntoView({ block: "nearest" });
    return frame.clientHeight;
  }

  // Scroll as little as possible until a node is visible, or all that is below it.
  function reveal(id, all = false) {
    if (!plan.index.has(id)) return;
    const row = ROW * zoom, inset = 2 * PAD * zoom, { top, bottom } = plan;
    const nearest = between(top[id], Math.round(frame.scrollTop / row), bottom[id]);
    const [first, last] = all ? [top[id], bottom[id]] : [nearest, nearest];
    const lowest = (last + 1) * row + inset - height();
    frame.scrollTop = Math.min(Math.max(frame.scrollTop, lowest), first * row);
    const { left, width } = spot(id), furthest = left + width + PAD * zoom - frame.clientWidth;
    frame.scrollLeft = Math.min(Math.max(frame.scrollLeft, furthest), Math.max(0, left - 60 * zoom));
    draw();
  }

  function later() {
    if (!coming) coming = requestAnimationFrame(() => { coming = 0; draw(); });
  }

  // --- folding, zoom, search -------------------------------------------------------------------
  function fold(id, folding) {
    if (!tree.children[id].length || folded.has(id) === folding) return;
    const before = spot(id).top - frame.scrollTop;
    for (const set of unsearched ? [folded, unsearched] : [folded]) {
      if (folding) set.add(id);
      else set.delete(id);
    }
    refresh();
    // The button stays under the pointer, unless that would hide the first children.
    const shift = spot(id).top - frame.scrollTop - before;
    const rows = plan.bottom[id] - plan.top[id] + 1;
    if (folding || rows * ROW * zoom < frame.clientHeight) frame.scrollTop += shift;
    draw();
  }

  function foldAll(folding) {
    folded = new Set(folding ? tree.order.filter((id) => isGroup(id)) : []);
    openTop();
    unsearched = unsearched && new Set(folded);
    refresh();
    reveal(cursor);
  }

  // What stays folded has brothers: one line alone would show nothing.
  function openTop() {
    let only = tree.root;
    while (folded.delete(only) && tree.children[only].length === 1) only = tree.children[only][0];
  }

  function unfoldAbove(ids) {
    for (const id of ids) for (const group of above(tree, id)) folded.delete(group);
  }

  function zoomTo(wanted, x = frame.clientWidth / 2, y = frame.clientHeight / 2) {
    const old = zoom, left = frame.scrollLeft, top = frame.scrollTop;
    zoom = between(0.4, wanted, 1.6);
    draw();
    frame.scrollTo(((left + x) * zoom) / old - x, ((top + y) * zoom) / old - y);
    draw();
    bar();
  }

  function fit() {
    const { width, height } = size();
    zoomTo(Math.min(frame.clientWidth / width, (data.height - 2) / height), 0, 0);
  }

  function find(text, going = true) {
    const query = text.trim().toLowerCase(), kept = going ? undefined : matches[found];
    if (query && !unsearched) unsearched = new Set(folded);
    matches = query ? tree.order.filter((id) => id !== tree.root && tree.lower[id].includes(query)) : [];
    found = Math.max(0, matches.indexOf(kept));
    if (!going) return;
    if (unsearched) folded = new Set(unsearched);
    if (!query) unsearched = null;
    unfoldAbove(query ? matches : [cursor]);
    refresh();
    if (matches.length) goTo(0);
  }

  function goTo(place) {
    if (!matches.length) return;
    if (passing) { selected.clear(); anchor = undefined; } // as when one walks on by the arrow keys
    found = (place + matches.length) % matches.length;
    cursor = matches[found];
    unfoldAbove([cursor]);
    refresh();
    reveal(cursor);
  }

  // --- selecting and walking -------------------------------------------------------------------
  function select(ids, wanted = ids[0]) {
    selected = new Set(ids);
    if (wanted !== undefined) cursor = wanted;
    draw();
    bar();
  }

  function toggle(id) {
    const ids = new Set(selected);
    if (!ids.delete(id)) ids.add(id);
    anchor = id;
    passing = false;
    select(ids, id);
  }

  function range(id) {
    const start = plan.index.get(anchor) === undefined ? cursor : anchor;
    const ends = [plan.index.get(start), plan.index.get(id)].sort((a, b) => a - b);
    anchor = start;
    passing = false;
    select(plan.shown.slice(ends[0], ends[1] + 1).filter((node) => node !== tree.root || id === node), id);
  }

  function click(id, event) {
    if (event.shiftKey) range(id);
    else if (event.ctrlKey || event.metaKey) toggle(id);
    else {
      anchor = id;
      passing = true;
      select([id]);
    }
  }

  // A selection made by a single click gives way when the arrow keys move on.
  function walk(id) {
    if (id === undefined || !plan.index.has(id)) return;
    if (passing) selected.clear();
    anchor = undefined;
    cursor = id;
    reveal(id);
    bar();
  }

  function step(by, extending) {
    const next = plan.shown[between(0, plan.index.get(cursor) + by, plan.shown.length - 1)];
    if (!extending) return walk(next);
    range(next);
    return reveal(next);
  }

  function siblings() {
    if (cursor === tree.root) return;
    passing = false;
    select(tree.children[tree.parents[cursor]], cursor);
  }

  function inwards() {
    if (folded.has(cursor)) fold(cursor, false);
    else walk(tree.children[cursor][0]);
  }

  function outwards() {
    if (tree.children[cursor].length && !folded.has(cursor)) fold(cursor, true);
    else walk(tree.parents[cursor]);
  }

  function useButton(name) {
    if (!button(name).disabled) actions[name]();
  }

  // Keys mean the selected nodes; if there are none, the one that the keys have reached.
  function withSelection(action) {
    if (!selected.size) click(cursor, {});
    useButton(action);
  }

  // --- panels ----------------------------------------------------------------------------------
  function openPanel(...inside) {
    begin();
    endEdit();
    panel.replaceChildren(...inside);
    panel.hidden = false;
  }

  function closePanel(back = true) {
    panel.hidden = true;
    panel.replaceChildren();
    if (back) frame.focus({ preventScroll: true });
  }

  function formOf(label, ok, ...more) {
    const input = make("input", { id: "asked", autocomplete: "off" });
    const cancel = make("button", { type: "button" }, "Cancel");
    const form = make("form", {}, make("label", { for: "asked" }, label), input,
      make("button", { type: "submit" }, "OK"), cancel, ...more);
    cancel.onclick = () => closePanel();
    form.onsubmit = (event) => { event.preventDefault(); ok(); };
    openPanel(form);
    input.focus({ preventScroll: true });
    return input;
  }

  function askName(labels, typed = "") {
    const ok = () => {
      if (!input.value.trim()) return input.focus();
      submit("group", { nodes: selected.size ? labelsOf(meant()) : labels, name: input.value });
      return closePanel();
    };
    const input = formOf("Name of the new group", ok);
    input.value = typed;
    input.select();
  }

  const path = (id) => labelsOf([...above(tree, id)].reverse()).map((text) => short(text, 30)).join(" › ");

  // Whether nodes can be moved to a group, and whether that would change anything.
  function mayHold(nodes, group) {
    return nodes.size > 0 && isGroup(group) && ![group, ...above(tree, group)].some((id) => nodes.has(id)) &&
      [...nodes].some((id) => tree.parents[id] !== group);
  }

  function askTarget(labels) {
    const list = make("ul", { class: "options", role: "listbox", id: "options", "aria-label": "Groups" });
    const hint = make("p", { class: "hint", role: "status" });
    let offered = [], at = 0;
    const ok = () => {
      if (!offered.length) return input.focus();
      submit("move", { nodes: labels, to: offered[at] });
      return closePanel();
    };
    const point = (place) => {
      at = between(0, place, list.children.length - 1);
      [...list.children].forEach((option, one) => option.setAttribute("aria-selected", one === at));
      if (!list.children.length) return input.removeAttribute("aria-activedescendant");
      list.children[at].scrollIntoView({ block: "nearest" });
      return input.setAttribute("aria-activedescendant", `option-${at}`);
    };
    const offer = () => {
      const query = input.value.trim().toLowerCase();
      const moving = new Set(labels.map((label) => tree.ids.get(label)).filter(has));
      const fitting = tree.order.filter((id) => tree.lower[id].includes(query) && mayHold(moving, id));
      offered = labelsOf(fitting.slice(0, MOST));
      list.replaceChildren(...fitting.slice(0, MOST).map((id, place) => make(
        "li", { role: "option", id: `option-${place}` }, make("bdi", {}, short(tree.labels[id], 80)),
        make("small", { dir: "auto" }, path(id)))));
      const more = `The first ${MOST} of ${thin(fitting.length)}; type to find more.`;
      hint.textContent = !fitting.length ? "No other group fits." : fitting.length > MOST ? more : "";
      point(0);
    };
    const input = formOf(labels.length === 1 ? `Move “${short(labels[0], 30)}” to` :
      `Move ${thin(labels.length)} nodes to`, ok, list, hint);
    for (const [name, value] of [["role", "combobox"], ["aria-controls", "options"], ["aria-expanded", true],
      ["aria-autocomplete", "list"], ["placeholder", "Find a group"]]) input.setAttribute(name, value);
    input.oninput = offer;
    input.onkeydown = (event) => {
      const by = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 }[event.key];
      if (!by) return;
      event.preventDefault();
      point(at + by);
    };
    list.onmousedown = (event) => event.preventDefault(); // the text field keeps the focus
    list.onclick = (event) => {
      const option = event.target.closest("li");
      if (!option) return;
      point([...list.children].indexOf(option));
      ok();
    };
    offer();
  }

  function showKeys() {
    const close = make("button", { type: "button" }, "Close"), list = make("dl", { class: "keys" });
    for (const [keys, meaning] of KEYS) list.append(make("dt", {}, keys), make("dd", {}, meaning));
    close.onclick = () => closePanel();
    openPanel(list, close);
    close.focus({ preventScroll: true });
  }

  // --- editing in place ------------------------------------------------------------------------
  function edit(id, field, typed) {
    if (!data.editable) return;
    if (field === "name" && !isGroup(id)) return remark("A value of the column keeps its name.");
    if (field !== "name" && (!data.weights || !data.weighable)) return remark("Choose weights to show first.");
    if (field !== "name" && id === tree.root) return remark("There is no edge above the root.");
    begin();
    endEdit();
    unfoldAbove([id]);
    cursor = id;
    refresh();
    const start = field === "name" ? tree.labels[id] : data.weights[id];
    const input = make("input", { class: "inline", autocomplete: "off", "aria-label":
      `${field === "name" ? "New name" : "Weight of the edge above"}: ${short(tree.labels[id], 80)}` });
    input.value = typed === undefined ? start : typed;
    editing = { label: tree.labels[id], field, input, start: typed === undefined ? input.value : start };
    canvas.append(input);
    input.onkeydown = (event) => {
      if (event.key === "Enter") save(true);
      if (event.key === "Escape") endEdit();
      if (event.key === "Enter" || event.key === "Escape") frame.focus({ preventScroll: true });
    };
    input.onblur = () => { // also when the user looks at another window; then nothing is sent
      if (editing && editing.input === input && root.getRootNode().activeElement !== input) save(false);
    };
    reveal(id);
    input.focus({ preventScroll: true });
    input.select();
  }

  function remark(text) {
    note = text;
    bar();
  }

  function save(asked) {
    const { label, field, input, start } = editing, typed = input.value;
    endEdit();
    if (typed === start || (!typed.trim() && !asked)) return;
    if (field === "name") submit("rename", { node: label, name: typed });
    else submit("weigh", { node: label, weight: typed });
  }

  function endEdit() {
    if (!editing) return;
    const { input } = editing;
    editing = null;
    input.remove();
  }

  function placeInput() {
    const id = editing && tree.ids.get(editing.label);
    if (!editing || !plan.index.has(id)) return;
    const at = spot(id), weight = editing.field === "weight";
    const width = (weight ? 74 : 40) * zoom + (weight ? 0 : at.width);
    Object.assign(editing.input.style, {
      left: `${weight ? at.left - width - 2 : at.left}px`, top: `${at.top - 1.5}px`, width: `${width}px`,
    });
  }

  // --- the pointer -----------------------------------------------------------------------------
  const nodeAt = (element) => {
    const box = element && element.closest ? element.closest(".node") : null;
    return box && root.contains(box) ? Number(box.dataset.id) : undefined;
  };

  function pressDown(event) {
    const own = frame.getBoundingClientRect();
    const bars = event.clientX > own.left + frame.clientLeft + frame.clientWidth ||
      event.clientY > own.top + frame.clientTop + frame.clientHeight;
    frame.classList.remove("keyed");
    if (event.button || bars || event.target.closest("button, input")) return;
    press = {
      id: nodeAt(event.target), x: event.clientX, y: event.clientY, at: event, pointer: event.pointerId,
      touch: event.pointerType === "touch", left: frame.scrollLeft, top: frame.scrollTop, kind: "",
    };
  }

  function pressMove(event) {
    if (!press || event.pointerId !== press.pointer) return;
    if (!event.buttons) return endPress(); // let go outside the drawing
    press.at = event;
    if (!press.kind) {
      if (Math.hypot(event.clientX - press.x, event.clientY - press.y) < 5) return;
      if (press.touch) return endPress(); // a finger scrolls
      startMoving(event);
    }
    return follow();
  }

  function startMoving(event) {
    press.kind = press.id === undefined ? (event.shiftKey ? "band" : "pan") : "drag";
    if (press.kind === "drag" && (!data.editable || press.id === tree.root)) press.kind = "pan";
    frame.setPointerCapture(press.pointer);
    frame.classList.toggle("panning", press.kind === "pan");
    if (press.kind === "band") press.band = canvas.appendChild(make("div", { class: "band" }));
    if (press.kind !== "drag") return;
    if (!selected.has(press.id)) click(press.id, {});
    const ghost = root.appendChild(make("div", { class: "ghost" }));
    press.drag = { nodes: new Set(meant()), to: undefined, ghost };
    roll();
  }

  function follow() {
    if (press.kind === "drag") hover();
    if (press.kind === "band") stretch();
    if (press.kind !== "pan") return;
    frame.scrollLeft = press.left - press.at.clientX + press.x;
    frame.scrollTop = press.top - press.at.clientY + press.y;
  }

  // The group that would take what is dragged: the one below the pointer, or that of the value there.
  function hover() {
    const { drag, at } = press, own = root.getBoundingClientRect();
    const below = nodeAt(root.getRootNode().elementFromPoint(at.clientX, at.clientY));
    const group = below === undefined || isGroup(below) ? below : tree.parents[below];
    const to = group !== undefined && mayHold(drag.nodes, group) ? group : undefined;
    const [one] = drag.nodes;
    const what = drag.nodes.size === 1 ? tree.labels[one] : `${thin(drag.nodes.size)} nodes`;
    write(drag.ghost, short(what, 40) + (to === undefined ? "" : ` → ${short(tree.labels[to], 40)}`));
    drag.ghost.style.left = `${at.clientX - own.left + 14}px`;
    drag.ghost.style.top = `${at.clientY - own.top + 12}px`;
    if (drag.to === to) return;
    drag.to = to;
    draw();
  }

  // Near a rim the drawing rolls on.
  function roll() {
    if (!press || press.kind !== "drag") return;
    const { at } = press, own = frame.getBoundingClientRect(), rim = 32;
    const speed = (at, low, high) => (at < low + rim ? at - low - rim : Math.max(0, at - high + rim));
    const down = between(-24, speed(at.clientY, own.top, own.bottom) / 2, 24);
    const right = between(-24, speed(at.clientX, own.left, own.right) / 2, 24);
    if (down || right) {
      frame.scrollBy(right, down);
      draw();
      hover();
    }
    requestAnimationFrame(roll);
  }

  function stretch() {
    const own = canvas.getBoundingClientRect(), { at } = press;
    const x = [press.x - own.left - frame.scrollLeft + press.left, at.clientX - own.left];
    const y = [press.y - own.top - frame.scrollTop + press.top, at.clientY - own.top];
    const [left, right] = x.sort((a, b) => a - b), [top, bottom] = y.sort((a, b) => a - b);
    Object.assign(press.band.style, {
      left: `${left}px`, top: `${top}px`, width: `${right - left}px`, height: `${bottom - top}px`,
    });
    const inside = plan.shown.filter((id) => {
      const box = spot(id);
      return id !== tree.root && box.left < right && box.left + box.width > left && box.top < bottom &&
        box.top + box.height > top;
    });
    passing = false;
    select(inside, inside[0]);
  }

  function pressUp(event) {
    if (!press || event.pointerId !== press.pointer) return;
    const { kind, drag, id } = press;
    endPress();
    if (drag && drag.to !== undefined) {
      submit("move", { nodes: labelsOf([...drag.nodes]), to: tree.labels[drag.to] });
    } else if (!kind && id !== undefined) click(id, event);
    else if (!kind && !event.shiftKey && !event.ctrlKey) select([]);
  }

  function endPress() {
    if (!press) return;
    const { drag, band, pointer, kind } = press;
    press = null;
    if (kind && frame.hasPointerCapture(pointer)) frame.releasePointerCapture(pointer);
    if (drag) drag.ghost.remove();
    if (band) band.remove();
    frame.classList.remove("panning");
    if (plan) draw();
  }

  function clicked(event) {
    const id = nodeAt(event.target);
    if (id === undefined) return;
    if (event.target.closest(".fold")) {
      cursor = id;
      fold(id, !folded.has(id));
    } else if (event.target.closest("button.weight")) edit(id, "weight");
  }

  function wheel(event) {
    if (!event.ctrlKey) return;
    event.preventDefault();
    const own = frame.getBoundingClientRect();
    zoomTo(zoom * Math.exp(-between(-100, event.deltaY, 100) / 400), event.clientX - own.left,
      event.clientY - own.top);
  }

  // --- buttons and keys ------------------------------------------------------------------------
  const sortBy = (by) => {
    const one = selected.size === 1 ? [...selected][0] : tree.root;
    submit("sort", { node: tree.labels[isGroup(one) ? one : tree.root], by });
  };
  const actions = {
    undo: () => submit("undo"),
    redo: () => submit("redo"),
    group: () => askName(labelsOf(meant())),
    move: () => askTarget(labelsOf(meant())),
    rename: () => edit([...selected][0], "name"),
    ungroup: () => submit("ungroup", {
      nodes: labelsOf(inOrder(selected).filter((id) => isGroup(id) && id !== tree.root)),
    }),
    insert: () => submit("insert", { nodes: labelsOf(inOrder(selected)) }),
    more: () => {
      const details = part("more");
      details.hidden = !details.hidden;
      button("more").setAttribute("aria-expanded", !details.hidden);
    },
    "by-name": () => sortBy("name"),
    "by-records": () => sortBy("records"),
    matches: () => { passing = false; select(matches, cursor); frame.focus({ preventScroll: true }); },
    fold: () => foldAll(true),
    unfold: () => foldAll(false),
    smaller: () => zoomTo(zoom / 1.2),
    larger: () => zoomTo(zoom * 1.2),
    fit,
    keys: () => (panel.querySelector(".keys") ? closePanel() : showKeys()),
    again: () => { if (!send()) flight = null; pump(); },
  };

  const keys = {
    ArrowUp: () => step(-1), ArrowDown: () => step(1), ArrowRight: inwards, ArrowLeft: outwards,
    "Shift+ArrowUp": () => step(-1, true), "Shift+ArrowDown": () => step(1, true),
    PageUp: () => step(-10), PageDown: () => step(10),
    Home: () => walk(plan.shown[0]), End: () => walk(plan.shown[plan.shown.length - 1]),
    " ": () => toggle(cursor), "Ctrl+a": siblings, Escape: escape,
    "/": () => { search.focus(); search.select(); }, "?": showKeys,
    Enter: () => edit(cursor, "name"), F2: () => edit(cursor, "name"), w: () => edit(cursor, "weight"),
    g: () => withSelection("group"), m: () => withSelection("move"), i: () => withSelection("insert"),
    Delete: () => withSelection("ungroup"), "Ctrl+z": () => useButton("undo"),
    "Ctrl+y": () => useButton("redo"), "Ctrl+Shift+z": () => useButton("redo"),
  };

  function escape() {
    if (press && press.kind) endPress();
    else if (!panel.hidden) closePanel();
    else select([], cursor);
  }

  function pressKey(event) {
    if (event.target !== frame || event.altKey || !has(cursor)) return;
    const one = event.key.length === 1, letter = /^[a-z]$/i.test(event.key);
    const name = (event.ctrlKey || event.metaKey ? "Ctrl+" : "") +
      (event.shiftKey && (letter || !one) ? "Shift+" : "") + (letter ? event.key.toLowerCase() : event.key);
    if (!Object.hasOwn(keys, name)) return;
    event.preventDefault();
    frame.classList.add("keyed"); // shows where the keys are
    keys[name]();
  }

  function searchKey(event) {
    if (event.key === "Enter") goTo(found + (event.shiftKey ? -1 : 1));
    if (event.key !== "Escape") return;
    search.value = "";
    find("");
    frame.focus({ preventScroll: true });
  }

  // Within a toolbar the arrow keys go from button to button.
  function alongBar(event) {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const usable = [...event.currentTarget.querySelectorAll("button:enabled")];
    const place = usable.indexOf(event.target);
    if (!by || place < 0) return;
    event.preventDefault();
    usable[(place + by + usable.length) % usable.length].focus();
  }

  // The page has keys of its own ("r" runs it again), which are not meant here.
  for (const type of ["keydown", "keyup", "keypress"]) {
    root.addEventListener(type, (event) => event.stopPropagation());
  }
  root.addEventListener("click", (event) => {
    const pressed = event.target.closest("[data-do]");
    if (pressed) useButton(pressed.dataset.do);
  });
  for (const one of root.querySelectorAll(".bar")) one.addEventListener("keydown", alongBar);
  panel.addEventListener("keydown", (event) => { if (event.key === "Escape") closePanel(); });
  search.addEventListener("input", () => find(search.value));
  search.addEventListener("keydown", searchKey);
  frame.addEventListener("keydown", pressKey);
  frame.addEventListener("pointerdown", pressDown);
  frame.addEventListener("pointermove", pressMove);
  frame.addEventListener("pointerup", pressUp);
  frame.addEventListener("pointercancel", endPress);
  frame.addEventListener("click", clicked);
  frame.addEventListener("dblclick", (event) => {
    const id = event.target.closest("button, input") ? undefined : nodeAt(event.target);
    if (id !== undefined) edit(id, "name");
  });
  frame.addEventListener("mousedown", (event) => {
    if (event.target.closest("button")) { event.preventDefault(); frame.focus({ preventScroll: true }); }
  });
  frame.addEventListener("wheel", wheel, { passive: false });
  frame.addEventListener("scroll", later);
  const sizes = new ResizeObserver(later);
  document.fonts.ready.then(() => { // widths measured before the page's font was there
    columns = columnsOf(tree, data, getComputedStyle(root).fontFamily);
    if (plan) draw();
  });

  function stop() {
    sizes.disconnect();
    cancelAnimationFrame(coming);
    coming = 0;
    calm();
  }

  return { take, stop };
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".tree");
  // Streamlit calls this function for all new data, but what it returns only in the end.
  const editor = root.editor || (root.editor = editorOf(root));
  editor.take(data, setTriggerValue);
  return editor.stop;
}
