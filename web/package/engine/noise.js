/**
 * The noise of `sayahead/vocoders/sourcefilter.py`, number for number: NumPy's `default_rng([seed, block])` (SeedSequence, then
 * PCG64 by O'Neill) and its normal numbers in single precision (the ziggurat of Marsaglia and Tsang, 256 layers).
 */

const round = Math.fround;
const LAYERS = 256;
const EDGE = 3.6541528853610088; // where the tail begins
const AREA = 0.00492867323399; // of a layer
const SCALE = 2 ** 23;

/** Widths, bounds of what is inside at once, and heights of the layers. */
const { widths, inside, heights } = layers();

function layers() {
  const found = { widths: new Float32Array(LAYERS), inside: new Int32Array(LAYERS), heights: new Float32Array(LAYERS) };
  const density = (x) => Math.exp(-0.5 * x * x);
  const base = AREA / density(EDGE);
  found.inside[0] = Math.trunc((EDGE / base) * SCALE);
  found.widths[0] = base / SCALE;
  found.heights[0] = 1;
  for (let i = LAYERS - 1, x = EDGE; i > 0; i--) {
    found.widths[i] = x / SCALE;
    found.heights[i] = density(x);
    const next = i > 1 ? Math.sqrt(-2 * Math.log(AREA / x + density(x))) : 0;
    found.inside[i] = Math.trunc((next / x) * SCALE);
    x = next;
  }
  return found;
}

const multiplied = (a, b) => Math.imul(a, b) >>> 0;

/** SeedSequence: `count` 32-bit numbers of whole numbers. */
export function seeded(numbers, count) {
  const words = numbers.flatMap((number) => {
    const parts = [];
    for (let rest = BigInt(number); parts.length === 0 || rest > 0n; rest >>= 32n) parts.push(Number(rest & 0xffffffffn));
    return parts;
  });
  let constant = 0x43b0d7e5;
  const hashed = (value) => {
    value ^= constant;
    constant = multiplied(constant, 0x931e8875);
    value = multiplied(value, constant);
    return (value ^ (value >>> 16)) >>> 0;
  };
  const mixed = (a, b) => {
    const value = (multiplied(a, 0xca01f9dd) - multiplied(b, 0x4973f715)) >>> 0;
    return (value ^ (value >>> 16)) >>> 0;
  };
  const pool = Array.from({ length: 4 }, (_, i) => hashed(words[i] ?? 0));
  for (let from = 0; from < 4; from++) {
    for (let to = 0; to < 4; to++) if (from !== to) pool[to] = mixed(pool[to], hashed(pool[from]));
  }
  for (const word of words.slice(4)) {
    for (let to = 0; to < 4; to++) pool[to] = mixed(pool[to], hashed(word));
  }
  constant = 0x8b51f9dd;
  return Array.from({ length: count }, (_, i) => {
    let value = pool[i % 4] ^ constant;
    constant = multiplied(constant, 0x58f38ded);
    value = multiplied(value, constant);
    return (value ^ (value >>> 16)) >>> 0;
  });
}

const LIMBS = 8; // of 16 bits
const limbs = (number) => Array.from({ length: LIMBS }, (_, i) => Number((number >> BigInt(16 * i)) & 0xffffn));
const MULTIPLIER = limbs((2549297995355413924n << 64n) + 4865540595714422341n);

/** PCG64: 32 bits at a time. */
class Generator {
  constructor(numbers) {
    const words = seeded(numbers, 8).map(BigInt);
    const [high, low, other, last] = [0, 2, 4, 6].map((i) => words[i] + (words[i + 1] << 32n));
    const whole = (1n << 128n) - 1n;
    this.increment = limbs((((((other << 64n) + last) << 1n) & whole) + 1n) & whole);
    this.state = limbs(0n);
    this.scratch = limbs(0n);
    this.advance();
    this.add(limbs((high << 64n) + low));
    this.advance();
    this.kept = -1;
  }

  add(other) {
    for (let i = 0, carry = 0; i < LIMBS; i++) {
      const sum = this.state[i] + other[i] + carry;
      this.state[i] = sum & 0xffff;
      carry = sum >>> 16;
    }
  }

  advance() {
    const { state, scratch, increment } = this;
    let carry = 0;
    for (let i = 0; i < LIMBS; i++) {
      let sum = carry + increment[i];
      for (let j = 0; j <= i; j++) sum += state[j] * MULTIPLIER[i - j];
      carry = Math.floor(sum / 65536);
      scratch[i] = sum - 65536 * carry;
    }
    this.state = scratch;
    this.scratch = state;
  }

  /** The next 32 bits, as a number that is not negative. */
  next() {
    if (this.kept >= 0) {
      const kept = this.kept;
      this.kept = -1;
      return kept;
    }
    this.advance();
    const s = this.state;
    const even = (s[0] ^ s[4]) | ((s[1] ^ s[5]) << 16);
    const odd = (s[2] ^ s[6]) | ((s[3] ^ s[7]) << 16);
    const by = s[7] >>> 10;
    const low = by & 32 ? odd : even;
    const high = by & 32 ? even : odd;
    const rest = by & 31;
    this.kept = rest ? ((high >>> rest) | (low << (32 - rest))) >>> 0 : high >>> 0;
    return rest ? ((low >>> rest) | (high << (32 - rest))) >>> 0 : low >>> 0;
  }

  /** In [0, 1), of 24 bits. */
  share() {
    return (this.next() >>> 8) / 16777216;
  }

  normal() {
    for (;;) {
      const bits = this.next();
      const layer = bits & 0xff;
      const whole = (bits >>> 9) & 0x7fffff;
      const size = round(whole * widths[layer]);
      const value = bits & 0x100 ? -size : size;
      if (whole < inside[layer]) return value;
      if (layer === 0) return this.tail((whole >>> 8) & 1);
      const height = (heights[layer - 1] - heights[layer]) * this.share() + heights[layer];
      if (height < Math.exp(-0.5 * value * value)) return value;
    }
  }

  tail(negative) {
    for (;;) {
      const beyond = -Math.log1p(-this.share()) / EDGE;
      const other = -Math.log1p(-this.share());
      if (other + other > beyond * beyond) return round(negative ? -(EDGE + beyond) : EDGE + beyond);
    }
  }
}

const KEPT = 64; // blocks
const blocks = new Map();

/** `size` standard normal numbers (Float32Array) of a block. */
export function normals(seed, block, size) {
  const name = `${seed} ${block} ${size}`;
  let found = blocks.get(name);
  if (!found) {
    const generator = new Generator([seed, block]);
    found = new Float32Array(size);
    for (let n = 0; n < size; n++) found[n] = generator.normal();
    if (blocks.size >= KEPT) blocks.delete(blocks.keys().next().value);
    blocks.set(name, found);
  }
  return found;
}
