/**
 * The sound: a stream of samples, what of it is heard by now, and when each sample was or will be.
 *
 * Positions count samples from the stream's beginning. A cut takes back what was not yet heard; the stream goes on from
 * there. Times are seconds on the page's clock (performance.now() / 1000).
 */

import { RingSink, ScheduledSink } from "./sinks.js";

const RATE = 24000;
const AHEAD_S = 4; // sound that the sink holds; the rest waits here, where it can be taken back
const FIRST_LEAST_S = 0.03; // sound to wait for before a start; more after it ran dry too early
const MAX_LEAST_S = 0.12;
const PEAK_S = 0.01;

export const now = () => performance.now() / 1000;

export class Player {
  /** `told(kind, position, time)` hears of "start" and "dry". */
  constructor(told) {
    this.told = told;
    this.rate = RATE;
    this.context = null;
    this.opening = null;
    this.chunks = []; // {at, samples: Int16Array, time}: the whole stream, and when it came
    this.pushed = 0;
    this.fed = 0;
    this.runs = []; // {at, time, end}: stretches without a gap; end null: it goes on
    this.peaks = []; // the loudest of every PEAK_S
    this.leastS = FIRST_LEAST_S;
    this.epoch = 0;
  }

  /** Make ready; call it from a gesture, or browsers stay silent. */
  open() {
    this.opening ??= this.start().catch(() => {
      // The page's own files may be missing while the server is gone.
      this.context = this.opening = null;
    });
    if (this.context?.state !== "running") this.context?.resume();
    return this.opening;
  }

  async start() {
    try {
      this.context = new AudioContext({ sampleRate: RATE, latencyHint: "interactive" });
    } catch {
      this.context = new AudioContext({ latencyHint: "interactive" });
    }
    this.rate = this.context.sampleRate;
    this.volume = new GainNode(this.context);
    this.analyser = new AnalyserNode(this.context, { fftSize: 512 });
    this.volume.connect(this.analyser).connect(this.context.destination);
    // Browsers have AudioWorklet only where the page came by https or from this machine.
    const make = this.context.audioWorklet ? RingSink.make : ScheduledSink.make;
    this.sink = await make(this.context, this.volume, (report) => this.report(report));
    this.sink.least(Math.round(this.leastS * this.rate));
    this.context.resume();
    this.feed();
  }

  /** Which way the sound goes; "" before open(). */
  get way() {
    return this.sink?.name ?? "";
  }

  /** Whether the browser waits for a gesture. */
  get blocked() {
    return this.context !== null && this.context.state !== "running";
  }

  /** Add samples (Int16Array) to the stream. */
  append(samples) {
    this.chunks.push({ at: this.pushed, samples, time: now() });
    this.pushed += samples.length;
    this.measure(samples, this.pushed - samples.length);
    this.feed();
  }

  measure(samples, at) {
    const width = Math.round(PEAK_S * this.rate);
    for (let i = 0; i < samples.length; i++) {
      const place = Math.floor((at + i) / width);
      const size = Math.abs(samples[i]) / 32768;
      if (place >= this.peaks.length) this.peaks.push(size);
      else if (size > this.peaks[place]) this.peaks[place] = size;
    }
  }

  /** Hand the sink what it has room for. */
  feed() {
    if (!this.sink) return;
    const most = Math.round(this.raw()) + Math.round(AHEAD_S * this.rate);
    while (this.fed < Math.min(this.pushed, most)) {
      const chunk = this.chunks[this.find(this.fed)];
      const part = chunk.samples.subarray(this.fed - chunk.at);
      this.sink.feed(Float32Array.from(part, (x) => x / 32768));
      this.fed += part.length;
    }
  }

  /** Index of the chunk that holds a position. */
  find(position) {
    let low = 0;
    let high = this.chunks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.chunks[middle].at <= position) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** When the sample at a position came. */
  arrival(position) {
    return this.chunks[this.find(position)]?.time ?? now();
  }

  report({ kind, at, time, epoch }) {
    if (epoch !== this.epoch) return;
    const run = this.runs.at(-1);
    const open = run?.end === null;
    const moment = this.onPage(time);
    if (kind === "start") this.runs.push({ at, time: moment, end: null });
    else if (open && kind === "dry") run.end = at;
    else if (open && Math.abs(run.time + (at - run.at) / this.rate - moment) > 0.05) {
      // The clocks drifted apart; what is told last counts.
      run.time = moment - (at - run.at) / this.rate;
    }
    this.feed();
    if (kind === "start" || (kind === "dry" && open)) this.told(kind, at, moment);
  }

  /** A time of the audio clock on the page's, as it is heard. */
  onPage(time) {
    return now() + time - this.context.currentTime + this.delayS();
  }

  /** From the sink to the ear. */
  delayS() {
    return this.context.outputLatency || this.context.baseLatency || 0;
  }

  /** Play without a sound, or with it. */
  mute(silent) {
    this.volume.gain.value = silent ? 0 : 1;
  }

  /** Samples that left the sink by now. */
  raw() {
    return this.place(now() + (this.context ? this.delayS() : 0));
  }

  /** Samples that are heard by now. */
  heard() {
    return this.place(now());
  }

  place(moment) {
    for (let i = this.runs.length - 1; i >= 0; i--) {
      const run = this.runs[i];
      if (moment >= run.time || i === 0) {
        const at = run.at + Math.max(0, moment - run.time) * this.rate;
        return Math.min(at, run.end ?? this.fed);
      }
    }
    return 0;
  }

  /** When a position was heard, or will be; null where nobody knows. */
  timeOf(position) {
    for (let i = this.runs.length - 1; i >= 0; i--) {
      const run = this.runs[i];
      if (position >= run.at) {
        if (run.end !== null && position >= run.end) return null;
        return run.time + (position - run.at) / this.rate;
      }
    }
    return null;
  }

  /** Whether something is still to be heard. */
  get sounding() {
    return this.pushed - this.heard() > 1;
  }

  /** Wait a little longer before the next start: it ran dry too early. */
  steady() {
    this.leastS = Math.min(MAX_LEAST_S, this.leastS + 0.02);
    this.sink?.least(Math.round(this.leastS * this.rate));
  }

  /** Start with whatever there is: no more comes for now. */
  settle() {
    this.sink?.least(1);
  }

  /** Reverse of settle: more will come. */
  unsettle() {
    this.sink?.least(Math.round(this.leastS * this.rate));
  }

  /** Take back what lies behind a position; without one, all that was not heard: silent at once. Where it ends now. */
  cut(position = null) {
    const played = Math.min(this.pushed, Math.ceil(this.raw()));
    const end = position === null ? played : Math.min(Math.max(position, played), this.pushed);
    while (this.chunks.length && this.chunks.at(-1).at >= end) this.chunks.pop();
    const last = this.chunks.at(-1);
    if (last) last.samples = last.samples.subarray(0, end - last.at);
    this.pushed = end;
    this.peaks.length = Math.min(this.peaks.length, Math.ceil(end / Math.round(PEAK_S * this.rate)));
    if (end <= played) this.sink?.cut(end, ++this.epoch);
    else if (end < this.fed) this.sink?.end(end);
    this.fed = Math.min(this.fed, end);
    const run = this.runs.at(-1);
    if (run && run.end === null && end <= played) run.end = end;
    return end;
  }

  /** All samples of the stream (Int16Array). */
  samples() {
    const all = new Int16Array(this.pushed);
    for (const chunk of this.chunks) all.set(chunk.samples, chunk.at);
    return all;
  }

  /** Forget the stream; the next sample is its first. */
  clear() {
    this.cut();
    this.chunks = [];
    this.runs = [];
    this.peaks = [];
    this.pushed = this.fed = 0;
    this.sink?.cut(0, ++this.epoch);
  }

  /** Loudness right now, 0 to 1. */
  level() {
    if (!this.analyser) return 0;
    this.wave ??= new Float32Array(this.analyser.fftSize);
    this.analyser.getFloatTimeDomainData(this.wave);
    return Math.min(1, Math.sqrt(this.wave.reduce((sum, x) => sum + x * x, 0) / this.wave.length) * 5);
  }
}
