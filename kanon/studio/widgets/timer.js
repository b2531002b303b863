// Asks the server, after a while and once, to draw again the part of the page that this stands in.
const timers = new WeakMap();

// What is asked for while a page is being drawn can cost that page its last elements.
const drawn = () => {
  const app = document.querySelector("[data-test-script-state]");
  return !app || app.dataset.testScriptState === "notRunning";
};

export default function ({ data, parentElement, setTriggerValue }) {
  const wait = (milliseconds) => {
    clearTimeout(timers.get(parentElement));
    timers.set(parentElement, setTimeout(ask, milliseconds));
  };
  const ask = () => drawn() ? setTriggerValue("over", data.drawn) : wait(50);
  wait(1000 * data.seconds);
  return () => clearTimeout(timers.get(parentElement));
}
