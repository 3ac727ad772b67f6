/**
 * The default voice's first stage (`sayahead/systems/heart.py`): text encoders, durations, pitch and energy, with the past of the
 * sentence as state. Words are those of the text alone: nothing stands in for the ones to come.
 */

import { FEATURES } from "./decoder.js";
import { count, floats, whole } from "./graphs.js";
import { joined, rint } from "./numbers.js";

const round = Math.fround;
const FRAMES_PER_UNIT = 2;
const FRAME_S = 0.0125;
const VOICED_HZ = 40;
const FADED = 16; // time constants after which a glide is at its end
const REACH = 54; // units that the prosody convolutions see to each side
const CACHE = [54, 192];
/** Keys and values of the past by the graph's names: leading sizes, channels. */
const MEMORY = { sound_memory: [[4, 2, 1, 2], 64], memory: [[6, 2, 1, 2], 96] };
const RECENT = [2, 832];
const ENCODING = 128;
const PROSODY = 192;
const MAX_OWED = 2; // units that a phoneme may be shorter because those before it could not be

export class Heart {
  /** `model`: that of voice.json; `rightFrames`: provisional frames that the second stage can use. */
  constructor({ text, prosody }, model, rightFrames) {
    Object.assign(this, { text, prosody, model });
    this.rightUnits = Math.ceil(rightFrames / FRAMES_PER_UNIT);
    const size = rint((FADED * model.glide_s) / FRAME_S);
    this.fading = Float32Array.from({ length: size }, (_, n) => Math.exp(-(n + 1) * round(FRAME_S / model.glide_s)));
  }

  /** The state before a sentence. */
  initial() {
    return {
      ids: [], // spoken phonemes whose sound is not entirely final
      units: [], // their durations so far
      speeds: [],
      held: 0, // units at the end that are not final yet
      done: 0, // units that are final
      memory: Object.fromEntries(Object.keys(MEMORY).map((name) => [name, { rows: 0, data: new Float32Array(0) }])),
      recent: new Float32Array(RECENT[0] * RECENT[1]),
      cache: new Float32Array(CACHE[0] * CACHE[1]),
      pitch: 0, // of the last final frame
      owed: 0, // units by which what was spoken is shorter than its speeds asked for
    };
  }

  /**
   * {final, right, words, ended, drawn, state}: frames as rows of FEATURES, frames of words and of what was drawn out. `own`: a
   * speaker's inputs by graph, where there are several.
   */
  step(segment, state, { speed, own: speaker }, holdBack) {
    const { ids: own, speak, ends } = segment;
    const ended = ends && speak === own.length;
    if (!(speak || ended || (segment.breath && state.held))) return this.nothing(segment, state);
    const past = this.past(state);
    const ids = [...past.ids, ...own, ...(ends ? [this.model.pad] : this.model.futures)];
    const speeds = speedsOf(past.speeds, segment, ids.length);
    const text = this.encoded(ids, speed, state, speaker.text);
    const { units, owed } = this.lasting(text.durations.data, speeds, past, segment, speed, state);
    const gone = sum(past.units) - past.held; // units of the first phoneme that are final already
    const end = ended ? ids.length : past.ids.length + speak;
    const spoken = sum(units.slice(0, end));
    const commit = ended ? spoken - gone : Math.max(0, spoken - gone - Math.floor(holdBack / FRAMES_PER_UNIT));
    const { features, cache } = this.features(text, units, state, gone, commit, speaker.prosody);
    const cut = commit * FRAMES_PER_UNIT;
    const heard = this.heard(units, state.done - gone);
    const words = segment.words.map(([first, last]) => [heard[past.ids.length + first], heard[past.ids.length + last]]);
    const frames = {
      final: features.subarray(0, cut * FEATURES),
      right: features.subarray(cut * FEATURES),
      words,
      ended,
      drawn: this.drawn(past.units.map((before, n) => units[n] - before), past.units, state.done - gone),
    };
    if (ended) return { ...frames, state: this.initial() };
    // Phonemes that are entirely final now are never encoded again.
    let final = 0;
    for (let sofar = 0; final < end && sofar + units[final] <= gone + commit; final++) sofar += units[final];
    const memory = Object.fromEntries(
      Object.keys(MEMORY).map((name) => [name, this.remembered(name, state.memory[name], text[`next_${name}`], final)]),
    );
    const width = RECENT[1];
    const recent = joined(state.recent, text.next_recent.data.subarray(0, final * width)).slice(-RECENT[0] * width);
    return {
      ...frames,
      state: {
        ids: ids.slice(final, end),
        units: units.slice(final, end),
        speeds: speeds.slice(final, end),
        held: spoken - gone - commit,
        done: state.done + commit,
        memory,
        recent,
        cache,
        pitch: cut ? features[(cut - 1) * FEATURES + ENCODING] : state.pitch,
        owed: owed[final],
      },
    };
  }

  /** Words without sound: nothing to say, and nothing new about the future. */
  nothing(segment, state) {
    const end = Math.max(0, (state.done + state.held) * FRAMES_PER_UNIT - this.model.early);
    const none = new Float32Array(0);
    return { final: none, right: none, words: segment.words.map(() => [end, end]), ended: false, drawn: [], state };
  }

  /** What is encoded again: at a sentence's beginning the first pad. */
  past({ ids, units, speeds, held, done }) {
    const { pad, lead_units: lead } = this.model;
    return done + held ? { ids, units, speeds, held } : { ids: [pad], units: [lead], speeds: [1], held: lead };
  }

  encoded(ids, speed, state, own) {
    const memory = Object.entries(MEMORY).map(([name, [sizes, channels]]) => {
      const { rows, data } = state.memory[name];
      return [name, floats(data, ...sizes, rows, channels)];
    });
    return this.text.call({
      ids: whole(ids),
      speed: floats(Float32Array.of(speed), 1),
      context: floats(new Float32Array(this.model.context), this.model.context),
      recent: floats(state.recent, ...RECENT),
      ...Object.fromEntries(memory),
      ...own,
    });
  }

  /** Durations of all phonemes in whole units, and what is owed before each. */
  lasting(durations, speeds, past, { stretch }, speed, state) {
    const lasting = Float32Array.from(speeds, (rate, n) => round(durations[n] / rate));
    past.ids.forEach((_, n) => (lasting[n] *= round(stretch)));
    // Held-back sound may be lengthened by what is known now. It is never shortened: its end has been reported.
    const least = speeds.map((_, n) => past.units[n] ?? 1);
    // The first pad, even if only its start is final.
    if (state.done < this.model.lead_units) lasting[0] = this.model.lead_units;
    return wholeUnits(lasting, least, speeds.map((rate) => round(rate * round(speed)) !== 1), state.owed);
  }

  /** Frames of the units that become final and of those expected after them, and the prosody's next cache. */
  features(text, units, state, gone, commit, own) {
    // The last final unit's prosody is computed once more, to see how it has changed with what is known now.
    const again = Math.min(1, state.done);
    let rows = units.flatMap((size, n) => Array.from({ length: size }, () => n)).slice(Math.max(0, gone - again));
    let encoding = text.prosody_encoding.data;
    const sound = text.sound_encoding.data;
    const shift = again && !gone ? 1 : 0;
    if (shift) {
      // It is the last of a phoneme that is not encoded again.
      encoding = joined(state.recent.subarray(-PROSODY), encoding);
      rows = [0, ...rows.map((row) => row + 1)];
    }
    const wanted = Math.min(commit + this.rightUnits, rows.length - again);
    const shown = rows.slice(0, again + commit + this.rightUnits + REACH);
    const prosody = this.prosody.call({
      prosody_encoding: floats(taken(encoding, shown, PROSODY), shown.length, PROSODY),
      rows: count(wanted + again),
      commit: count(Math.max(0, commit + again - 1)),
      cache: floats(state.cache, ...CACHE),
      ...own,
    });
    const energy = prosody.energy.data.subarray(again * FRAMES_PER_UNIT);
    const f0 = this.glided(prosody.f0.data, again * FRAMES_PER_UNIT, state.pitch);
    const features = new Float32Array(wanted * FRAMES_PER_UNIT * FEATURES);
    for (let t = 0; t < wanted * FRAMES_PER_UNIT; t++) {
      const row = rows[again + Math.floor(t / FRAMES_PER_UNIT)] - shift;
      features.set(sound.subarray(row * ENCODING, (row + 1) * ENCODING), t * FEATURES);
      features[t * FEATURES + ENCODING] = f0[t];
      features[t * FEATURES + ENCODING + 1] = energy[t];
    }
    return { features, cache: prosody.next_cache.data };
  }

  /** Frames at which phonemes audibly begin, and at which the last one ends; the first begins at unit `begin`. */
  heard(units, begin) {
    let at = begin;
    const edges = [at, ...units.map((size) => (at += size))];
    return edges.map((edge) => Math.max(edge * FRAMES_PER_UNIT - this.model.early, 0));
  }

  /** [frame, count] where phonemes of durations `before`, from unit `begin` on, have become longer. */
  drawn(grown, before, begin) {
    const ends = this.heard(before, begin);
    return grown.flatMap((by, n) => (by ? [[ends[n + 1], by * FRAMES_PER_UNIT]] : []));
  }

  /** Pitch from frame `first` on, continuing from `before`: the listener must not hear it jump. */
  glided(f0, first, before) {
    const made = f0.slice(first);
    if (!(first && this.fading.length && Math.min(before, f0[first - 1]) > VOICED_HZ)) return made;
    const gap = round(Math.log(round(before / f0[first - 1])));
    for (let n = 0; n < Math.min(made.length, this.fading.length); n++) {
      if (made[n] > VOICED_HZ) made[n] *= round(Math.exp(round(gap * this.fading[n])));
    }
    return made;
  }

  /** The last keys and values of those before and of the first `final` new ones after them. */
  remembered(name, before, { data, shape }, final) {
    const [sizes, channels] = MEMORY[name];
    const blocks = sizes.reduce((a, b) => a * b, 1);
    const fresh = shape.at(-2);
    const rows = Math.min(before.rows + final, this.model.window);
    const kept = Math.min(before.rows, Math.max(0, this.model.window - final));
    const made = new Float32Array(blocks * rows * channels);
    for (let block = 0; block < blocks; block++) {
      const old = before.data.subarray((block + 1) * before.rows * channels - kept * channels, (block + 1) * before.rows * channels);
      const first = final - (rows - kept);
      const from = (block * fresh + first) * channels;
      made.set(old, block * rows * channels);
      made.set(data.subarray(from, from + (rows - kept) * channels), (block * rows + kept) * channels);
    }
    return { rows, data: made };
  }
}

const sum = (values) => values.reduce((total, value) => total + value, 0);

/** Rows of a matrix by their numbers. */
function taken(matrix, rows, width) {
  const made = new Float32Array(rows.length * width);
  rows.forEach((row, n) => made.set(matrix.subarray(row * width, (row + 1) * width), n * width));
  return made;
}

/** The speeds of phonemes of the past, of a segment's, and of what follows them. */
function speedsOf(left, { ids, speeds }, size) {
  const own = speeds?.length ? Array.from(speeds, round) : [];
  const after = own.length ? own.at(-1) : ids.length || !left.length ? 1 : left.at(-1);
  return Array.from({ length: size }, (_, n) => left[n] ?? own[n - left.length] ?? after);
}

/** Durations in whole units, `least` or more; where a phoneme is hurried, what rounding takes or adds the next ones make up for. */
function wholeUnits(lasting, least, hurried, owed) {
  const units = Array.from(lasting, (value, n) => Math.max(rint(value), least[n]));
  const carried = new Array(lasting.length + 1).fill(0);
  if (!hurried.includes(true)) return { units, owed: carried };
  carried[0] = owed;
  hurried.forEach((fast, n) => {
    if (!fast) return;
    const due = lasting[n] + carried[n];
    units[n] = Math.max(rint(due), least[n]);
    carried[n + 1] = Math.max(due - units[n], -MAX_OWED);
  });
  return { units, owed: carried };
}
