/** How fast a text arrives: in pieces, as a language model or a typist would send it. */

/** id: {name, next(text, at): end of the next piece, gapS(piece): seconds before the piece after it}. */
export const PACES = {
  fast: { name: "a language model, 50 tokens/s", next: token, gapS: () => 1 / 50 },
  slow: { name: "a slow language model, 15 tokens/s", next: token, gapS: () => 1 / 15 },
  talk: { name: "a person talking, 180 words/min", next: letter, gapS: () => 60 / 180 / 6 },
  typist: { name: "a typist, 60 words/min", next: letter, gapS: () => 60 / 60 / 6 },
  once: { name: "all at once", next: (text, at) => Math.min(text.length, at + 1000), gapS: () => 0 },
};

/** End of a token that begins at `at`: a short word with its blank, or four or five letters of a long one. */
export function token(text, at) {
  const [piece] = /^\s*(?:[\p{L}\p{M}]{1,7}(?![\p{L}\p{M}])|[\p{L}\p{M}]{4}|\p{N}{1,3}|\S|$)/u.exec(text.slice(at, at + 64));
  return at + (piece.length || 1);
}

/** End of one character that begins at `at`. */
export function letter(text, at) {
  return at + (text.codePointAt(at) > 0xffff ? 2 : 1);
}

const TICK_MS = 5;

/** Calls `step()` for each piece when it is due; `step` returns the piece's gap, 0 to go on at once, or null at the end. */
export class Feeder {
  constructor(step) {
    this.step = step;
    this.due = performance.now();
    this.timer = setInterval(() => this.tick(), TICK_MS);
  }

  tick() {
    for (let budget = 200; budget > 0 && performance.now() >= this.due; budget--) {
      const gapS = this.step();
      if (gapS === null) return;
      this.due += gapS * 1000;
    }
  }

  stop() {
    clearInterval(this.timer);
  }
}
