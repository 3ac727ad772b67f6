/** A clip as a voice: recorded or chosen, and sent to the server, which makes a voice of it. */

import { wav } from "./files.js";
import { get, write } from "./sheet.js";

const LEAST_S = 5;
const MOST_S = 20; // a recording ends by itself
const PATH = "v1/voices/add";
// A microphone's own sound: what browsers do to it for calls would be part of the voice.
const PLAIN = { echoCancellation: false, noiseSuppression: false, autoGainControl: false, channelCount: 1 };

/** Samples of a microphone. */
class Recording {
  parts = [];
  size = 0;
  ended = false;

  /** Resolves when it runs. `heard(seconds, peak)` follows it. */
  async start(heard) {
    this.source = await navigator.mediaDevices.getUserMedia({ audio: PLAIN });
    this.context = new AudioContext();
    await this.context.audioWorklet.addModule(new URL("recorder.worklet.js", import.meta.url));
    const node = new AudioWorkletNode(this.context, "recorder", { numberOfOutputs: 0 });
    node.port.onmessage = ({ data }) => {
      if (this.ended) return;
      this.parts.push(data);
      this.size += data.length;
      heard(this.size / this.context.sampleRate, Math.max(...data.map(Math.abs)));
    };
    this.context.createMediaStreamSource(this.source).connect(node);
  }

  /** Its WAV file. */
  async stop() {
    this.ended = true; // what is on its way may come later than the file
    this.source.getTracks().forEach((track) => track.stop());
    const { sampleRate: rate } = this.context;
    await this.context.close();
    const whole = new Float32Array(this.size);
    let at = 0;
    for (const part of this.parts) {
      whole.set(part, at);
      at += part.length;
    }
    return wav(whole16(whole), rate);
  }
}

function whole16(samples) {
  return Int16Array.from(samples, (value) => Math.round(32767 * Math.max(-1, Math.min(1, value))));
}

/** A recording, or a file, as WAV: what else there is, the browser reads, and the server perhaps not. */
async function readable(file) {
  if (!(file instanceof File) || /\.wav$/i.test(file.name)) return file;
  const context = new AudioContext();
  try {
    const sound = await context.decodeAudioData(await file.arrayBuffer());
    return wav(whole16(sound.getChannelData(0)), sound.sampleRate);
  } catch {
    throw new Error(`${file.name} is no sound that this browser can read.`);
  } finally {
    context.close();
  }
}

export class ClipDialog {
  /** `stream` reaches the server; `made(name)` is told of a new voice. */
  constructor(stream, made) {
    Object.assign(this, { stream, made });
    this.recording = null;
    this.clip = null;
    get("mine").addEventListener("click", () => get("clip").showModal());
    get("clip").addEventListener("close", () => this.drop());
    get("record").addEventListener("click", () => (this.recording ? this.stop() : this.record()));
    get("file").addEventListener("change", () => {
      [this.clip] = get("file").files;
      this.tell(this.clip ? `${this.clip.name} is the clip.` : "");
    });
    get("clip-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.make();
    });
    get("clip-cancel").addEventListener("click", () => get("clip").close());
  }

  /** Offer it only to whom the server lets make voices. */
  async look() {
    const answer = await this.stream.ask(PATH).catch(() => null);
    get("mine").hidden = !(answer?.ok && (await answer.json()).allowed);
  }

  tell(sentence) {
    write(get("clip-status"), sentence);
  }

  async record() {
    const recording = new Recording();
    try {
      await recording.start((seconds, peak) => {
        get("level").value = peak;
        this.tell(`Recording: ${seconds.toFixed(0)} s of ${LEAST_S} to ${MOST_S}.`);
        if (seconds >= MOST_S && this.recording) this.stop();
      });
    } catch {
      this.tell("No microphone can be used here: allow it in the browser, or choose a file. It needs https, or this machine.");
      return;
    }
    this.recording = recording;
    write(get("record"), "Stop");
  }

  async stop() {
    const { recording } = this;
    this.recording = null;
    write(get("record"), "Record again");
    this.clip = await recording.stop();
    get("level").value = 0;
    this.tell(`${(recording.size / recording.context.sampleRate).toFixed(0)} s are the clip.`);
  }

  async make() {
    if (this.recording) await this.stop();
    if (!this.clip) {
      this.tell("Record 5 to 20 seconds of one person, or choose a file.");
      return;
    }
    const name = get("clip-name").value.trim();
    const button = get("clip-make");
    button.disabled = true;
    this.tell("The server makes the voice…");
    try {
      const form = new FormData();
      form.append("name", name);
      form.append("consent", get("consent").value.trim());
      form.append("files", await readable(this.clip), "clip.wav");
      const answer = await this.stream.ask(PATH, "POST", form);
      const said = await answer.json().catch(() => ({}));
      if (!answer.ok) throw new Error(said.detail?.message ?? said.error ?? "The server refuses.");
      get("clip").close();
      this.made(said.voice_id);
    } catch (error) {
      this.tell(error.message);
    } finally {
      button.disabled = false;
    }
  }

  /** Nothing of a dialog that was closed is kept. */
  async drop() {
    if (this.recording) await this.stop();
    this.clip = null;
    get("file").value = "";
    write(get("record"), "Record");
    this.tell("");
  }
}
