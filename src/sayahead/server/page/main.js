/** The page: what is on it, and what it does when somebody touches it. */

import { save, srt, wav } from "./files.js";
import { Mirror } from "./mirror.js";
import { PACES } from "./pace.js";
import { now, Player } from "./player.js";
import { Race } from "./race.js";
import { Speaker } from "./speaker.js";
import { duration, KINDS, MODES, Stats } from "./stats.js";
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
const last = new Stats(); // of the last text alone
const mirror = new Mirror(get("mirror"));
let voices = {}; // what the server says of them
let pasted = false;
let typedAt = -Infinity;
let frame = 0;
let loading = null; // {name, over: a promise, end(message)}: the voice that the server loads

const player = new Player((kind) => {
  if (kind === "dry") speaker.dry();
  wake();
});
const stream = new Stream(
  {
    created: (message) => offer(message),
    opened: () => load(),
    audio: (header, samples) => {
      if (header.context_id.startsWith("race")) race.audio(header, samples);
      else speaker.audio(header, samples);
    },
    flushed: (message) => speaker.flushed(message),
    revised: (message) => speaker.revised(message),
    done: (message) => {
      race.done(message);
      loading?.end(message);
    },
    failed: (message) => {
      race.failed(message);
      loading?.end(message);
      speaker.failed(message);
    },
    lost: (sentence) => {
      loading?.end({ context_id: null });
      race.lost(sentence);
      speaker.lost(sentence);
    },
  },
  { prepare, askKey },
);
const speaker = new Speaker(stream, player, {
  opens: (typed) => {
    const { mode } = speaker;
    stream.choose(() => {
      const way = policy(typed);
      speaker.lookahead = way === "learned" ? 3 : Number(way?.split("=")[1] ?? 1);
      return session(mode, typed);
    });
  },
  begun: () => last.clear(),
  changed: () => wake(),
  heard: (word) => {
    if (word.typed === null) return;
    for (const each of [stats, last]) {
      each.add(word.mode, "ready", word.ready - word.typed);
      if (word.heard !== null) each.add(word.mode, "heard", word.heard - word.typed);
    }
  },
  first: (seconds, mode) => {
    for (const each of [stats, last]) each.add(mode, "first", seconds);
  },
  gap: (mode) => {
    for (const each of [stats, last]) each.gap(mode);
  },
  stopped: (heard, ready) => say(`Stopped: you heard ${heard} ${heard === 1 ? "word" : "words"}; ${ready - heard} more were ready`),
  problem: (sentence) => {
    get("problem").textContent = sentence;
  },
});
const timeline = new Timeline(get("timeline"), speaker, player);
const race = new Race(stream, { words: get("by-word"), sentences: get("by-sentence") }, {
  changed: () => wake(),
  settings: (mode) => session(mode),
  ready: () => load(),
  problem: (sentence) => {
    get("problem").textContent = sentence;
  },
});

// Settings.

/** What the server shall do for what is spoken from now on; the sound must be ready to say at which rate. */
async function prepare() {
  await player.open();
  return session();
}

/** The chosen lookahead; without one, who types hears a word when it is finished, not when the next one is. */
function policy(typed) {
  const atOnce = typed && voices[get("voice").value]?.unit === "words";
  return get("lookahead").value || (atOnce ? "lookahead:k=0" : null);
}

function session(mode = speaker.mode, typed = false) {
  return {
    voice: get("voice").value || null,
    policy: mode === "sentence" ? "wait-all" : policy(typed),
    speed: Number(get("speed").value),
    sample_rate: player.rate,
    idle_s: IDLE_S,
    // Whole sentences wait for their end, however long the typist thinks.
    breath_s: mode === "sentence" ? 0 : null,
  };
}

/** The server tells what it has. */
function offer({ voice, voices: names, speeds, units, descriptions, loaded }) {
  voices = Object.fromEntries(names.map((name) => [name, {
    speeds: speeds[name], unit: units[name], description: descriptions[name], loaded: loaded.includes(name),
  }]));
  const select = get("voice");
  const chosen = names.includes(select.value) ? select.value : voice;
  select.replaceChildren(...names.map((name) => new Option(name, name, name === voice, name === chosen)));
  limit();
  if (stream.connected) load();
}

/** Let the voice be loaded, if it is not; resolves when it is. */
async function load() {
  await stream.connect();
  const name = get("voice").value;
  const voice = voices[name];
  if (!voice || voice.loaded || !stream.connected) return;
  if (loading?.name !== name) {
    const id = `load-${name}`;
    const begun = deferred();
    const timer = setTimeout(() => say(`Loading the voice ${name}…`), 300);
    loading = {
      name,
      over: begun.promise,
      end({ context_id: context }) {
        if (context !== id && context !== null) return;
        clearTimeout(timer);
        if (get("status").textContent.startsWith("Loading")) say("");
        voice.loaded = context === id;
        loading = null;
        begun.resolve();
      },
    };
    // A text without words loads the voice.
    stream.end(id);
  }
  await loading.over;
}

function deferred() {
  const found = {};
  found.promise = new Promise((resolve) => {
    found.resolve = resolve;
  });
  return found;
}

/** What the voice has to choose from, and why it has no more. */
function limit() {
  const name = get("voice").value;
  const { speeds: [least, most], unit, description } = voices[name] ?? { speeds: [0.5, 2] };
  const speed = get("speed");
  Object.assign(speed, { min: least, max: most, disabled: least === most });
  get("pacing").textContent = Number(speed.value).toFixed(2);
  const characters = unit === "characters";
  get("lookahead").disabled = characters;
  const hints = [];
  if (description) hints.push(`${name}: ${description}.`);
  if (characters) hints.push("It reads letters instead of words and has learned when to speak, so there is no lookahead to choose.");
  if (least === most) hints.push("It has one speed.");
  get("hint").textContent = hints.join(" ");
}

function choose() {
  limit();
  get("problem").textContent = "";
  stream.choose(session);
  if (stream.connected) load();
  speaker.again();
}

get("voice").addEventListener("change", () => {
  // Not every voice has the same ways.
  get("lookahead").value = "";
});
for (const id of ["voice", "lookahead", "speed"]) get(id).addEventListener("change", choose);
get("speed").addEventListener("input", limit);
get("mode").addEventListener("change", ({ target }) => {
  const plays = speaker.feeder !== null || player.sounding;
  speaker.mode = target.value;
  choose();
  // The difference is heard from the beginning.
  if (plays && speaker.text.trim()) speaker.play();
});
for (const [id, first] of [["pace", "fast"], ["race-pace", "talk"]]) {
  const paces = Object.entries(PACES).filter(([key]) => id === "pace" || key !== "once");
  get(id).replaceChildren(...paces.map(([key, { name }]) => new Option(name, key, key === first, key === first)));
}
get("pace").addEventListener("change", ({ target }) => {
  speaker.pace = target.value;
});

/** A key of the person's, or null; `again` where the last one was wrong. */
function askKey(again) {
  const dialog = get("ask");
  get("ask-text").textContent = again
    ? "That key was not accepted. Try another."
    : "Enter one to connect.";
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
  quiet();
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

/** The race makes way for a text. */
function quiet() {
  if (race.busy) race.stop();
}

function play() {
  quiet();
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
  if (event.key === "Escape" && !get("ask").open) {
    quiet();
    if (speaker.busy) speaker.stop();
  }
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    play();
  }
});

get("go").addEventListener("click", () => {
  if (speaker.busy) speaker.stop();
  get("problem").textContent = "";
  say("");
  if (race.busy) race.stop();
  else race.start(get("race-pace").value);
});

get("wav").addEventListener("click", () => save(wav(player.samples(), player.rate), "sayahead.wav"));
get("srt").addEventListener("click", () => save(srt(speaker.words, player.rate), "sayahead.srt"));
get("reset").addEventListener("click", () => {
  stats.clear();
  wake();
});

// What is seen.

function say(sentence) {
  write(get("status"), sentence);
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
  race.look();
  const racing = race.busy;
  write(get("go").lastElementChild, racing ? "Stop" : "Race");
  get("go").querySelector("path").setAttribute("d", racing ? SHAPES.stop : SHAPES.play);
  write(get("verdict"), race.verdict);
  document.body.dataset.racing = racing;
  if (busy || racing) wake();
}

function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
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
  for (const kind of KINDS) fill(kind, MODES.flatMap((mode) => [
    duration(stats.quantile(mode, kind, 0.5)), duration(stats.quantile(mode, kind, 0.95)),
  ]));
  fill("gaps", MODES.map((mode) => (stats.modes[mode].first.length ? stats.modes[mode].gaps : "–")));
  // A text that was switched between the modes began in the other one.
  const mode = last.modes[speaker.mode].first.length ? speaker.mode : MODES.find((each) => last.modes[each].first.length);
  write(get("last-first"), duration(mode ? last.modes[mode].first.at(-1) : null));
  write(get("last-heard"), duration(mode ? last.quantile(mode, "heard", 0.5) : null));
  write(get("last-gaps"), mode ? String(last.modes[mode].gaps) : "–");
  Object.assign(document.body.dataset, { busy, way: player.way });
  if (speaker.words.length) {
    for (const each of document.querySelectorAll(".last, .time, .numbers")) each.hidden = false;
  }
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
// A keyboard can be typed on at once; a screen keyboard would hide the headline.
if (matchMedia("(hover: hover)").matches) editor.focus({ preventScroll: true });
wake();
