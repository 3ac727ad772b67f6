/**
 * Writes the memory of a Python that has loaded the page's voice: node snapshot.mjs PYODIDE FOLDER TARGET. PYODIDE is the folder of
 * Pyodide's files, FOLDER what Python imports there (build.py).
 */

import { writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { resolve } from "node:path";

const [pyodide, folder, target] = process.argv.slice(2).map((path) => resolve(path));
const { loadPyodide } = await import(pathToFileURL(`${pyodide}/pyodide.mjs`));
const env = { HOME: "/", PYTHONHASHSEED: "0", SAYAHEAD_CACHE: "/web/cache" };
const python = await loadPyodide({ indexURL: `${pyodide}/`, env, _makeSnapshot: true });
python.FS.mkdirTree("/web");
python.FS.mount(python.FS.filesystems.NODEFS, { root: folder }, "/web");
python.runPython(`
import gc, linecache, sys
sys.path.insert(0, "/web")
sys.dont_write_bytecode = True
import preload
voices = preload.loaded("/web/voices")
linecache.clearcache()
gc.collect()
`);
writeFileSync(target, python.makeMemorySnapshot());
process.exit(0);
