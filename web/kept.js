// Values that the browser keeps for the next visit, by name. Without storage they last as long as the page.

const KEPT = "midrange ";
const unkept = new Map();

/** Returns a kept value, or `otherwise` if there is none. */
function recall(name, otherwise) {
  try {
    return JSON.parse(localStorage.getItem(KEPT + name)) ?? unkept.get(name) ?? otherwise;
  } catch {
    return unkept.get(name) ?? otherwise;
  }
}

function keep(name, value) {
  unkept.set(name, value);
  try {
    localStorage.setItem(KEPT + name, JSON.stringify(value));
  } catch {
    // Private windows and some settings have no storage.
  }
}
