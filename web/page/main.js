/** The page: what is on it, and what it does when somebody touches it. */

import { save, srt, wav } from "./files.js";
import { Mirror } from "./mirror.js";
import { PACES } from "./pace.js";
import { now, Player } from "./player.js";
import { Speaker } from "./speaker.js";
import { duration, MODES, Stats } from "./stats.js";
import { Stream } from "./stream.js";
import { Timeline } from "./timeline.js";

const EXAMPLE =
  "This voice runs in your browser. Nothing that you type leaves this page. " +
  "It reads along, a word behind, and sounds as if it knew how the sentence ends.";
const SHAPES = { play: "M6 4l10 6-10 6z", stop: "M5 5h10v10H5z" };
const LOADED = "loaded"; // a context without text: it is over when the voice is there
const MEGA = 1e6;

const get = (id) => document.getElementById(id);
const editor = get("editor");
const last = new Stats(); // of the last text
const mirror = new Mirror(get("mirror"));
const bytes = Number(document.body.dataset.bytes);
let pasted = false;
let frame = 0;

const player = new Player((kind) => {
  if (kind === "dry") speaker.dry();
  wake();
});
const stream = new Stream({
  loading: (arrived) => say(`Loading the voice: ${Math.round(arrived / MEGA)} of ${Math.round(bytes / MEGA)} MB`),
  starting: () => say("Starting the voice…"),
  audio: (header, samples) => speaker.audio(header, samples),
  flushed: (message) => speaker.flushed(message),
  revised: (message) => speaker.revised(message),
  done: ({ context_id: id }) => {
    if (id === LOADED) here();
  },
  failed: (message) => {
    if (message.context_id === LOADED) none(message.message);
    else speaker.failed(message);
  },
  lost: (sentence) => {
    speaker.lost(sentence);
    none(sentence);
  },
});
const speaker = new Speaker(stream, player, {
  opens: (typed) => choose(typed),
  begun: () => last.clear(),
  changed: () => wake(),
  heard: (word) => {
    if (word.typed !== null && word.heard !== null) last.add(word.mode, "heard", word.heard - word.typed);
  },
  first: (seconds, mode) => last.add(mode, "first", seconds),
  gap: (mode) => last.gap(mode),
  stopped: (heard, ready) => say(`Stopped: you heard ${heard} ${heard === 1 ? "word" : "words"}; ${ready - heard} more were ready`),
  problem: (sentence) => tell(sentence),
});
const timeline = new Timeline(get("timeline"), speaker, player);

/** The voice is loaded. */
function here() {
  document.body.dataset.voice = "here";
  say(`The voice is here: ${duration(performance.now() / 1000)} after the page was opened`);
}

/** It never will be. */
function none(why) {
  say("");
  tell(`There is no voice: ${why}`);
}

// Settings.

/** For the contexts that begin later; who types hears a word when it is finished, unless another lookahead is chosen. */
function choose(typed = false) {
  const way = get("lookahead").value || (typed ? "lookahead:k=0" : null);
  get("pacing").textContent = Number(get("speed").value).toFixed(2);
  speaker.lookahead = way === "learned" ? 3 : Number(way?.split("=")[1] ?? 1);
  stream.choose(() => ({
    voice: get("voice").value,
    policy: speaker.mode === "sentence" ? "wait-all" : way,
    speed: Number(get("speed").value),
    sample_rate: player.rate,
  }));
}

for (const id of ["voice", "lookahead", "speed"]) {
  get(id).addEventListener("change", () => {
    choose();
    speaker.again();
  });
}
get("speed").addEventListener("input", () => {
  get("pacing").textContent = Number(get("speed").value).toFixed(2);
});
get("mode").addEventListener("change", ({ target }) => {
  const plays = speaker.feeder !== null || player.sounding;
  speaker.mode = target.value;
  choose();
  speaker.again();
  // The difference is heard from the beginning.
  if (plays && speaker.text.trim()) speaker.play();
});
get("pace").replaceChildren(...Object.entries(PACES).map(([key, { name }]) => new Option(name, key)));
get("pace").addEventListener("change", ({ target }) => {
  speaker.pace = target.value;
});

// Typing, playing, stopping.

/** Ready to sound, which browsers allow only after a gesture; at another rate than the voice's where they must. */
function open() {
  const rate = player.rate;
  player.open().then(() => {
    if (player.rate !== rate) choose();
  });
}

editor.addEventListener("beforeinput", ({ inputType }) => {
  pasted = inputType === "insertFromPaste" || inputType === "insertFromDrop";
});
editor.addEventListener("input", () => {
  tell("");
  open();
  speaker.edit(editor.value, { pasted });
  pasted = false;
  look();
  editor.scrollTop = 0;
});
for (const kind of ["keydown", "pointerdown"]) document.addEventListener(kind, open, { capture: true });

function play() {
  tell("");
  if (!editor.value.trim()) editor.value = EXAMPLE;
  speaker.text = editor.value;
  open();
  speaker.play();
}

get("play").addEventListener("click", () => {
  if (speaker.busy) speaker.stop();
  else play();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && speaker.busy) speaker.stop();
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    play();
  }
});
get("wav").addEventListener("click", () => save(wav(player.samples(), player.rate), "sayahead.wav"));
get("srt").addEventListener("click", () => save(srt(speaker.words, player.rate), "sayahead.srt"));

// What is seen.

function say(sentence) {
  write(get("status"), sentence);
}

function tell(sentence) {
  write(get("problem"), sentence);
}

/** Draw soon. */
function wake() {
  frame ||= requestAnimationFrame(look);
}

function look() {
  cancelAnimationFrame(frame);
  frame = 0;
  speaker.follow();
  const { busy, current } = speaker;
  mirror.show(editor.value, (start, end) => speaker.state(start, end, current));
  if (busy) timeline.draw(now());
  show(busy);
  if (busy) wake();
}

function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function show(busy) {
  write(get("verb"), busy ? "Stop" : editor.value.trim() ? "Play" : "Play an example");
  get("shape").setAttribute("d", busy ? SHAPES.stop : SHAPES.play);
  get("play").style.setProperty("--level", busy ? player.level().toFixed(2) : 0);
  get("wav").disabled = get("srt").disabled = player.pushed === 0;
  // A text that was switched between the modes began in the other one.
  const mode = last.modes[speaker.mode].first.length ? speaker.mode : MODES.find((each) => last.modes[each].first.length);
  write(get("last-first"), duration(mode ? last.modes[mode].first.at(-1) : null));
  write(get("last-heard"), duration(mode ? last.quantile(mode, "heard", 0.5) : null));
  write(get("last-gaps"), mode ? String(last.modes[mode].gaps) : "–");
  Object.assign(document.body.dataset, { busy, way: player.way });
  if (speaker.words.length) for (const each of document.querySelectorAll(".last, .time")) each.hidden = false;
}

// Frames stop where the page is not seen; the speech does not.
setInterval(() => document.hidden && speaker.busy && speaker.follow(), 500);
choose();
stream.end(LOADED);
// A keyboard can be typed on at once; a screen keyboard would hide the headline.
if (matchMedia("(hover: hover)").matches) editor.focus({ preventScroll: true });
wake();
