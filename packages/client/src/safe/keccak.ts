/** Bytes absorbed at once by Keccak-256. */
const RATE = 136;
const MASK = (1n << 64n) - 1n;

/** Rotation of each lane, and the constants of the 24 rounds, from the reference of Keccak. */
const { ROTATIONS, CONSTANTS } = constants();

/** Keccak-256 of a text in UTF-8, as `0x…`. */
export function keccak256(text: string): string {
  const bytes = new TextEncoder().encode(text);
  const padded = new Uint8Array(Math.ceil((bytes.length + 1) / RATE) * RATE);
  padded.set(bytes);
  padded[bytes.length] = 1;
  padded[padded.length - 1] = (padded[padded.length - 1] ?? 0) | 0x80;
  const words = new DataView(padded.buffer);
  let lanes = Array<bigint>(25).fill(0n);
  for (let block = 0; block < padded.length; block += RATE) {
    lanes = permute(lanes.map((lane, i) => (i < RATE / 8 ? lane ^ words.getBigUint64(block + i * 8, true) : lane)));
  }
  const digest = new DataView(new ArrayBuffer(32));
  for (let i = 0; i < 4; i += 1) digest.setBigUint64(i * 8, lanes[i] ?? 0n, true);
  return `0x${[...new Uint8Array(digest.buffer)].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

const rotate = (lane: bigint, by: number) => ((lane << BigInt(by)) | (lane >> BigInt(64 - by))) & MASK;

/** Lanes are at index x + 5 y. */
function permute(start: readonly bigint[]): bigint[] {
  let lanes = [...start];
  const at = (x: number, y: number) => lanes[(x % 5) + 5 * (y % 5)] ?? 0n;
  for (const constant of CONSTANTS) {
    const columns = [0, 1, 2, 3, 4].map((x) => at(x, 0) ^ at(x, 1) ^ at(x, 2) ^ at(x, 3) ^ at(x, 4));
    const mixed = [0, 1, 2, 3, 4].map((x) => (columns[(x + 4) % 5] ?? 0n) ^ rotate(columns[(x + 1) % 5] ?? 0n, 1));
    lanes = lanes.map((lane, i) => lane ^ (mixed[i % 5] ?? 0n));
    const moved = Array<bigint>(25).fill(0n);
    for (let x = 0; x < 5; x += 1) {
      for (let y = 0; y < 5; y += 1) moved[y + 5 * ((2 * x + 3 * y) % 5)] = rotate(at(x, y), ROTATIONS[x + 5 * y] ?? 0);
    }
    lanes = moved;
    lanes = lanes.map((lane, i) => {
      const [x, y] = [i % 5, Math.floor(i / 5)];
      return lane ^ (~at(x + 1, y) & MASK & at(x + 2, y));
    });
    lanes[0] = (lanes[0] ?? 0n) ^ constant;
  }
  return lanes;
}

function constants(): { readonly ROTATIONS: readonly number[]; readonly CONSTANTS: readonly bigint[] } {
  const rotations = Array<number>(25).fill(0);
  let [x, y] = [1, 0];
  for (let t = 0; t < 24; t += 1) {
    rotations[x + 5 * y] = (((t + 1) * (t + 2)) / 2) % 64;
    [x, y] = [y, (2 * x + 3 * y) % 5];
  }
  // The bits of the constants come from a linear feedback register.
  let register = 1;
  const rounds = Array.from({ length: 24 }, () => {
    let constant = 0n;
    for (let bit = 0; bit < 7; bit += 1) {
      if (register & 1) constant |= 1n << BigInt(2 ** bit - 1);
      register = register & 0x80 ? ((register << 1) ^ 0x171) & 0xff : register << 1;
    }
    return constant;
  });
  return { ROTATIONS: rotations, CONSTANTS: rounds };
}
