/** The text as it is seen: the same letters as the editor's, which are transparent, each word in its state. */

export class Mirror {
  constructor(element) {
    this.element = element;
    this.tokens = []; // {text, start, node, state}
  }

  /** Show `text`; `state(start, end)` tells the state of a word. */
  show(text, state) {
    const pieces = text.match(/\s+|\S+/g) ?? [];
    const { tokens } = this;
    let same = 0;
    while (same < tokens.length && same < pieces.length && tokens[same].text === pieces[same]) same++;
    let rest = 0;
    const most = Math.min(tokens.length, pieces.length) - same;
    while (rest < most && tokens.at(-1 - rest).text === pieces.at(-1 - rest)) rest++;
    if (same < tokens.length || same < pieces.length) {
      const gone = tokens.slice(same, tokens.length - rest);
      const made = pieces.slice(same, pieces.length - rest).map((piece) => this.make(piece));
      const before = tokens[tokens.length - rest]?.node ?? null;
      for (const token of gone) token.node.remove();
      for (const token of made) this.element.insertBefore(token.node, before);
      tokens.splice(same, gone.length, ...made);
    }
    let at = 0;
    for (const token of tokens) {
      const end = at + token.text.length;
      if (token.node.nodeType === Node.ELEMENT_NODE) {
        const next = state(at, end);
        if (next !== token.state) {
          token.state = next;
          token.node.className = next;
        }
      }
      at = end;
    }
  }

  make(text) {
    if (!text.trim()) return { text, node: document.createTextNode(text), state: "" };
    const node = document.createElement("span");
    node.textContent = text;
    return { text, node, state: "" };
  }

  /** The word that is heard, as an element, or null. */
  get spoken() {
    return this.tokens.find((token) => token.state === "now")?.node ?? null;
  }
}
