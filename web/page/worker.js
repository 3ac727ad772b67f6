/** The voice's own thread: Python with sayahead, and ONNX Runtime, which compute while the page stays alive. */

import { loadPyodide } from "../runtime/pyodide.mjs";
import { ready } from "./graphs.js";

const RUNTIME = new URL("../runtime/", import.meta.url).href;
const PACKAGES = "/lib/sayahead";

const waiting = []; // messages of the page
let desk = null; // {receive(message), step()}: Python's
let running = false;

/** Count what arrives, so that the page can say how far it is. */
let arrived = 0;
let told = 0;
const ask = self.fetch;
self.fetch = async (...request) => {
  const answer = await ask(...request);
  if (!answer.body) return answer;
  const count = new TransformStream({
    transform(part, way) {
      arrived += part.length;
      if (arrived - told > 200_000) {
        told = arrived;
        postMessage({ type: "loading", bytes: arrived });
      }
      way.enqueue(part);
    },
  });
  return new Response(answer.body.pipeThrough(count), answer);
};

async function start() {
  const packages = self.fetch(new URL("../voice.zip", import.meta.url)).then(whole);
  const [python, graphs, archive] = await Promise.all([
    loadPyodide({ indexURL: RUNTIME, packages: ["numpy"] }), ready(), packages,
  ]);
  postMessage({ type: "starting" });
  python.registerJsModule("graphs", graphs);
  python.unpackArchive(archive, "zip", { extractDir: PACKAGES });
  python.runPython(`import os, sys; sys.path.insert(0, "${PACKAGES}"); os.environ["SAYAHEAD_CACHE"] = "${PACKAGES}/cache"`);
  const { Desk } = python.pyimport("desk");
  const made = Desk((message, data) => {
    const view = data.getBuffer("u8");
    const sound = view.data.slice().buffer;
    view.release();
    postMessage({ type: "said", message, sound }, [sound]);
  });
  desk = { receive: made.receive, step: made.step };
  run();
}

async function whole(answer) {
  if (!answer.ok) throw new Error(`${answer.url}: ${answer.status}`);
  return answer.arrayBuffer();
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
    postMessage({ type: "failed", message: String(error.message ?? error) });
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

self.onmessage = ({ data }) => {
  waiting.push(data);
  run();
};
start().catch((error) => postMessage({ type: "failed", message: String(error.message ?? error) }));
