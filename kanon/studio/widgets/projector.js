// Fits a picture for a projector into the window: nothing scrolls, nothing is cut.
const WIDE = 1024, HIGH = 720; // what the picture is made for, in pixels
const LEAST = 16; // of a letter

const over = (part) =>
  part.scrollHeight > part.clientHeight || part.scrollWidth > part.clientWidth;

// Smaller letters first; then less, what matters least first, and how much that is.
function fit(part) {
  const ranked = [...part.querySelectorAll("[data-rank]")];
  const notes = [...part.querySelectorAll(".more")];
  ranked.forEach((each) => { each.hidden = false; });
  notes.forEach((note) => { note.hidden = true; });
  part.style.fontSize = "";
  part.classList.remove("narrow");
  let size = parseFloat(getComputedStyle(part).fontSize);
  while (over(part) && size > LEAST) part.style.fontSize = `${size -= 1}px`;
  part.classList.toggle("narrow", part.scrollWidth > part.clientWidth); // words are parted
  const ranks = new Set(ranked.map((each) => Number(each.dataset.rank)));
  for (const rank of [...ranks].sort((one, other) => other - one)) {
    if (!over(part)) return;
    for (const each of ranked) if (Number(each.dataset.rank) === rank) each.hidden = true;
    for (const note of notes) {
      const left = note.parentElement.querySelectorAll("tr[hidden]").length;
      note.hidden = !left;
      note.textContent = note.dataset.more.replace("{count}", left);
    }
  }
}

let stage;
const observer = new MutationObserver(refit);

function refit() {
  const zoom = Math.min(window.innerWidth / WIDE, window.innerHeight / HIGH);
  stage.style.zoom = zoom;
  stage.style.setProperty("--zoom", zoom); // for what measures itself
  stage.querySelectorAll("[data-fit]").forEach(fit);
  observer.takeRecords(); // of what was done here
}

export default function ({ parentElement }) {
  const root = parentElement.host || parentElement;
  const found = root.closest(".st-key-projector");
  if (!found) return undefined; // on its way out
  stage = found;
  observer.observe(stage, { childList: true, characterData: true, subtree: true });
  window.addEventListener("resize", refit);
  document.fonts.ready.then(refit);
  refit();
  return () => {
    window.removeEventListener("resize", refit);
    observer.disconnect();
  };
}
