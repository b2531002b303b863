// Presses the buttons of the page by keys, wherever no text is being typed.

// A switch or a select box keeps the focus after it was used: keys are not lost to it.
const TEXT = "input:not([type]), input[type=text], input[type=number], input[type=search], " +
  "input[type=password], textarea, [contenteditable=true]";

const typing = (target) => {
  const box = target.closest("[role=combobox]");
  if (box) return box.getAttribute("aria-expanded") === "true";
  return target.matches(TEXT);
};

// What was reached by the tabulator is pressed by the space bar, as everywhere.
const itsOwn = (event) => event.key === " " &&
  event.target.matches("button, [type=checkbox], [type=radio], a, summary") &&
  event.target.matches(":focus-visible");

const LONGEST = 600; // milliseconds until a page that is drawn at once counts as drawn
const pressed = {}; // per listener its buttons by key
let waiting = [], timer, since = 0, begun = true;

const drawing = () => {
  const app = document.querySelector("[data-test-script-state]");
  return Boolean(app) && app.dataset.testScriptState === "running";
};

// Whoever presses twice goes two steps: of a button that is pressed again before the page is drawn,
// Streamlit tells the server once, and of a slider what it held before.
function next() {
  timer = undefined;
  begun ||= drawing();
  if (waiting.length && !drawing() && (begun || Date.now() - since > LONGEST)) {
    const buttons = waiting.shift().map((name) => document.querySelector(`.st-key-${name} button`));
    const button = buttons.find((each) => each && !each.disabled);
    if (button) {
      button.click();
      [since, begun] = [Date.now(), false];
    }
  }
  if (waiting.length || Date.now() - since < LONGEST) timer = setTimeout(next, 20);
}

// What scrolls is scrolled by its keys.
const scrolls = (target) => {
  const place = target.closest("[role=region][tabindex]");
  return Boolean(place) &&
    (place.scrollHeight > place.clientHeight || place.scrollWidth > place.clientWidth);
};

function press(event) {
  const names = Object.values(pressed).map((buttons) => buttons[event.key]).find(Boolean);
  const target = event.target instanceof Element ? event.target : document.body;
  if (!names || event.ctrlKey || event.altKey || event.metaKey) return;
  if (typing(target) || itsOwn(event) || scrolls(target)) return;
  if (target.closest("[role=dialog], [role=menu]")) return;
  event.preventDefault();
  event.stopPropagation(); // a slider would go a step of its own
  if (event.repeat) return;
  waiting.push(names);
  if (!timer) next();
}

export default function ({ data }) {
  pressed[data.name] = data.pressed;
  // Added twice, a listener listens once.
  document.addEventListener("keydown", press, true);
  return () => {
    delete pressed[data.name];
    if (!Object.keys(pressed).length) document.removeEventListener("keydown", press, true);
    waiting = [];
  };
}
