/** Bytes absorbed at once by Keccak-256. */
const RATE = 136;
const LANES = 25;

/** The state is 25 lanes of 64 bits, at index x + 5 y; a lane is its low and its high 32 bits. */
const { MOVES, ROTATIONS, CONSTANTS } = constants();

/** Keccak-256 of bytes, or of a text in UTF-8, as `0x…`. */
export function keccak256(input: string | Uint8Array): `0x${string}` {
  const bytes = typeof input === 'string' ? new TextEncoder().encode(input) : input;
  const padded = new Uint8Array(Math.ceil((bytes.length + 1) / RATE) * RATE);
  padded.set(bytes);
  padded[bytes.length] = 1;
  padded[padded.length - 1] = (padded[padded.length - 1] ?? 0) | 0x80;
  const words = new DataView(padded.buffer);
  const state = new Uint32Array(2 * LANES);
  for (let block = 0; block < padded.length; block += RATE) {
    for (let i = 0; i < RATE / 4; i += 1) state[i] = at(state, i) ^ words.getUint32(block + i * 4, true);
    permute(state);
  }
  const digest = new DataView(new ArrayBuffer(32));
  for (let i = 0; i < 8; i += 1) digest.setUint32(i * 4, at(state, i), true);
  return `0x${[...new Uint8Array(digest.buffer)].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

function at(words: Uint32Array, index: number): number {
  return words[index] ?? 0;
}

/** Reused by all permutations: each writes them before it reads them. */
const columns = new Uint32Array(10);
const moved = new Uint32Array(2 * LANES);

function permute(state: Uint32Array): void {
  for (let round = 0; round < 24; round += 1) {
    for (let i = 0; i < 10; i += 1) {
      columns[i] = at(state, i) ^ at(state, i + 10) ^ at(state, i + 20) ^ at(state, i + 30) ^ at(state, i + 40);
    }
    for (let column = 0; column < 5; column += 1) {
      const before = 2 * ((column + 4) % 5);
      const after = 2 * ((column + 1) % 5);
      const low = at(columns, after);
      const high = at(columns, after + 1);
      const mixLow = at(columns, before) ^ ((low << 1) | (high >>> 31));
      const mixHigh = at(columns, before + 1) ^ ((high << 1) | (low >>> 31));
      for (let lane = column; lane < LANES; lane += 5) {
        const mixedLow = at(state, 2 * lane) ^ mixLow;
        const mixedHigh = at(state, 2 * lane + 1) ^ mixHigh;
        const by = at(ROTATIONS, lane);
        const to = 2 * at(MOVES, lane);
        // By 32 or more the halves change places.
        const a = by < 32 ? mixedLow : mixedHigh;
        const b = by < 32 ? mixedHigh : mixedLow;
        // Only 5 bits of a shift count. Shifted by 1 and by the rest, a half that is not rotated gives nothing.
        const rest = by & 31;
        moved[to] = (a << rest) | ((b >>> 1) >>> (31 - rest));
        moved[to + 1] = (b << rest) | ((a >>> 1) >>> (31 - rest));
      }
    }
    for (let row = 0; row < 2 * LANES; row += 10) {
      for (let i = 0; i < 10; i += 1) {
        const next = i < 8 ? i + 2 : i - 8;
        const second = i < 6 ? i + 4 : i - 6;
        state[row + i] = at(moved, row + i) ^ (~at(moved, row + next) & at(moved, row + second));
      }
    }
    state[0] = at(state, 0) ^ at(CONSTANTS, 2 * round);
    state[1] = at(state, 1) ^ at(CONSTANTS, 2 * round + 1);
  }
}

/** By the reference of Keccak: where each lane moves to, its rotation, and the constants of the 24 rounds in halves. */
function constants(): {
  readonly MOVES: Uint32Array;
  readonly ROTATIONS: Uint32Array;
  readonly CONSTANTS: Uint32Array;
} {
  const rotations = new Uint32Array(LANES);
  let [x, y] = [1, 0];
  for (let t = 0; t < 24; t += 1) {
    rotations[x + 5 * y] = (((t + 1) * (t + 2)) / 2) % 64;
    [x, y] = [y, (2 * x + 3 * y) % 5];
  }
  const moves = Uint32Array.from({ length: LANES }, (_, lane) => {
    const [column, row] = [lane % 5, Math.floor(lane / 5)];
    return row + 5 * ((2 * column + 3 * row) % 5);
  });
  // The bits of the constants come from a linear feedback register.
  let register = 1;
  const halves = new Uint32Array(48);
  for (let round = 0; round < 24; round += 1) {
    for (let bit = 0; bit < 7; bit += 1) {
      const place = 2 ** bit - 1;
      const half = 2 * round + (place < 32 ? 0 : 1);
      if (register & 1) halves[half] = at(halves, half) | (1 << (place % 32));
      register = register & 0x80 ? ((register << 1) ^ 0x171) & 0xff : register << 1;
    }
  }
  return { MOVES: moves, ROTATIONS: rotations, CONSTANTS: halves };
}
