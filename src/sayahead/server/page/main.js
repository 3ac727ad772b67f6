/** The page: what is on it, and what it does when somebody touches it. */

import { Banner } from "./banner.js";
import { ClipDialog } from "./clip.js";
import { company, Directions } from "./direct.js";
import { put } from "./link.js";
import { PACES } from "./pace.js";
import { now, Player } from "./player.js";
import { Race } from "./race.js";
import { get, say, SHAPES, Sheet, tell, write } from "./sheet.js";
import { Speaker } from "./speaker.js";
import { duration, KINDS, MODES, Stats } from "./stats.js";
import { Stream } from "./stream.js";

const EXAMPLE =
  "A language model writes one word after another, and most voices wait until a sentence is whole. " +
  "This one does not wait. It reads along, a word behind, and sounds as if it knew how the sentence ends. " +
  "Switch to reading by sentence, and count how long you sit in silence.";
const IDLE_S = 60; // asked of the server between two texts
const SETTINGS = ["voice", "lookahead", "speed"];
const TYPING_S = 4; // who typed so recently wants to see the caret, not the word that is heard

const stats = new Stats();
const last = new Stats(); // of the last text alone
let voices = {}; // by name: {speeds, unit, description, research, loaded, language, sample_rate}
let wanted = null; // the voice of a link, until it is known whether it is there
let loading = null; // {name, over: a promise, end(message)}: the voice that the server loads

const player = new Player((kind) => {
  if (kind === "dry") speaker.dry();
  sheet.wake();
});
const stream = new Stream(
  {
    listed: (rows) => offer(rows.map(({ speed: speeds, ...row }) => ({ ...row, speeds }))),
    created: ({ voice, voices: names, speeds, units, descriptions, research, loaded }) => offer(names.map((name) => ({
      ...voices[name], name, speeds: speeds[name], unit: units[name], description: descriptions[name], default: name === voice,
      research: research.includes(name), loaded: loaded.includes(name),
    }))),
    opened: () => {
      if (banner.hide()) say("The server is back.");
      load();
    },
    audio: (header, samples) => {
      if (header.context_id.startsWith("race")) race.audio(header, samples);
      else speaker.audio(header, samples);
    },
    flushed: (message) => speaker.flushed(message),
    revised: (message) => speaker.revised(message),
    skipped: (message) => speaker.skipped(message),
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
      speaker.gone(sentence);
    },
    away: (sentence, waitS) => {
      race.lost(sentence);
      banner.show(sentence, waitS);
    },
    refused: (sentence) => {
      banner.hide();
      tell(sentence);
      speaker.refused(sentence);
    },
  },
  { prepare, askKey },
);
const banner = new Banner(() => stream.again());
const speaker = new Speaker(stream, player, {
  opens: () => {
    const { mode } = speaker;
    stream.choose(() => {
      const way = get("lookahead").value;
      speaker.lookahead = way === "learned" ? 3 : Number(way.split("=")[1] ?? 1);
      return session(mode);
    });
  },
  begun: () => last.clear(),
  changed: () => sheet.wake(),
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
  stopped: (heard, ready) => sheet.stopped(heard, ready),
  problem: (sentence) => tell(sentence),
});
const sheet = new Sheet(speaker, player, last, {
  example: EXAMPLE,
  clear: () => {
    tell("");
    say("");
    quiet();
  },
  open: () => player.open(),
  chosen: choose,
  escape: () => {
    if (get("ask").open || get("clip").open) return;
    quiet();
    if (speaker.busy) speaker.stop();
  },
  draw,
  settings: () => Object.fromEntries(SETTINGS.map((id) => [id, get(id).value])),
  linked: (settings) => {
    put(["lookahead", "speed"], settings);
    wanted = settings.voice ?? null;
    if (Object.keys(voices).length) offer(Object.values(voices));
    choose();
  },
});
const directions = new Directions(
  { examples: get("examples"), speakers: get("speakers"), styles: get("styles"), pauses: get("pauses"), stress: get("stress") },
  {
    voice: () => get("voice").value,
    speaks: () => company(voices, get("voice").value),
    play: (text) => {
      sheet.editor.value = text;
      sheet.play();
    },
    write: (before, after) => sheet.write(before, after),
  },
);
const race = new Race(stream, { words: get("by-word"), sentences: get("by-sentence") }, {
  changed: () => sheet.wake(),
  settings: (mode) => session(mode),
  ready: () => load(),
  problem: (sentence) => tell(sentence),
});

// Settings.

/** What the server shall do for what is spoken from now on; the sound must be ready to say at which rate. */
async function prepare() {
  await player.open();
  return session();
}

/** The same for a text that is typed and for one that is pasted: the same words, the same sound. */
function session(mode = speaker.mode) {
  return {
    voice: get("voice").value || null,
    policy: mode === "sentence" ? "wait-all" : get("lookahead").value || null,
    speed: Number(get("speed").value),
    sample_rate: player.rate,
    idle_s: IDLE_S,
    // Whole sentences wait for their end, however long the typist thinks.
    breath_s: mode === "sentence" ? 0 : null,
  };
}

/** The server tells what voices it has; those that reproduce papers come last. */
function offer(rows) {
  voices = Object.fromEntries(rows.map((row) => [row.name, row]));
  const select = get("voice");
  const first = rows.find((row) => row.default).name;
  if (wanted && !(wanted in voices)) tell(`The link asks for the voice ${wanted}, which this server does not have.`);
  const chosen = [wanted, select.value].find((name) => name in voices) ?? first;
  wanted = null;
  const options = (some) => some.map(({ name }) => new Option(name, name, name === first, name === chosen));
  const group = document.createElement("optgroup");
  group.label = "for research";
  group.append(...options(rows.filter((row) => row.research)));
  select.replaceChildren(...options(rows.filter((row) => !row.research)), ...(group.children.length ? [group] : []));
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
  if (description) hints.push(`${name}: ${description}${/[.!?]$/.test(description) ? "" : "."}`);
  if (characters) hints.push("It reads letters instead of words and has learned when to speak, so there is no lookahead to choose.");
  if (least === most) hints.push("It has one speed.");
  get("hint").textContent = hints.join(" ");
  directions.look();
}

function choose() {
  limit();
  tell("");
  stream.choose(session);
  if (stream.connected) load();
  speaker.again();
}

get("voice").addEventListener("change", () => {
  // Not every voice has the same ways.
  get("lookahead").value = "";
});
for (const id of SETTINGS) get(id).addEventListener("change", choose);
get("speed").addEventListener("input", limit);
for (const [id, first] of [["pace", "fast"], ["race-pace", "talk"]]) {
  const paces = Object.entries(PACES).filter(([key]) => id === "pace" || key !== "once");
  get(id).replaceChildren(...paces.map(([key, { name }]) => new Option(name, key, key === first, key === first)));
}

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

get("go").addEventListener("click", () => {
  if (speaker.busy) speaker.stop();
  tell("");
  say("");
  if (race.busy) race.stop();
  else race.start(get("race-pace").value);
});

get("reset").addEventListener("click", () => {
  stats.clear();
  sheet.wake();
});

// What is seen.

/** What is seen beside the sheet; whether some of it moves. */
function draw(busy) {
  follow();
  if (busy && player.blocked) say("Tap or press a key to hear it");
  else if (busy && get("status").textContent.startsWith("Tap")) say("");
  for (const kind of KINDS) fill(kind, MODES.flatMap((mode) => [
    duration(stats.quantile(mode, kind, 0.5)), duration(stats.quantile(mode, kind, 0.95)),
  ]));
  fill("gaps", MODES.map((mode) => (stats.modes[mode].first.length ? stats.modes[mode].gaps : "–")));
  get("note").hidden = player.way !== "scheduled";
  race.look();
  const racing = race.busy;
  write(get("go").lastElementChild, racing ? "Stop" : "Race");
  get("go").querySelector("path").setAttribute("d", racing ? SHAPES.stop : SHAPES.play);
  write(get("verdict"), race.verdict);
  document.body.dataset.racing = racing;
  return racing;
}

/** Keep the word that is heard in sight, unless the person types. */
function follow() {
  const node = sheet.mirror.spoken;
  const box = sheet.editor.parentElement;
  if (!node || now() - sheet.typedAt < TYPING_S) return;
  const top = node.offsetTop - box.offsetTop;
  if (top < box.scrollTop || top + 2 * node.offsetHeight > box.scrollTop + box.clientHeight) {
    box.scrollTop = top - box.clientHeight / 3;
  }
}

function fill(id, values) {
  [...get(id).querySelectorAll("td")].forEach((cell, i) => {
    if (cell.textContent !== String(values[i])) cell.textContent = values[i];
  });
}

const clips = new ClipDialog(stream, async (name) => {
  await stream.look();
  get("voice").value = name;
  choose();
  say(`The voice ${name} is there.`);
});

// Where a key is needed, it is asked for before anybody types.
stream.look().then(() => clips.look());
directions.look();
sheet.read();
sheet.focus();
sheet.wake();
