/** The sheet of text, with its button, keys and files: what is typed and played on it, and what is seen of that. */

import { save, srt, wav } from "./files.js";
import { linked, share } from "./link.js";
import { Mirror } from "./mirror.js";
import { wordStart } from "./places.js";
import { now } from "./player.js";
import { duration, MODES } from "./stats.js";
import { Timeline } from "./timeline.js";

const MAX_UNREAD = 5;
export const SHAPES = { play: "M6 4l10 6-10 6z", stop: "M5 5h10v10H5z" };

export const get = (id) => document.getElementById(id);

export function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** What goes on. */
export function say(sentence) {
  write(get("status"), sentence);
}

/** What went wrong. */
export function tell(sentence) {
  write(get("problem"), sentence);
}

export class Sheet {
  /**
   * `last`: Stats of the last text alone. `page`: example, a text; clear(): what was said goes, before a text is typed
   * or played; open(): it shall be able to sound; chosen(): another mode was; escape(); draw(busy): what else is seen,
   * and tells whether some of that moves; settings() that a link has beside the text, and linked(settings) of one.
   */
  constructor(speaker, player, last, page) {
    Object.assign(this, { speaker, player, last, page });
    this.editor = get("editor");
    this.mirror = new Mirror(get("mirror"));
    this.timeline = new Timeline(get("timeline"), speaker, player);
    this.pasted = false;
    this.typedAt = -Infinity;
    this.frame = 0;
    this.listen();
    // Frames stop where the page is not seen; the speech does not.
    setInterval(() => document.hidden && speaker.busy && speaker.follow(), 500);
  }

  /** Hear what a person does. */
  listen() {
    const { editor, speaker, player } = this;
    editor.addEventListener("beforeinput", ({ inputType }) => {
      this.pasted = inputType === "insertFromPaste" || inputType === "insertFromDrop";
    });
    editor.addEventListener("input", () => this.type());
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.page.escape();
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        this.play();
      }
    });
    get("play").addEventListener("click", () => {
      if (speaker.busy) speaker.stop();
      else this.play();
    });
    get("mode").addEventListener("change", ({ target }) => this.turn(target.value));
    get("pace").addEventListener("change", ({ target }) => {
      speaker.pace = target.value;
    });
    get("share").addEventListener("click", () => this.share());
    addEventListener("hashchange", () => this.read());
    get("wav").addEventListener("click", () => save(wav(player.samples(), player.rate), "sayahead.wav"));
    get("srt").addEventListener("click", () => save(srt(speaker.words, player.rate, { spoken: get("spoken").checked }), "sayahead.srt"));
  }

  type() {
    const { editor, page, pasted } = this;
    page.clear();
    page.open();
    this.typedAt = pasted ? -Infinity : now();
    this.speaker.edit(editor.value, { pasted });
    this.pasted = false;
    // The mirror gives the editor its height, before the browser looks for the caret.
    this.look();
    editor.scrollTop = 0;
  }

  play() {
    const { editor, page, speaker } = this;
    page.clear();
    if (!editor.value.trim()) editor.value = page.example;
    speaker.text = editor.value;
    page.open();
    speaker.play();
  }

  /** Put the text into a link. */
  async share() {
    const text = this.editor.value.trim() || this.page.example;
    const copied = await share({ text, ...this.page.settings() });
    say(`${copied ? "The link is on the clipboard" : "The link is in the address bar"}. It has the text itself; no server keeps it.`);
  }

  /** Take the text of the address, if it has one; nothing sounds before somebody wants it to. */
  read() {
    const { text, ...settings } = linked();
    if (!text) return;
    this.page.clear();
    this.editor.value = text;
    this.speaker.put(text);
    this.page.linked(settings);
    say("This text came with the link.");
    this.wake();
  }

  /**
   * Write `before` what is selected, and `after` behind it, as keys would. Where nothing is, `before` alone is written; marks
   * that touch a word go around the one at the caret.
   */
  write(before, after) {
    const { editor } = this;
    const { value } = editor;
    let { selectionStart: start, selectionEnd: end } = editor;
    if (start === end && !before.endsWith(" ")) {
      start = wordStart(value, start);
      end += value.slice(end).search(/\s|$/);
      if (start === end) return;
    }
    const chosen = value.slice(start, end).trim();
    if (chosen) {
      start = value.indexOf(chosen, start);
      end = start + chosen.length;
    }
    const blank = start > 0 && !/\s/.test(value[start - 1]) ? " " : "";
    editor.focus();
    editor.setSelectionRange(start, end);
    // Unlike a new value, this can be undone.
    document.execCommand("insertText", false, blank + before + chosen + (chosen ? after : ""));
  }

  /** Read in another mode. */
  turn(mode) {
    const { speaker } = this;
    const plays = speaker.feeder !== null || this.player.sounding;
    speaker.mode = mode;
    this.page.chosen();
    // The difference is heard from the beginning.
    if (plays && speaker.text.trim()) speaker.play();
  }

  /** What a person who stopped it has missed. */
  stopped(heard, ready) {
    const more = ready - heard;
    const rest = more > 0 ? `; ${more} more ${more === 1 ? "was" : "were"} ready` : "";
    say(`Stopped: you heard ${heard} ${heard === 1 ? "word" : "words"}${rest}.`);
  }

  /** Draw soon. */
  wake() {
    this.frame ||= requestAnimationFrame(() => this.look());
  }

  look() {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    const { speaker } = this;
    speaker.follow();
    const { busy, current } = speaker;
    this.mirror.show(this.editor.value, (start, end) => speaker.state(start, end, current));
    if (busy) this.timeline.draw(now());
    this.show(busy);
    if (this.page.draw(busy) || busy) this.wake();
  }

  show(busy) {
    const { speaker, player, last } = this;
    const verb = busy ? "Stop" : this.editor.value.trim() ? "Play" : "Play an example";
    if (get("verb").textContent !== verb) {
      get("verb").textContent = verb;
      get("shape").setAttribute("d", busy ? SHAPES.stop : SHAPES.play);
    }
    get("play").style.setProperty("--level", busy ? player.level().toFixed(2) : 0);
    get("wav").disabled = get("srt").disabled = player.pushed === 0;
    write(get("unread"), this.unread());
    // A text that was switched between the modes began in the other one.
    const mode = last.modes[speaker.mode].first.length ? speaker.mode : MODES.find((each) => last.modes[each].first.length);
    write(get("last-first"), duration(mode ? last.modes[mode].first.at(-1) : null));
    write(get("last-ready"), duration(mode ? last.quantile(mode, "ready", 0.5) : null));
    write(get("last-gaps"), mode ? String(last.modes[mode].gaps) : "–");
    Object.assign(document.body.dataset, { busy, way: player.way });
    if (speaker.words.length) {
      for (const each of document.querySelectorAll(".last, .time, .numbers")) each.hidden = false;
    }
  }

  /** What of the text the voice cannot read, as a sentence. */
  unread() {
    const parts = this.speaker.unread.map(([start, end]) => this.editor.value.slice(start, end).trim());
    const found = [...new Set(parts)].filter(Boolean);
    if (!found.length) return "";
    const more = found.length > MAX_UNREAD ? `, and ${found.length - MAX_UNREAD} more` : "";
    const quoted = found.slice(0, MAX_UNREAD).map((each) => `“${each.slice(0, 40)}”`).join(", ");
    return `Not read, because this voice has no sounds for it: ${quoted}${more}.`;
  }

  /** A keyboard can be typed on at once; a screen keyboard would hide the headline. */
  focus() {
    if (matchMedia("(hover: hover)").matches) this.editor.focus({ preventScroll: true });
  }
}
