/** A text and its settings in the page's own address, behind the "#": browsers send that part to nobody. */

/** What the address has: {text, voice, lookahead, speed}, each a string or undefined. */
export function linked() {
  return Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
}

/** Set elements of the page, by their ids, to what a link asks for, as far as they can be. */
export function put(ids, settings) {
  for (const id of ids) {
    const element = document.getElementById(id);
    const value = settings[id] ?? "";
    const known = element.options ? [...element.options].some((option) => option.value === value) : Number(value) > 0;
    if (value && known) element.value = value;
  }
}

/** Put a text and its settings into the address, and that on the clipboard; whether there is one. */
export async function share(values) {
  const given = Object.entries(values).filter(([, value]) => value);
  const address = new URL(`#${new URLSearchParams(given)}`, location.href);
  history.replaceState(null, "", address);
  try {
    await navigator.clipboard.writeText(address.href);
    return true;
  } catch {
    return false; // plain http from another machine
  }
}
