/** The page: what is on it, and what it does when somebody touches it. */

import { put } from "./link.js";
import { PACES } from "./pace.js";
import { Player } from "./player.js";
import { get, say, Sheet, tell, write } from "./sheet.js";
import { Speaker } from "./speaker.js";
import { duration, Stats } from "./stats.js";
import { Stream } from "./stream.js";
import { VOICES } from "../sayahead-web/voices.js";

const EXAMPLE =
  "This voice runs in your browser. Nothing that you type leaves this page. " +
  "It reads along, a word behind, and sounds as if it knew how the sentence ends.";
const LOADED = "loaded"; // a context without text: it is over when the voice is there
const MEGA = 1e6;
const SETTINGS = ["voice", "lookahead", "speed"];
const { voices: ASKED } = Object.fromEntries(new URLSearchParams(location.search));
const CHOSEN = ASKED in VOICES ? ASKED : "heart"; // which voices are loaded

const last = new Stats(); // of the last text

const player = new Player((kind) => {
  if (kind === "dry") speaker.dry();
  sheet.wake();
});
const stream = new Stream({
  loading: (arrived, total) => {
    Object.assign(get("arrived"), { max: total, value: arrived });
    write(get("share"), `${Math.round(arrived / MEGA)} of ${Math.round(total / MEGA)} MB`);
  },
  audio: (header, samples) => speaker.audio(header, samples),
  flushed: (message) => speaker.flushed(message),
  revised: (message) => speaker.revised(message),
  skipped: (message) => speaker.skipped(message),
  done: ({ context_id: id }) => {
    if (id === LOADED) here();
  },
  failed: (message) => {
    if (message.context_id === LOADED) none(message.message);
    else speaker.failed(message);
  },
  lost: (sentence) => {
    speaker.refused(sentence);
    none(sentence);
  },
}, CHOSEN);
const speaker = new Speaker(stream, player, {
  opens: () => choose(),
  begun: () => last.clear(),
  changed: () => sheet.wake(),
  heard: (word) => {
    if (word.typed !== null && word.heard !== null) last.add(word.mode, "heard", word.heard - word.typed);
  },
  first: (seconds, mode) => last.add(mode, "first", seconds),
  gap: (mode) => last.gap(mode),
  stopped: (heard, ready) => sheet.stopped(heard, ready),
  problem: (sentence) => tell(sentence),
});
const sheet = new Sheet(speaker, player, last, {
  example: EXAMPLE,
  clear: () => tell(""),
  open,
  chosen: () => {
    choose();
    speaker.again();
  },
  escape: () => {
    if (speaker.busy) speaker.stop();
  },
  draw: () => false,
  settings: () => Object.fromEntries(SETTINGS.map((id) => [id, get(id).value])),
  linked: (settings) => {
    put(SETTINGS, settings);
    choose();
  },
});

/** The voice is loaded. */
function here() {
  document.body.dataset.voice = "here";
  get("load").hidden = true;
  say(`The voice is here: ${duration(performance.now() / 1000)} after the page was opened`);
}

/** It never will be. */
function none(why) {
  get("load").hidden = true;
  tell(`There is no voice: ${why}`);
}

// Settings.

/** For the contexts that begin later. */
function choose() {
  const way = get("lookahead").value;
  get("pacing").textContent = Number(get("speed").value).toFixed(2);
  speaker.lookahead = way === "learned" ? 3 : Number(way.split("=")[1]);
  stream.choose(() => ({
    voice: get("voice").value,
    policy: speaker.mode === "sentence" ? "wait-all" : way,
    speed: Number(get("speed").value),
    sample_rate: player.rate,
  }));
}

get("voice").replaceChildren(...VOICES[CHOSEN].names.map((name) => new Option(name)));
get("language").replaceChildren(...Object.entries(VOICES).map(([name, { title }]) => new Option(title, name)));
get("language").value = CHOSEN;
get("language").addEventListener("change", () => {
  location.search = `?voices=${get("language").value}`;
});
// Other voices have learned no policy.
if (CHOSEN !== "heart") get("lookahead").querySelector("[value=learned]").remove();

for (const id of SETTINGS) {
  get(id).addEventListener("change", () => {
    choose();
    speaker.again();
  });
}
get("speed").addEventListener("input", () => {
  get("pacing").textContent = Number(get("speed").value).toFixed(2);
});
get("pace").replaceChildren(...Object.entries(PACES).map(([key, { name }]) => new Option(name, key)));

/** Ready to sound, which browsers allow only after a gesture; at another rate than the voice's where they must. */
function open() {
  const rate = player.rate;
  player.open().then(() => {
    if (player.rate !== rate) choose();
  });
}

for (const kind of ["keydown", "pointerdown"]) document.addEventListener(kind, open, { capture: true });

choose();
stream.end(LOADED);
sheet.read();
sheet.focus();
sheet.wake();
