/** Hands on what a microphone hears, block by block. */

class Recorder extends AudioWorkletProcessor {
  process([[channel]]) {
    if (channel) this.port.postMessage(channel.slice());
    return true;
  }
}

registerProcessor("recorder", Recorder);
