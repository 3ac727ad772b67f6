/**
 * The voice's own thread. Python (Pyodide) reads the text and decides when to speak: its memory is that of a Python that has
 * already loaded all of it (`memory.bin`), with the voices that the worker's address names. What it decides becomes sound in JavaScript and ONNX Runtime.
 */

import { asset, bytes, tidy, total } from "./assets.js";
import { engine } from "./engine/engine.js";
import { begin, Graph } from "./engine/graphs.js";
import startRuntime from "./runtime/ort-wasm-simd-threaded.mjs";
import { loadPyodide } from "./runtime/pyodide.mjs";
import { VOICES } from "./voices.js";

const EMPTY_ZIP = Uint8Array.of(0x50, 0x4b, 5, 6, ...new Array(18).fill(0));

const OWN = VOICES[new URL(self.location).searchParams.get("voices") ?? "heart"];
const PLACES = { ...OWN.graphs, ...OWN.unknown };
const TOTAL = total([OWN.memory, OWN.speakers, ...Object.values(PLACES)]);
const waiting = []; // messages of the page
let desk = null; // {receive(message), step()}: Python's
let running = false;
let arrived = 0;
let told = 0;

function loading(size) {
  arrived += size;
  if (arrived < TOTAL && arrived - told < 200_000) return;
  told = arrived;
  postMessage({ type: "loading", bytes: arrived, total: TOTAL });
}

async function start() {
  const [python, made] = await Promise.all([interpreter(), sound()]);
  python.pyimport("bridge").connect(made);
  desk = python.pyimport("web_voices").desk(python.globals.get("voices"), (message, data) => {
    const sound = data?.buffer ?? new ArrayBuffer(0);
    postMessage({ type: "said", message, sound }, [sound]);
  });
  run();
  tidy();
}

/** Python as it was when its memory was written. */
async function interpreter() {
  const own = self.fetch;
  // Its library is in that memory.
  self.fetch = (place, ...rest) => {
    const name = new URL(place, import.meta.url).pathname.split("/").pop();
    if (name === "pyodide.asm.wasm") return asset("runtime/pyodide.asm.wasm", loading);
    if (name === "python_stdlib.zip") return Promise.resolve(new Response(EMPTY_ZIP));
    return own(place, ...rest);
  };
  const memory = bytes(OWN.memory, loading);
  return loadPyodide({ indexURL: new URL("runtime/", import.meta.url).href, _loadSnapshot: memory });
}

/** What makes sound. */
async function sound() {
  const speakers = OWN.speakers ? bytes(OWN.speakers, loading) : null;
  const files = Object.entries(PLACES).map(async ([name, place]) => [name, await bytes(place, loading)]);
  const wasm = await startRuntime({
    numThreads: 1,
    instantiateWasm(imports, done) {
      const module = asset("runtime/ort-wasm-simd-threaded.wasm", loading);
      WebAssembly.instantiateStreaming(module, imports).then(({ instance, module: made }) => done(instance, made), failed);
      return {};
    },
  });
  begin(wasm);
  // Few texts have a word that no dictionary has.
  const graph = (name, file) => (name in OWN.unknown ? later(wasm, file) : new Graph(wasm, file));
  const made = (await Promise.all(files)).map(([name, file]) => [name, graph(name, file)]);
  return engine(Object.fromEntries(made), OWN, speakers && new Float32Array((await speakers).buffer));
}

/** A graph that is loaded when it is first called. */
function later(wasm, file) {
  let graph = null;
  return { call: (inputs) => (graph ??= new Graph(wasm, file)).call(inputs) };
}

/** Speak as long as there is something to say; between two steps, hear what the page wants. */
async function run() {
  if (running || !desk) return;
  running = true;
  try {
    for (;;) {
      while (waiting.length) desk.receive(waiting.shift());
      if (!desk.step()) break;
      await turn();
    }
  } catch (error) {
    failed(error);
  }
  running = false;
}

const bell = new MessageChannel();
let rung = null;
bell.port1.onmessage = () => rung();

/** Until messages that have arrived were taken in. */
function turn() {
  return new Promise((resolve) => {
    rung = resolve;
    bell.port2.postMessage(null);
  });
}

function failed(error) {
  postMessage({ type: "failed", message: String(error?.message ?? error) });
}

self.onmessage = ({ data }) => {
  waiting.push(data);
  run();
};
start().catch(failed);
