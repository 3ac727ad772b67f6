/** Fourier transforms of real numbers: mixed radix, in double precision. */

/** Prime factors, small ones first. */
function factors(size) {
  const found = [];
  for (let prime = 2; size > 1; prime++) {
    for (; size % prime === 0; size /= prime) found.push(prime);
  }
  return found;
}

export class Fourier {
  /** `size`: real samples, an even number. */
  constructor(size) {
    this.size = size;
    this.half = size / 2;
    this.stages = factors(this.half);
    const turn = (count, total) => {
      const table = new Float64Array(2 * count);
      for (let i = 0; i < count; i++) {
        table[2 * i] = Math.cos((2 * Math.PI * i) / total);
        table[2 * i + 1] = -Math.sin((2 * Math.PI * i) / total);
      }
      return table;
    };
    this.turns = turn(this.half, this.half);
    this.real = turn(this.half + 1, size);
    this.a = new Float64Array(size);
    this.b = new Float64Array(size);
  }

  /** Transform the complex numbers (re, im, ...) of `from`; `from` and `to` are both overwritten. Returns which holds the result. */
  complex(from, to) {
    const { half, turns } = this;
    // Each stage takes transforms of `done` numbers that lie `half / done` apart, and makes them `radix` times as long.
    for (let stage = 0, done = 1; stage < this.stages.length; stage++) {
      const radix = this.stages[stage];
      const groups = half / (done * radix);
      for (let group = 0; group < groups; group++) {
        for (let k = 0; k < done; k++) {
          for (let out = 0; out < radix; out++) {
            const place = k + out * done;
            const step = place * groups;
            let re = 0;
            let im = 0;
            for (let i = 0, at = 0; i < radix; i++) {
              const source = 2 * ((i * groups + group) * done + k);
              const c = turns[2 * at];
              const s = turns[2 * at + 1];
              re += from[source] * c - from[source + 1] * s;
              im += from[source] * s + from[source + 1] * c;
              at += step;
              if (at >= half) at -= half;
            }
            const target = 2 * (group * done * radix + place);
            to[target] = re;
            to[target + 1] = im;
          }
        }
      }
      [from, to] = [to, from];
      done *= radix;
    }
    return from;
  }

  /** `size / 2 + 1` complex numbers of real samples, into `out` (re, im, ...). */
  forward(samples, out) {
    const { half, real } = this;
    this.a.set(samples);
    const found = this.complex(this.a, this.b);
    for (let k = 0; k <= half; k++) {
      const i = 2 * (k % half);
      const j = 2 * ((half - k) % half);
      const evenRe = 0.5 * (found[i] + found[j]);
      const evenIm = 0.5 * (found[i + 1] - found[j + 1]);
      const oddRe = 0.5 * (found[i + 1] + found[j + 1]);
      const oddIm = -0.5 * (found[i] - found[j]);
      const c = real[2 * k];
      const s = real[2 * k + 1];
      out[2 * k] = evenRe + oddRe * c - oddIm * s;
      out[2 * k + 1] = evenIm + oddRe * s + oddIm * c;
    }
  }

  /** The other way: `size` samples of `size / 2 + 1` complex numbers; the first and the last are taken as real. */
  backward(bins, out) {
    const { half, real, a } = this;
    for (let k = 0; k < half; k++) {
      const j = 2 * (half - k);
      const topIm = k === 0 ? 0 : bins[2 * k + 1];
      const endIm = k === 0 ? 0 : bins[j + 1];
      const evenRe = bins[2 * k] + bins[j];
      const evenIm = topIm - endIm;
      const diffRe = bins[2 * k] - bins[j];
      const diffIm = topIm + endIm;
      const c = real[2 * k];
      const s = -real[2 * k + 1];
      const oddRe = diffRe * c - diffIm * s;
      const oddIm = diffRe * s + diffIm * c;
      // Conjugated, since the way back is the way there with all turns the other way round.
      a[2 * k] = evenRe - oddIm;
      a[2 * k + 1] = -(evenIm + oddRe);
    }
    const found = this.complex(a, this.b);
    const scale = 1 / this.size;
    for (let n = 0; n < half; n++) {
      out[2 * n] = found[2 * n] * scale;
      out[2 * n + 1] = -found[2 * n + 1] * scale;
    }
  }
}
