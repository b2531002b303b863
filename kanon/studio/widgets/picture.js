// Pictures to take away: what stands on the page, copied into one SVG of its own with the settings
// below it, and drawn as a PNG from that. Nothing is asked of anybody but this server for its font.
const NS = "http://www.w3.org/2000/svg";
const EDGE = 10, GAP = 12; // pixels: around the picture, and between its parts
const SMALL = 11, ROW = 15; // the settings: letters, and from line to line
const SHARPER = 3, MOST = 16000; // pixels of a PNG for one of the page, and the most on a side
const NOT_DRAWN = "style, script, button, input, select, textarea, label, .modebar";
const BEHIND = ".draglayer, .hoverlayer, .zoomlayer"; // of Plotly: what the pointer meets
// What a style sheet may say of a drawing. Plotly writes all of it into its own.
const LOOK = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-opacity",
  "stroke-linecap", "stroke-linejoin", "opacity", "font-family", "font-size", "font-weight",
  "paint-order"];

const made = (tag, attributes, text) => {
  const element = document.createElementNS(NS, tag);
  for (const name in attributes) element.setAttribute(name, attributes[name]);
  if (text !== undefined) element.textContent = text;
  return element;
};

const measure = document.createElement("canvas").getContext("2d");
const size = (text, font) => {
  measure.font = font;
  return measure.measureText(text);
};

// Whoever opens the file may lack the font: the text keeps its length all the same.
const keepLength = (element, length) => {
  if (!(length > 0)) return;
  element.setAttribute("textLength", length.toFixed(2));
  element.setAttribute("lengthAdjust", "spacingAndGlyphs");
};

const written = (text, left, top, width, style) => {
  const font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
  const element = made("text", { x: left, y: top + size(text, font).fontBoundingBoxAscent,
    style: `fill: ${style.color}; font-family: ${style.fontFamily}; font-size: ${style.fontSize}; ` +
      `font-weight: ${style.fontWeight}; white-space: pre` }, text);
  keepLength(element, width);
  return element;
};

// --- what stands on the page ----------------------------------------------------------------------
// The words of a text, line by line as they were broken.
const linesOf = (node) => {
  const range = document.createRange(), lines = [];
  for (const word of node.data.matchAll(/[^ \t\r\n]+/g)) {
    range.setStart(node, word.index);
    range.setEnd(node, word.index + word[0].length);
    const { left, right, top, bottom } = range.getBoundingClientRect(), last = lines.at(-1);
    if (left === right) continue; // not drawn
    if (last && Math.abs(last.top - top) < 3) Object.assign(last, { text: `${last.text} ${word[0]}`, right });
    else lines.push({ text: word[0], left, right, top, bottom });
  }
  return lines;
};

const drawing = (svg) => {
  const { left, right, top, bottom } = svg.getBoundingClientRect(), copy = svg.cloneNode(true);
  const twins = [copy, ...copy.querySelectorAll("*")], behind = copy.querySelectorAll(BEHIND);
  const look = svg.classList.contains("main-svg") ? [] : LOOK;
  [svg, ...svg.querySelectorAll("*")].forEach((one, place) => {
    const twin = twins[place], style = look.length ? getComputedStyle(one) : undefined;
    for (const { name } of [...twin.attributes]) {
      if (name === "class" || name.startsWith("data-") || name.startsWith("aria-")) twin.removeAttribute(name);
    }
    for (const name of look) twin.style.setProperty(name, style.getPropertyValue(name));
    if (twin.style) ["pointer-events", "cursor"].forEach((name) => twin.style.removeProperty(name));
    if (one instanceof SVGTextContentElement && one.textContent && !one.childElementCount) {
      keepLength(twin, one.getComputedTextLength());
    }
  });
  behind.forEach((one) => one.remove());
  for (const name of ["position", "inset", "background", "width", "height"]) copy.style.removeProperty(name);
  const place = { x: left, y: top, width: right - left, height: bottom - top };
  for (const name in place) copy.setAttribute(name, place[name]);
  return { element: copy, left, right, top, bottom };
};

// Everything within an element that can be seen, also what it scrolls to.
const collect = (element, into) => {
  const style = getComputedStyle(element);
  if (element.matches(NOT_DRAWN) || style.display === "none" || style.visibility === "hidden") return;
  if (element.localName === "svg") {
    into.push(drawing(element));
    return;
  }
  const { scrollLeft, scrollTop } = element, scrolled = scrollLeft || scrollTop;
  if (scrolled) element.scrollTo(0, 0);
  for (const child of (element.shadowRoot || element).childNodes) {
    if (child.nodeType === Node.ELEMENT_NODE) collect(child, into);
    if (child.nodeType !== Node.TEXT_NODE) continue;
    for (const { text, left, right, top, bottom } of linesOf(child)) {
      into.push({ element: written(text, left, top, right - left, style), left, right, top, bottom });
    }
  }
  const after = getComputedStyle(element, "::after"), added = /^"(.*)"$/.exec(after.content);
  if (added && added[1]) { // nothing else stands in an element that has such a text
    const { left, right, top, bottom } = element.getBoundingClientRect();
    into.push({ element: written(added[1], left, top, right - left, after), left, right, top, bottom });
  }
  if (scrolled) element.scrollTo(scrollLeft, scrollTop);
};

// An element by the key of what it is in: ["board"], or ["cursor", ".legend"] within a component.
const found = ([key, within]) => {
  const outer = document.querySelector(`.st-key-${CSS.escape(key)}`);
  if (!outer || !within) return outer;
  const hosts = [outer, ...outer.querySelectorAll("*")].filter((one) => one.shadowRoot);
  return [outer, ...hosts.map((one) => one.shadowRoot)].map((one) => one.querySelector(within)).find(Boolean);
};

// --- the picture ----------------------------------------------------------------------------------
const wrapped = (text, font, width) => {
  const lines = [""];
  for (const word of text.split(" ")) {
    const longer = `${lines.at(-1)} ${word}`.trimStart();
    if (lines.at(-1) && size(longer, font).width > width) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines;
};

function pictureOf(parts, settings, paper, style) {
  const svg = made("svg", {}), back = svg.appendChild(made("rect", { fill: paper }));
  let right = 0, below = EDGE;
  for (const part of parts) {
    const items = [];
    for (const place of part) {
      const element = found(place);
      if (element) collect(element, items);
    }
    if (!items.length) continue;
    const [left, top] = ["left", "top"].map((end) => Math.min(...items.map((item) => item[end])));
    const [far, low] = ["right", "bottom"].map((end) => Math.max(...items.map((item) => item[end])));
    const group = svg.appendChild(made("g", { transform: `translate(${EDGE - left}, ${below - top})` }));
    items.forEach(({ element }) => group.appendChild(element));
    right = Math.max(right, far - left);
    below += low - top + GAP;
  }
  if (!right) return undefined;
  const font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
  for (const line of wrapped(settings, font, right)) {
    svg.append(written(line, EDGE, below, size(line, font).width, style));
    below += ROW;
  }
  const [width, height] = [Math.ceil(right + 2 * EDGE), Math.ceil(below + EDGE)];
  for (const element of [svg, back]) {
    element.setAttribute("width", width);
    element.setAttribute("height", height);
  }
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  return { svg, width, height };
}

// Signs that XML does not have, and the address of this page in references within the picture.
const asText = (svg) => new XMLSerializer().serializeToString(svg)
  .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "")
  .replaceAll(`${location.href.split("#")[0]}#`, "#")
  .replace(/color\(srgb ([\d.]+) ([\d.]+) ([\d.]+)\)/g, (_, ...parts) =>
    `rgb(${parts.slice(0, 3).map((part) => Math.round(255 * part)).join(", ")})`);

const asAddress = (content) => new Promise((done, failed) => {
  const reader = new FileReader();
  reader.onload = () => done(reader.result);
  reader.onerror = failed;
  reader.readAsDataURL(content);
});

// A picture within a page sees no font of that page: it takes its own along.
async function fontOf(family) {
  const name = family.split(",")[0].replaceAll('"', "").trim();
  const rules = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules])
    .filter((rule) => rule instanceof CSSFontFaceRule && rule.style.fontStyle !== "italic" &&
      rule.style.getPropertyValue("font-family").replaceAll('"', "") === name);
  const address = rules.length && /url\("?([^")]+)"?\)/.exec(rules[0].style.getPropertyValue("src"));
  if (!address) return "";
  const answer = await fetch(new URL(address[1], rules[0].parentStyleSheet.href || document.baseURI))
    .catch(() => undefined); // the server is gone: another font has to do
  if (!answer || !answer.ok) return "";
  const content = await asAddress(await answer.blob());
  return `@font-face { font-family: "${name}"; font-weight: 200 900; src: url("${content}"); }`;
}

async function asPng({ svg, width, height }, family) {
  svg.prepend(made("style", {}, await fontOf(family)));
  const image = new Image(), canvas = document.createElement("canvas");
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(asText(svg))}`;
  await image.decode();
  const scale = Math.min(SHARPER, MOST / width, MOST / height);
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

export default function (component) {
  const { data, parentElement } = component;
  const root = parentElement.querySelector(".files");

  async function take(form) {
    const style = getComputedStyle(root), its = root.querySelector(".settings");
    const paper = style.getPropertyValue("--st-background-color");
    const picture = pictureOf(data.parts, data.settings, paper, getComputedStyle(its));
    if (!picture) return; // it is being drawn anew
    const content = form === "png" ? await asPng(picture, style.fontFamily)
      : new Blob([asText(picture.svg)], { type: "image/svg+xml" });
    const link = document.createElement("a");
    link.href = URL.createObjectURL(content);
    link.download = `${data.file}.${form}`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  }

  for (const button of root.querySelectorAll("button")) {
    button.onclick = () => take(button.dataset.form);
  }
}
