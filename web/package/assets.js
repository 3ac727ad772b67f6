/** The large files: sent compressed, unpacked here, and kept by the browser (CacheStorage) until others take their place. */

import { FILES } from "./files.js";

const STORE = "sayahead-web";
const BASE = new URL("./", import.meta.url);

/** A file, unpacked, as a Response; `arrived(bytes)` hears what comes over the network. Error if it cannot be had. */
export async function asset(name, arrived) {
  const store = await kept();
  const key = new URL(`${name}?${FILES[name].digest}`, BASE).href;
  const known = await store?.match(key);
  if (known) return known;
  const answer = await fetch(new URL(`${name}.pack`, BASE));
  if (!answer.ok) throw new Error(`${answer.url}: ${answer.status}`);
  const counted = new TransformStream({
    transform(part, way) {
      arrived(part.length);
      way.enqueue(part);
    },
  });
  const type = name.endsWith(".wasm") ? "application/wasm" : "application/octet-stream";
  const body = answer.body.pipeThrough(counted).pipeThrough(new DecompressionStream("gzip"));
  const made = new Response(body, { headers: { "Content-Type": type } });
  // Where there is no room for it, it is fetched again the next time.
  store?.put(key, made.clone()).catch(() => {});
  return made;
}

/** Bytes of a file. */
export async function bytes(name, arrived) {
  return new Uint8Array(await (await asset(name, arrived)).arrayBuffer());
}

/** How much files are to fetch, in bytes, with those that all voices need. */
export function total(names) {
  const wanted = ([name]) => name.startsWith("runtime/") || names.includes(name);
  return Object.entries(FILES).filter(wanted).reduce((sum, [, { bytes: size }]) => sum + size, 0);
}

/** Forget files of earlier versions. */
export async function tidy() {
  const store = await kept();
  const own = new Set(Object.entries(FILES).map(([name, { digest }]) => new URL(`${name}?${digest}`, BASE).href));
  for (const { url } of (await store?.keys()) ?? []) if (url.startsWith(BASE.href) && !own.has(url)) await store.delete(url);
}

/** The store; null where the browser keeps nothing, as for a page that is no secure context. */
async function kept() {
  try {
    return await caches.open(STORE);
  } catch {
    return null;
  }
}
