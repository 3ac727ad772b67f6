/**
 * ONNX graphs, run while the caller waits: onnxruntime-web's WebAssembly module, called as its own front does, but without
 * promises, which Python could not wait for in every browser.
 */

import start from "../runtime/ort-wasm-simd-threaded.mjs";

const ALL = 99; // optimisations
const ERRORS = 3; // and what is worse is logged
const CPU = 1; // where a tensor lies
/** ONNX's numbers of the types of tensors, by the names that NumPy has for them. */
const TYPES = { float32: 1, uint8: 2, int8: 3, int32: 6, int64: 7, bool: 9, float64: 11 };
const NAMES = Object.fromEntries(Object.entries(TYPES).map(([name, number]) => [number, name]));

/** The module, ready to make graphs. */
export async function ready() {
  const wasm = await start({ numThreads: 1 });
  check(wasm, wasm._OrtInit(1, ERRORS), "ONNX Runtime does not start");
  return { make: (bytes) => new Graph(wasm, bytes) };
}

function check(wasm, failed, what) {
  if (!failed) return;
  const place = wasm.stackAlloc(8);
  wasm._OrtGetLastError(place, place + 4);
  const message = wasm.getValue(place + 4, "*");
  throw new Error(`${what}: ${message ? wasm.UTF8ToString(message) : "no reason given"}`);
}

export class Graph {
  /** `bytes` (Uint8Array): an .onnx file. */
  constructor(wasm, bytes) {
    this.wasm = wasm;
    const file = wasm._malloc(bytes.length);
    wasm.HEAPU8.set(bytes, file);
    // Without an arena and memory patterns: shapes change with every word.
    const options = wasm._OrtCreateSessionOptions(ALL, false, false, 0, false, 0, 0, ERRORS, 0, 0);
    this.session = wasm._OrtCreateSession(file, bytes.length, options);
    wasm._OrtReleaseSessionOptions(options);
    wasm._free(file);
    check(wasm, !this.session, "The graph cannot be loaded");
    const [takes, gives] = this.pair((a, b) => wasm._OrtGetInputOutputCount(this.session, a, b));
    const all = Array.from({ length: takes + gives }, (_, i) => this.described(i));
    /** Of each: {name, shape (numbers, or names of those that vary), place (of its name in memory)}. */
    this.inputs = all.slice(0, takes);
    this.outputs = all.slice(takes);
    this.given = []; // {index, tensor, data} of the next run
    this.made = []; // tensors of the last one
  }

  /** Two numbers that a function writes to two places. */
  pair(write) {
    const { wasm } = this;
    const stack = wasm.stackSave();
    const place = wasm.stackAlloc(8);
    check(wasm, write(place, place + 4), "The graph cannot be read");
    const both = [wasm.getValue(place, "*"), wasm.getValue(place + 4, "*")];
    wasm.stackRestore(stack);
    return both;
  }

  described(index) {
    const { wasm } = this;
    const [place, about] = this.pair((a, b) => wasm._OrtGetInputOutputMetadata(this.session, index, a, b));
    const rank = wasm.getValue(about + 4, "i32");
    const shape = Array.from({ length: rank }, (_, i) => {
      const symbol = wasm.getValue(about + 8 + 4 * i, "*");
      return symbol ? wasm.UTF8ToString(symbol) : wasm.getValue(about + 8 + 4 * (rank + i), "i32");
    });
    wasm._OrtFree(about);
    return { name: wasm.UTF8ToString(place), shape, place };
  }

  /** Memory (Uint8Array) for the input of an index, to be filled before anything else is asked for. */
  put(index, type, shape, size) {
    const { wasm } = this;
    const data = wasm._malloc(Math.max(1, size));
    const stack = wasm.stackSave();
    const dims = wasm.stackAlloc(4 * Math.max(1, shape.length));
    shape.forEach((length, i) => wasm.setValue(dims + 4 * i, length, "i32"));
    const tensor = wasm._OrtCreateTensor(TYPES[type], data, size, dims, shape.length, CPU);
    wasm.stackRestore(stack);
    this.given.push({ index, tensor, data });
    if (!tensor) this.forget();
    check(wasm, !tensor, `${this.inputs[index].name} cannot be passed`);
    return wasm.HEAPU8.subarray(data, data + size);
  }

  /** Compute the outputs of these indices. */
  run(indices) {
    const { wasm, given } = this;
    const stack = wasm.stackSave();
    const list = (values) => {
      const place = wasm.stackAlloc(4 * Math.max(1, values.length));
      values.forEach((value, i) => wasm.setValue(place + 4 * i, value, "*"));
      return place;
    };
    const names = list(given.map(({ index }) => this.inputs[index].place));
    const values = list(given.map(({ tensor }) => tensor));
    const wanted = list(indices.map((index) => this.outputs[index].place));
    const results = list(indices.map(() => 0));
    const options = wasm._OrtCreateRunOptions(ERRORS, 0, false, 0);
    const failed = wasm._OrtRun(this.session, names, values, given.length, wanted, indices.length, results, options);
    this.made = failed ? [] : indices.map((_, i) => wasm.getValue(results + 4 * i, "*"));
    wasm._OrtReleaseRunOptions(options);
    wasm.stackRestore(stack);
    this.forget();
    check(wasm, failed, "The graph fails");
  }

  /** Let go of what was given. */
  forget() {
    for (const { tensor, data } of this.given.splice(0)) {
      if (tensor) this.wasm._OrtReleaseTensor(tensor);
      this.wasm._free(data);
    }
  }

  /** [type, shape, memory (Uint8Array)] of an output of the last run, by its place among those asked for. */
  result(i) {
    const { wasm } = this;
    const stack = wasm.stackSave();
    const place = wasm.stackAlloc(16);
    check(wasm, wasm._OrtGetTensorData(this.made[i], place, place + 4, place + 8, place + 12), "The graph gave nothing");
    const [type, data, dims, rank] = [0, 4, 8, 12].map((at) => wasm.getValue(place + at, "*"));
    const shape = Array.from({ length: rank }, (_, axis) => wasm.getValue(dims + 4 * axis, "i32"));
    wasm._OrtFree(dims);
    wasm.stackRestore(stack);
    const name = NAMES[type];
    const width = { float32: 4, int32: 4, int64: 8, float64: 8 }[name] ?? 1;
    const size = shape.reduce((product, length) => product * length, width);
    return [name, shape, wasm.HEAPU8.subarray(data, data + size)];
  }

  /** Let go of the last run's outputs. */
  release() {
    for (const tensor of this.made.splice(0)) this.wasm._OrtReleaseTensor(tensor);
  }
}
