import { type Address, concatHex, type Hex, numberToHex, pad, size, toFunctionSelector } from 'viem';
import type { LocalChain } from '../../devnet/chain/index.ts';

/** Address at which the original code of a covered contract continues. */
const FIRST_COVERED = 0xc0de_0000_0000n;

let covered = 0n;

/** The returned words of a view for any caller and arguments. */
export type Answers = Readonly<Record<string, Hex>>;

/**
 * Let a contract return given bytes for some views and behave as before otherwise: its own code runs behind it,
 * on the same storage.
 * @param answers by signature, e.g. `decimals()`
 */
export async function answering({ client }: LocalChain, address: Address, answers: Answers): Promise<void> {
  const own = (await client.getCode({ address })) ?? '0x';
  covered += 1n;
  const behind = numberToHex(FIRST_COVERED + covered, { size: 20 });
  await client.setCode({ address: behind, bytecode: own });
  await client.setCode({ address, bytecode: coverOf(behind, answers) });
}

const op = {
  selector: '0x60003560e01c',
  /** DUP1 PUSH4 selector EQ PUSH2 at JUMPI */
  jump: (selector: Hex, at: number): Hex => concatHex(['0x8063', selector, '0x1461', word16(at), '0x57']),
  /** Passes the call to the original code and returns or reverts with its result. */
  forward: (behind: Hex, okAt: number): Hex =>
    concatHex([
      '0x3660006000376000600036600073',
      behind,
      '0x5af43d600060003e61',
      word16(okAt),
      '0x573d6000fd5b3d6000f3',
    ]),
  /** JUMPDEST PUSH3 length PUSH3 offset PUSH1 0 CODECOPY PUSH3 length PUSH1 0 RETURN */
  answer: (length: number, offset: number): Hex =>
    concatHex(['0x5b62', word24(length), '0x62', word24(offset), '0x60003962', word24(length), '0x6000f3']),
};
const JUMP_BYTES = 11;
const FORWARD_OK = 50;

function coverOf(behind: Hex, answers: Answers): Hex {
  const entries = Object.entries(answers);
  const forwardAt = size(op.selector as Hex) + entries.length * JUMP_BYTES;
  const forwardBytes = size(op.forward(behind, 0));
  const answerBytes = size(op.answer(0, 0));
  const answersAt = forwardAt + forwardBytes;
  let dataAt = answersAt + entries.length * answerBytes;
  const jumps: Hex[] = [];
  const bodies: Hex[] = [];
  for (const [i, [signature, data]] of entries.entries()) {
    jumps.push(op.jump(toFunctionSelector(`function ${signature}`), answersAt + i * answerBytes));
    bodies.push(op.answer(size(data), dataAt));
    dataAt += size(data);
  }
  const forward = op.forward(behind, forwardAt + FORWARD_OK);
  return concatHex([op.selector as Hex, ...jumps, forward, ...bodies, ...Object.values(answers)]);
}

function word16(value: number): Hex {
  return pad(numberToHex(value), { size: 2 });
}

function word24(value: number): Hex {
  return pad(numberToHex(value), { size: 3 });
}
