/** The page: what is on it, and what it does when somebody touches it. */

import { save, srt, wav } from "./files.js";
import { Mirror } from "./mirror.js";
import { PACES } from "./pace.js";
import { now, Player } from "./player.js";
import { Speaker } from "./speaker.js";
import { duration, KINDS, Stats } from "./stats.js";
import { Stream } from "./stream.js";
import { Timeline } from "./timeline.js";

const EXAMPLE =
  "A language model writes one word after another, and most voices wait until a sentence is whole. " +
  "This one does not wait. It reads along, a word behind, and sounds as if it knew how the sentence ends. " +
  "Switch to reading by sentence, and count how long you sit in silence.";
const SHAPES = { play: "M6 4l10 6-10 6z", stop: "M5 5h10v10H5z" };
const IDLE_S = 60; // asked of the server between two texts
const TYPING_S = 4; // who typed so recently wants to see the caret, not the word that is heard

const get = (id) => document.getElementById(id);
const editor = get("editor");
const stats = new Stats();
const mirror = new Mirror(get("mirror"));
let speeds = {};
let pasted = false;
let typedAt = -Infinity;
let frame = 0;

const player = new Player((kind) => {
  if (kind === "dry") speaker.dry();
  wake();
});
const stream = new Stream(
  {
    created: (message) => offer(message),
    audio: (header, samples) => speaker.audio(header, samples),
    flushed: (message) => speaker.flushed(message),
    revised: (message) => speaker.revised(message),
    failed: (message) => speaker.failed(message),
    lost: (sentence) => speaker.lost(sentence),
  },
  { prepare, askKey },
);
const speaker = new Speaker(stream, player, {
  changed: () => wake(),
  heard: (word) => {
    if (word.typed === null) return;
    stats.add(word.mode, "ready", word.ready - word.typed);
    if (word.heard !== null) stats.add(word.mode, "heard", word.heard - word.typed);
  },
  first: (seconds, mode) => {
    stats.add(mode, "first", seconds);
    get("latest").textContent = `first audio after ${duration(seconds)}`;
  },
  gap: (mode) => stats.gap(mode),
  stopped: (heard, ready) => {
    get("latest").textContent = "";
    say(`Silent after ${heard} ${heard === 1 ? "word" : "words"}; ${ready - heard} more were ready`);
  },
  problem: (sentence) => {
    get("problem").textContent = sentence;
  },
});
const timeline = new Timeline(get("timeline"), speaker, player);

// Settings.

/** What the server shall do for what is spoken from now on; the sound must be ready to say at which rate. */
async function prepare() {
  await player.open();
  return session();
}

function session() {
  return {
    voice: get("voice").value || null,
    policy: speaker.mode === "sentence" ? "wait-all" : get("lookahead").value || null,
    speed: Number(get("speed").value),
    sample_rate: player.rate,
    idle_s: IDLE_S,
    // Whole sentences wait for their end, however long the typist thinks.
    breath_s: speaker.mode === "sentence" ? 0 : null,
  };
}

/** The server tells what it has. */
function offer({ voice, voices, speeds: ranges }) {
  speeds = ranges ?? {};
  const select = get("voice");
  const chosen = voices.includes(select.value) ? select.value : voice;
  select.replaceChildren(...voices.map((name) => new Option(name, name, name === voice, name === chosen)));
  range();
}

/** The speeds that the voice can do. */
function range() {
  const [least, most] = speeds[get("voice").value] ?? [0.5, 2];
  const speed = get("speed");
  Object.assign(speed, { min: least, max: most, disabled: least === most });
  get("pacing").textContent = Number(speed.value).toFixed(2);
}

function choose() {
  range();
  get("problem").textContent = "";
  stream.choose(session());
  const { value } = get("lookahead");
  speaker.lookahead = value === "learned" ? 3 : Number(value.split("=")[1] ?? 1);
  speaker.again();
}

get("voice").addEventListener("change", () => {
  // Not every voice has the same ways.
  get("lookahead").value = "";
});
for (const id of ["voice", "lookahead", "speed"]) get(id).addEventListener("change", choose);
get("speed").addEventListener("input", range);
get("mode").addEventListener("change", ({ target }) => {
  const plays = speaker.feeder !== null || player.sounding;
  speaker.mode = target.value;
  choose();
  // The difference is heard from the beginning.
  if (plays && speaker.text.trim()) speaker.play();
});
get("pace").replaceChildren(...Object.entries(PACES).map(([id, { name }]) => new Option(name, id)));
get("pace").addEventListener("change", ({ target }) => {
  speaker.pace = target.value;
});

/** A key of the person's, or null; `again` where the last one was wrong. */
function askKey(again) {
  const dialog = get("ask");
  get("ask-text").textContent = again
    ? "That key was not right. This server speaks only to those who have one."
    : "This server speaks only to those who have one.";
  get("key").value = "";
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue ? get("key").value : null), { once: true });
  });
}

// Typing, playing, stopping.

editor.addEventListener("beforeinput", ({ inputType }) => {
  pasted = inputType === "insertFromPaste" || inputType === "insertFromDrop";
});
editor.addEventListener("input", () => {
  get("problem").textContent = "";
  say("");
  player.open();
  typedAt = pasted ? -Infinity : now();
  speaker.edit(editor.value, { pasted });
  pasted = false;
  // The mirror gives the editor its height, before the browser looks for the caret.
  look();
  editor.scrollTop = 0;
});
for (const kind of ["keydown", "pointerdown"]) {
  document.addEventListener(kind, () => {
    // Only now browsers let a page sound; and the first word shall not wait for a connection.
    player.open();
    if (!stream.refused) stream.connect();
  }, { capture: true });
}

function play() {
  get("problem").textContent = "";
  say("");
  if (!editor.value.trim()) editor.value = EXAMPLE;
  speaker.text = editor.value;
  player.open();
  speaker.play();
}

get("play").addEventListener("click", () => {
  if (speaker.busy) speaker.stop();
  else play();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && speaker.busy && !get("ask").open) speaker.stop();
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    play();
  }
});

get("wav").addEventListener("click", () => save(wav(player.samples(), player.rate), "sayahead.wav"));
get("srt").addEventListener("click", () => save(srt(speaker.words, player.rate), "sayahead.srt"));
get("reset").addEventListener("click", () => {
  stats.clear();
  wake();
});

// What is seen.

function say(sentence) {
  if (get("status").textContent !== sentence) get("status").textContent = sentence;
}

/** Draw soon. */
function wake() {
  frame ||= requestAnimationFrame(look);
}

function look() {
  cancelAnimationFrame(frame);
  frame = 0;
  speaker.follow();
  const { busy } = speaker;
  const current = speaker.current;
  mirror.show(editor.value, (start, end) => speaker.state(start, end, current));
  follow();
  if (busy) timeline.draw(now());
  show(busy);
  if (busy) wake();
}

/** Keep the word that is heard in sight, unless the person types. */
function follow() {
  const node = mirror.spoken;
  const box = editor.parentElement;
  if (!node || now() - typedAt < TYPING_S) return;
  const top = node.offsetTop - box.offsetTop;
  if (top < box.scrollTop || top + 2 * node.offsetHeight > box.scrollTop + box.clientHeight) {
    box.scrollTop = top - box.clientHeight / 3;
  }
}

function show(busy) {
  const verb = busy ? "Stop" : editor.value.trim() ? "Play" : "Play an example";
  if (get("verb").textContent !== verb) {
    get("verb").textContent = verb;
    get("shape").setAttribute("d", busy ? SHAPES.stop : SHAPES.play);
  }
  get("play").style.setProperty("--level", busy ? player.level().toFixed(2) : 0);
  get("wav").disabled = get("srt").disabled = player.pushed === 0;
  if (busy && player.blocked) say("Tap or press a key to hear it");
  else if (busy && get("status").textContent.startsWith("Tap")) say("");
  for (const kind of KINDS) fill(kind, ["incremental", "sentence"].flatMap((mode) => [
    duration(stats.quantile(mode, kind, 0.5)), duration(stats.quantile(mode, kind, 0.95)),
  ]));
  fill("gaps", ["incremental", "sentence"].map((mode) => (stats.modes[mode].first.length ? stats.modes[mode].gaps : "–")));
  Object.assign(document.body.dataset, { busy, way: player.way });
  get("note").hidden = player.way !== "scheduled";
}

function fill(id, values) {
  [...get(id).querySelectorAll("td")].forEach((cell, i) => {
    if (cell.textContent !== String(values[i])) cell.textContent = values[i];
  });
}

// Frames stop where the page is not seen; the speech does not.
setInterval(() => document.hidden && speaker.busy && speaker.follow(), 500);
// Where a key is needed, it is asked for before anybody types.
stream.knock().catch(({ message }) => {
  get("problem").textContent = message;
});
wake();
