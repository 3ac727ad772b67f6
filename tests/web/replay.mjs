/**
 * The browser's engine, its graphs' answers being those of another runtime: prints, as JSON, how far apart are what it gives
 * to the graphs and what it makes of their answers from what Python did. See test_engine.py.
 */

import { readFileSync } from "node:fs";
import { engine } from "../../web/package/engine/engine.js";

const [, , trace] = process.argv;
const { voice, sessions } = JSON.parse(readFileSync(`${trace}.json`));
const bytes = readFileSync(`${trace}.bin`);

/** Numbers that Python wrote, by {at, size, shape}. */
const read = ({ at, size }) => new Float32Array(bytes.buffer, bytes.byteOffset + 4 * at, size);

function apart(found, wanted) {
  if (found.length !== wanted.length) throw new Error(`${found.length} numbers, not ${wanted.length}`);
  return found.reduce((most, value, n) => Math.max(most, Math.abs(Number(value) - wanted[n])), 0);
}

const most = { given: 0, samples: 0, times: 0 };
const power = { sum: 0, count: 0 }; // of what samples differ by
let calls;

function graph(name) {
  return {
    call(inputs) {
      const [own, wanted, results] = calls.shift();
      if (own !== name) throw new Error(`${name} instead of ${own}`);
      for (const [input, about] of Object.entries(wanted)) {
        const { data, shape } = inputs[input];
        if (`${shape}` !== `${about.shape}`) throw new Error(`${name} ${input}: ${shape}, not ${about.shape}`);
        most.given = Math.max(most.given, apart(data, read(about)));
      }
      return Object.fromEntries(Object.entries(results).map(([key, about]) => [key, { data: read(about), shape: about.shape }]));
    },
  };
}

const graphs = { text: graph("text"), prosody: graph("prosody"), decoder: graph("decoder") };
const made = engine(graphs, voice, voice.speakers ? read(voice.speakers) : null);
let left = 0;
for (const { rendering, steps } of sessions) {
  let state = made.initial(...rendering);
  for (const step of steps) {
    calls = step.calls;
    const speech = step.segment ? made.step(state, ...step.segment) : made.rest(state);
    const samples = read(step.samples);
    most.samples = Math.max(most.samples, apart(speech.samples, samples));
    power.sum += speech.samples.reduce((sum, value, n) => sum + (value - samples[n]) ** 2, 0);
    power.count += samples.length;
    most.times = Math.max(most.times, apart(speech.words, step.words));
    if (speech.ended !== step.ended || speech.more !== step.more) throw new Error(`ended ${speech.ended}, more ${speech.more}`);
    left += calls.length;
    state = speech.state;
  }
}
console.log(JSON.stringify({ ...most, rms: Math.sqrt(power.sum / power.count), left }));
