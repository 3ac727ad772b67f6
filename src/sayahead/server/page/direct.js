/** Directions in the text: who speaks, and how. Buttons that write them, and examples that have them. */

const STYLES = [
  "normal", "whisper", "soft", "excited", "tired", "sarcastic", "shout", "fast", "slow", "loud", "quiet", "high", "deep", "monotone",
];
const PAUSES = ["short pause", "pause", "long pause"];
const PARTNERS = ["am_michael", "heart", "heart-low"]; // who answers first, of those that are there
const MOST = 12; // speakers with a button

/** The examples by name; `answers`: another voice, or undefined. */
export function examples(voice, answers) {
  const dialogue = answers && [
    `[voice:${voice}] Good morning! Did you sleep well?`,
    `[voice:${answers}] Hardly. The neighbors had a party until three.`,
    `[voice:${voice}] Until three? On a Tuesday?`,
    `[voice:${answers}] [whisper] Between you and me: I was invited.`,
  ];
  const told = {
    "A dialogue": dialogue?.join("\n"),
    Styles:
      "This is how I usually speak. [whisper] This is a secret. [excited] This is the best news of the week! " +
      "[tired] And this is me when the day is over. [normal] All of that was one voice.",
    "Stress and pauses":
      "I asked for *three* chairs, not two. [pause] We also need a hammer, a ladder, and a rope. [long pause] " +
      "The code is [slow] 4 0 7 1. [normal] Did you write it down?",
  };
  return Object.entries(told).filter(([, text]) => text);
}

/** Voices that may speak in one text with `name`, it among them; `voices` by name. */
export function company(voices, name) {
  const chosen = voices[name];
  if (chosen?.unit !== "words") return [];
  const same = ["unit", "language", "sample_rate"];
  const fits = (row) => same.every((key) => row[key] === chosen[key]) && !row.research;
  return Object.values(voices).filter(fits).map((row) => row.name);
}

export class Directions {
  /** `page`: speaks(), the names of the voices that may; voice(), the name of the chosen one; play(text); write(before, after). */
  constructor({ examples: shelf, speakers, styles, pauses, stress }, page) {
    Object.assign(this, { shelf, speakers, page });
    styles.append(...STYLES.map((style) => this.button(style, () => page.write(`[${style}] `, style === "normal" ? "" : " [normal]"))));
    pauses.append(...PAUSES.map((pause) => this.button(pause, () => page.write(`[${pause}] `, ""))));
    stress.append(this.button("*stress*", () => page.write("*", "*")));
  }

  /** Offer what there is, once voices are known or another was chosen. */
  look() {
    const { page } = this;
    const voice = page.voice();
    const names = page.speaks();
    const answers = PARTNERS.filter((name) => names.includes(name)).concat(names).find((name) => name !== voice);
    this.shelf.replaceChildren(
      ...examples(voice, answers).map(([name, text]) => this.button(name, () => page.play(text))),
    );
    this.speakers.parentElement.hidden = !answers;
    this.speakers.replaceChildren(
      ...names.slice(0, MOST).map((name) => this.button(name, () => page.write(`[voice:${name}] `, " [/voice]"))),
    );
  }

  button(name, press) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = name;
    button.addEventListener("click", press);
    return button;
  }
}
