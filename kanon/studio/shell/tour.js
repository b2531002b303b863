// Says what a step of the tour is about and marks what it points at: of the things that the step knows,
// the first one that is on the page and can be seen. A page is drawn bit by bit, and a result comes
// later, so this looks again and again.
const EVERY = 250; // milliseconds between two looks
const SETTLING = 4000; // milliseconds in which a page may still move what it has drawn
const ABOVE = 48; // pixels that are seen of what stands over a thing, its label

const drawn = ([selector]) => [...document.querySelectorAll(selector)].find((one) => one.checkVisibility());

export default function ({ data, parentElement }) {
  const text = parentElement.querySelector(".tour-text");
  const held = text.held || (text.held = {}); // survives a new drawing of the page
  if (held.stop) held.stop();
  const mark = document.head.appendChild(document.createElement("style"));
  const colour = getComputedStyle(text).getPropertyValue("--st-primary-color");

  // Below the box, which stays where it is; what can be seen already is not moved.
  function bring(thing) {
    const box = (text.getRootNode().host || text).closest(".st-key-tour");
    if (!box) return; // not yet in the page, or no longer
    const { top, bottom } = thing.getBoundingClientRect(), free = box.getBoundingClientRect().bottom + ABOVE;
    const seen = top >= free && (bottom <= innerHeight ? top <= (free + innerHeight) / 2 : top <= free + ABOVE);
    const page = thing.closest("[data-testid=stMain]");
    if (page && !seen) page.scrollBy(0, top - free);
  }

  function look() {
    const found = data.looks.find(drawn) || ["", data.otherwise];
    const [selector, said] = found;
    if (held.said !== said) Object.assign(held, { said, until: Date.now() + SETTLING });
    if (text.lastChild.textContent !== said) text.lastChild.textContent = said;
    const rule = selector ? `${selector} { outline: 3px solid ${colour}; outline-offset: 6px; }` : "";
    if (mark.textContent !== rule) mark.textContent = rule;
    if (selector && Date.now() < held.until) bring(drawn(found));
  }

  const leaveAlone = () => { held.until = 0; }; // whoever scrolls or presses something goes on alone
  const acts = ["wheel", "touchmove", "pointerdown", "keydown"];
  for (const act of acts) window.addEventListener(act, leaveAlone, { passive: true });
  const looking = setInterval(look, EVERY);
  held.stop = () => {
    clearInterval(looking);
    mark.remove();
    for (const act of acts) window.removeEventListener(act, leaveAlone);
  };
  text.firstChild.textContent = data.head;
  look();
  return held.stop;
}
