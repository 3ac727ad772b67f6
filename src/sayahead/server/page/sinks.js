/** Two ways from samples to the loudspeaker. Both take the same orders and send the reports that ring.worklet.js tells of. */

/** The audio thread's ring buffer: nothing that the page does can make it stutter. */
export class RingSink {
  name = "worklet";

  static async make(context, target, told) {
    await context.audioWorklet.addModule(new URL("ring.worklet.js", import.meta.url));
    const node = new AudioWorkletNode(context, "sayahead-ring", { numberOfInputs: 0, outputChannelCount: [1] });
    node.port.onmessage = ({ data }) => told(data);
    node.connect(target);
    return new RingSink(node.port);
  }

  constructor(port) {
    this.port = port;
  }

  feed(samples) {
    this.port.postMessage({ samples }, [samples.buffer]);
  }

  least(samples) {
    this.port.postMessage({ least: samples });
  }

  cut(position, epoch) {
    this.port.postMessage({ cut: position, epoch });
  }

  end(position) {
    this.port.postMessage({ end: position });
  }
}

const LEAD_S = 0.04; // from the order to the first sample
const BLOCK_S = 0.5; // one source plays at most so much
const FADE_S = 0.005;
const TICK_MS = 25;

/** Where the page came by plain http from another machine: buffers, each scheduled to begin where the last ends. */
export class ScheduledSink {
  name = "scheduled";

  static async make(context, target, told) {
    return new ScheduledSink(context, target, told);
  }

  constructor(context, target, told) {
    Object.assign(this, { context, target, told });
    this.waiting = []; // Float32Arrays that are not scheduled yet
    this.sources = new Set();
    this.position = 0; // of the next sample to schedule
    this.until = null; // when the last scheduled sample ends; null: silent
    this.enough = 1;
    this.epoch = 0;
    this.group();
    setInterval(() => this.tick(), TICK_MS);
  }

  group() {
    this.gain = new GainNode(this.context);
    this.gain.connect(this.target);
  }

  tell(kind) {
    const report = { kind, at: this.position, time: this.until, epoch: this.epoch };
    // Later, as the other sink does: who is told may feed at once.
    queueMicrotask(() => this.told(report));
  }

  feed(samples) {
    this.waiting.push(samples);
    this.tick();
  }

  least(samples) {
    this.enough = samples;
    this.tick();
  }

  tick() {
    const time = this.context.currentTime;
    if (this.until !== null && time >= this.until && !this.waiting.length) {
      this.tell("dry");
      this.until = null;
    } else if (this.until !== null) {
      this.tell("at");
    }
    const there = this.waiting.reduce((sum, part) => sum + part.length, 0);
    if (!there || (this.until === null && there < this.enough)) return;
    if (this.until !== null && time > this.until) {
      this.tell("dry");
      this.until = null;
    }
    if (this.until === null) {
      this.until = time + LEAD_S;
      this.tell("start");
    }
    while (this.waiting.length) this.schedule(this.block());
  }

  block() {
    const most = Math.round(BLOCK_S * this.context.sampleRate);
    const parts = [];
    let length = 0;
    while (this.waiting.length && length < most) {
      parts.push(this.waiting.shift());
      length += parts.at(-1).length;
    }
    const buffer = this.context.createBuffer(1, length, this.context.sampleRate);
    let at = 0;
    for (const part of parts) {
      buffer.copyToChannel(part, 0, at);
      at += part.length;
    }
    return buffer;
  }

  schedule(buffer) {
    const source = new AudioBufferSourceNode(this.context, { buffer });
    source.connect(this.gain);
    source.start(this.until);
    source.onended = () => this.sources.delete(source);
    this.sources.add(source);
    this.position += buffer.length;
    this.until += buffer.duration;
  }

  cut(position, epoch) {
    this.epoch = epoch;
    this.waiting = [];
    if (this.until !== null) this.fade(this.context.currentTime);
    this.until = null;
    this.position = position;
  }

  end(position) {
    let room = position - this.position;
    if (room >= 0) {
      // That is not scheduled yet.
      for (let i = 0; i < this.waiting.length; i++) {
        this.waiting[i] = this.waiting[i].subarray(0, Math.max(0, room));
        room -= this.waiting[i].length;
      }
      this.waiting = this.waiting.filter((part) => part.length);
      return;
    }
    this.waiting = [];
    if (this.until !== null) {
      this.until += room / this.context.sampleRate;
      this.fade(this.until);
    }
    this.position = position;
  }

  fade(when) {
    const { sources, gain } = this;
    const end = Math.max(when, this.context.currentTime) + FADE_S;
    gain.gain.setValueAtTime(1, end - FADE_S);
    gain.gain.linearRampToValueAtTime(0, end);
    for (const source of sources) source.stop(end);
    this.sources = new Set();
    this.group();
  }
}
