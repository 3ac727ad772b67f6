/** Arithmetic as NumPy and Python have it. */

/** To a whole number, halves to the even one. */
export function rint(value) {
  const whole = Math.round(value);
  return whole - value === 0.5 && whole % 2 !== 0 ? whole - 1 : whole;
}

/** Arrays of one type, one after another. */
export function joined(...parts) {
  const all = new parts[0].constructor(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
