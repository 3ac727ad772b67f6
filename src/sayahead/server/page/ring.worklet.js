/**
 * Plays a stream of samples out of a ring buffer, on the browser's audio thread.
 *
 * In:  {samples: Float32Array}   goes on where the last ended
 *      {least: n}                samples to wait for before a start
 *      {cut: position, epoch}    silent at once; what comes next begins at `position` of the stream
 *      {end: position}           silent from there; what comes next begins there
 * Out: {kind: "start" | "dry" | "at", at: samples played so far, time: seconds on the context's clock,
 *       epoch: that of the last cut, so that reports from before it can be told apart}
 */

const SIZE = 1 << 18; // 10.9 s at 24 kHz
const FADE = 120; // 5 ms at 24 kHz: the way into silence and out of it
const EVERY = 8; // blocks between two reports

class Ring extends AudioWorkletProcessor {
  constructor() {
    super();
    this.ring = new Float32Array(SIZE);
    this.read = 0; // positions in the stream; in the ring they are taken modulo SIZE
    this.write = 0;
    this.least = 0;
    this.gain = 0;
    this.playing = false;
    this.cut = null; // where the stream goes on after a cut that is being faded out
    this.late = []; // what came during that fade
    this.epoch = 0;
    this.blocks = 0;
    this.port.onmessage = ({ data }) => this.take(data);
  }

  take(data) {
    if (data.least !== undefined) this.least = data.least;
    if (data.cut !== undefined) {
      this.late = [];
      this.epoch = data.epoch ?? this.epoch;
      if (this.playing) this.cut = data.cut;
      else this.jump(data.cut);
    }
    if (data.end !== undefined) {
      if (data.end >= this.read) this.write = Math.min(this.write, data.end);
      else this.take({ cut: data.end });
    }
    if (data.samples) {
      if (this.cut === null) this.put(data.samples);
      else this.late.push(data.samples);
    }
  }

  put(samples) {
    for (let i = 0; i < samples.length; i++) this.ring[(this.write + i) % SIZE] = samples[i];
    this.write += samples.length;
  }

  jump(position) {
    this.read = this.write = position;
    this.cut = null;
    this.gain = 0;
    for (const samples of this.late.splice(0)) this.put(samples);
  }

  tell(kind, samplesIn) {
    const { read: at, epoch } = this;
    this.port.postMessage({ kind, at, epoch, time: currentTime + samplesIn / sampleRate });
  }

  process(inputs, [[out]]) {
    let waiting = this.write - this.read;
    if (!this.playing && waiting > 0 && waiting >= this.least) {
      this.playing = true;
      this.tell("start", 0);
    }
    for (let i = 0; this.playing && i < out.length; i++) {
      // Near its end the sound fades; where more comes in time, nobody hears that.
      const target = this.cut !== null || waiting < FADE ? 0 : 1;
      this.gain += Math.max(-1 / FADE, Math.min(1 / FADE, target - this.gain));
      if (waiting > 0) {
        out[i] = this.ring[this.read % SIZE] * this.gain;
        this.read++;
        waiting--;
      }
      if (waiting <= 0 || (this.cut !== null && this.gain <= 0)) {
        this.playing = false;
        this.gain = 0;
        if (this.cut !== null) this.jump(this.cut);
        this.tell("dry", i);
      }
    }
    if (++this.blocks % EVERY === 0 && this.playing && this.cut === null) this.tell("at", out.length);
    return true;
  }
}

registerProcessor("sayahead-ring", Ring);
