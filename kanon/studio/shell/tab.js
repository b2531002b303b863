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

export default function ({ data, setTriggerValue }) {
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
