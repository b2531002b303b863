// Keeps, in this tab alone, the word that names its work on the server, so that a reload finds it.
const KEY = "kanon-desk";

// A browser may forbid a page to keep anything: then a reload starts anew.
const kept = (action) => {
  try {
    return action(window.sessionStorage);
  } catch {
    return null;
  }
};

// Streamlit keeps the theme that was chosen for one page alone, so that a reload of another loses it:
// the choice that was made last is that of all pages.
const THEME = /^stActiveTheme-(.*)(-v\d+)$/;
let themes = null;

const shareTheme = () => {
  try {
    const storage = window.localStorage;
    const found = Object.fromEntries(Object.entries(storage).filter(([key]) => THEME.test(key)));
    const changed = Object.keys(found).find((key) => themes && found[key] !== themes[key]);
    if (changed) {
      const links = document.querySelectorAll('[data-testid="stSidebarNavLink"]');
      const paths = [...links].map((link) => new URL(link.href).pathname);
      const version = THEME.exec(changed)[2];
      for (const key of [...Object.keys(found), ...paths.map((to) => `stActiveTheme-${to}${version}`)]) {
        storage.setItem(key, found[changed]);
        found[key] = found[changed];
      }
    }
    themes = found;
  } catch {
    // A browser may forbid a page to keep anything.
  }
};
window.addEventListener("pagehide", shareTheme);

export default function ({ data, setTriggerValue }) {
  shareTheme();
  if (data.forgotten) {
    kept((storage) => storage.removeItem(KEY));
    window.location.reload();
    return;
  }
  const before = kept((storage) => storage.getItem(KEY));
  if (before === data.token) return;
  if (!data.settled && (before || data.waiting)) {
    setTriggerValue("before", before ?? "");
  } else {
    kept((storage) => storage.setItem(KEY, data.token));
  }
}
