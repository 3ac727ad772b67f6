/** What can be taken away: WAV and SubRip. */

const LINE = 42; // longest line of a subtitle in characters, unless one word is longer
const NUMBER = /^\(?(?:\d{1,3}|[A-Za-z]|[IVXivx]+)[.)]$/; // of an item, which is on its line

/** A WAV file of mono samples (Int16Array). */
export function wav(samples, rate) {
  const head = new DataView(new ArrayBuffer(44));
  const word = (at, text) => [...text].forEach((letter, i) => head.setUint8(at + i, letter.charCodeAt(0)));
  word(0, "RIFF");
  head.setUint32(4, 36 + samples.byteLength, true);
  word(8, "WAVEfmt ");
  head.setUint32(16, 16, true);
  head.setUint16(20, 1, true);
  head.setUint16(22, 1, true);
  head.setUint32(24, rate, true);
  head.setUint32(28, rate * 2, true);
  head.setUint16(32, 2, true);
  head.setUint16(34, 16, true);
  word(36, "data");
  head.setUint32(40, samples.byteLength, true);
  return new Blob([head.buffer, samples], { type: "audio/wav" });
}

/**
 * Numbered subtitles of a line each, as the text is written ("9:30") or spoken ("nine thirty"); onsets and offsets of the words
 * are samples.
 */
export function srt(words, rate, { spoken = false } = {}) {
  const blocks = lines(captions(words, spoken)).map((line, i) => {
    const span = `${clock(line[0].onset / rate)} --> ${clock(line.at(-1).offset / rate)}`;
    return `${i + 1}\n${span}\n${line.map(({ shown }) => shown).join(" ")}\n`;
  });
  return new Blob([blocks.join("\n")], { type: "application/x-subrip" });
}

/** Words as they are shown. What several are spoken for is written once: "$1,234.56". */
function captions(words, spoken) {
  const found = [];
  for (const { text, written, onset, offset, ends: known } of words) {
    const shown = spoken ? text : written;
    const ends = (known || /[.!?]$/.test(text)) && !NUMBER.test(written);
    if (shown || !found.length) found.push({ shown: shown || text, onset, offset, ends });
    else Object.assign(found.at(-1), { offset, ends });
  }
  return found;
}

/** Words in lines: a new one after a sentence, and where the line is full. */
function lines(words) {
  const found = [];
  let line = [];
  for (const word of words) {
    const full = [...line, word].map(({ shown }) => shown).join(" ").length > LINE;
    if (line.length && (full || line.at(-1).ends)) {
      found.push(line);
      line = [];
    }
    line.push(word);
  }
  return line.length ? [...found, line] : found;
}

function clock(seconds) {
  const ms = Math.round(seconds * 1000);
  const part = (value, digits = 2) => String(Math.floor(value)).padStart(digits, "0");
  return `${part(ms / 3600000)}:${part((ms / 60000) % 60)}:${part((ms / 1000) % 60)},${part(ms % 1000, 3)}`;
}

/** Hand a file to the person. */
export function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}
