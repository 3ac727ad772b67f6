/**
 * The session in the page's Python, its graphs' answers being those of another runtime: what it is given and what it makes
 * of them are compared. Answers with JSON, see test_page.py.
 */

import { loadPyodide } from "../runtime/pyodide.mjs";
import { ready } from "./graphs.js";

const COMPARE = `
import json
from pathlib import Path
import numpy as np
from sayahead.engine.onnx import OnnxGraph
from sayahead.voice import load_voice

trace = np.load("/trace.npz")
calls = {}
for key in trace.files:
    if "|" in key:
        number, graph, side, name = key.split("|")
        calls.setdefault(int(number), (graph, {}, {}))[1 if side == "in" else 2][name] = trace[key]

def apart(found, wanted):
    assert found.shape == wanted.shape, (found.shape, wanted.shape)
    return float(np.abs(np.asarray(found, np.float64) - wanted).max()) if wanted.size else 0.0

voice = load_voice("heart")
own, left = OnnxGraph.__call__, [calls[number] for number in sorted(calls)]
given, computed = [], {}

def answer(self, **inputs):
    graph, wanted, results = left.pop(0)
    assert self.name == graph, (self.name, graph)
    given.extend(apart(inputs[name], array) for name, array in wanted.items())
    for name, array in own(self, **wanted).items():
        computed.setdefault(f"{graph} {name}", []).append(apart(array, results[name]))
    return results

OnnxGraph.__call__ = answer
samples = voice.synthesize(str(trace["text"]))
json.dumps({"samples": apart(samples, trace["samples"]), "given": max(given), "computed": computed, "left": len(left)})
`;

async function replay() {
  const [python, graphs] = await Promise.all([
    loadPyodide({ indexURL: new URL("../runtime/", import.meta.url).href, packages: ["numpy"] }), ready(),
  ]);
  const file = async (name) => (await fetch(new URL(`../${name}`, import.meta.url))).arrayBuffer();
  python.registerJsModule("graphs", graphs);
  python.unpackArchive(await file("voice.zip"), "zip", { extractDir: "/lib/sayahead" });
  python.runPython('import sys; sys.path.insert(0, "/lib/sayahead")');
  python.FS.writeFile("/trace.npz", new Uint8Array(await file("trace.npz")));
  return python.runPython(COMPARE);
}

replay().then((answer) => postMessage(answer), (error) => postMessage(JSON.stringify({ error: String(error) })));
