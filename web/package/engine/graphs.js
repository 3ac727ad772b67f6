/**
 * ONNX graphs, run while the caller waits: onnxruntime-web's WebAssembly module, called as its own front does, but without
 * promises, for which Python's session could not wait in every browser.
 */

const NONE = 0; // optimisations: those that help were made when the package was built
const ERRORS = 3; // and what is worse is logged
const CPU = 1; // where a tensor lies
/** Arrays by ONNX's numbers of the types of tensors. */
const TYPES = { 1: Float32Array, 7: BigInt64Array };
const NUMBERS = new Map(Object.entries(TYPES).map(([number, type]) => [type, Number(number)]));

/** A tensor of numbers with a fraction. */
export const floats = (data, ...shape) => ({ data, shape });
/** A row of whole numbers. */
export const whole = (numbers) => ({ data: BigInt64Array.from(numbers, BigInt), shape: [numbers.length] });
/** A number of rows, as graphs take it. */
export const count = (number) => whole([number]);

/** Make ready what makes graphs; `wasm`: the module. */
export function begin(wasm) {
  check(wasm, wasm._OrtInit(1, ERRORS), "ONNX Runtime does not start");
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
    const options = wasm._OrtCreateSessionOptions(NONE, false, false, 0, false, 0, 0, ERRORS, 0, 0);
    this.session = wasm._OrtCreateSession(file, bytes.length, options);
    wasm._OrtReleaseSessionOptions(options);
    wasm._free(file);
    check(wasm, !this.session, "The graph cannot be loaded");
    const [takes, gives] = this.pair((a, b) => wasm._OrtGetInputOutputCount(this.session, a, b));
    const all = Array.from({ length: takes + gives }, (_, i) => this.described(i));
    /** Of each: {name, place (of it in memory)}. */
    this.inputs = all.slice(0, takes);
    this.outputs = all.slice(takes);
    this.given = []; // {place (of the input's name), tensor, data} of the next run
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
    if (about) wasm._OrtFree(about);
    return { name: wasm.UTF8ToString(place), place };
  }

  /** Outputs by name, {data, shape}, for inputs by name. */
  call(inputs) {
    for (const [name, { data, shape }] of Object.entries(inputs)) this.put(this.inputs.find((given) => given.name === name), data, shape);
    this.run();
    const made = Object.fromEntries(this.outputs.map(({ name }, i) => [name, this.result(i)]));
    for (const tensor of this.made.splice(0)) this.wasm._OrtReleaseTensor(tensor);
    return made;
  }

  /** Give an input to the next run. */
  put({ name, place }, numbers, shape) {
    const { wasm } = this;
    const data = wasm._malloc(Math.max(1, numbers.byteLength));
    const stack = wasm.stackSave();
    const dims = wasm.stackAlloc(4 * Math.max(1, shape.length));
    shape.forEach((length, i) => wasm.setValue(dims + 4 * i, length, "i32"));
    const tensor = wasm._OrtCreateTensor(NUMBERS.get(numbers.constructor), data, numbers.byteLength, dims, shape.length, CPU);
    wasm.stackRestore(stack);
    this.given.push({ place, tensor, data });
    if (!tensor) this.forget();
    check(wasm, !tensor, `${name} cannot be passed`);
    wasm.HEAPU8.set(new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength), data);
  }

  /** Compute the outputs. */
  run() {
    const { wasm, given } = this;
    const stack = wasm.stackSave();
    const list = (values) => {
      const place = wasm.stackAlloc(4 * Math.max(1, values.length));
      values.forEach((value, i) => wasm.setValue(place + 4 * i, value, "*"));
      return place;
    };
    const names = list(given.map(({ place }) => place));
    const values = list(given.map(({ tensor }) => tensor));
    const wanted = list(this.outputs.map(({ place }) => place));
    const results = list(this.outputs.map(() => 0));
    const options = wasm._OrtCreateRunOptions(ERRORS, 0, false, 0);
    const failed = wasm._OrtRun(this.session, names, values, given.length, wanted, this.outputs.length, results, options);
    this.made = failed ? [] : this.outputs.map((_, i) => wasm.getValue(results + 4 * i, "*"));
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

  /** An output of the last run, copied from the runtime's memory. */
  result(i) {
    const { wasm } = this;
    const stack = wasm.stackSave();
    const place = wasm.stackAlloc(16);
    check(wasm, wasm._OrtGetTensorData(this.made[i], place, place + 4, place + 8, place + 12), "The graph gave nothing");
    const [type, data, dims, rank] = [0, 4, 8, 12].map((at) => wasm.getValue(place + at, "*"));
    const shape = Array.from({ length: rank }, (_, axis) => wasm.getValue(dims + 4 * axis, "i32"));
    wasm._OrtFree(dims);
    wasm.stackRestore(stack);
    const size = shape.reduce((product, length) => product * length, 1);
    return { shape, data: new TYPES[type](wasm.HEAPU8.buffer, data, size).slice() };
  }
}
