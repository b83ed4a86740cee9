import { type Address, concat, encodeAbiParameters, type Hex, keccak256, numberToHex, pad } from 'viem';
import { encodeFunctionData } from '../../abi/calldata.ts';
import { erc20Abi } from '../../abi/erc20.ts';
import type { Reading } from '../../chain/reading.ts';

/** Where a token keeps an account's balance, as a function of the account. */
export type BalanceSlot = (account: Address) => Hex;

/** Most tokens keep balances in one of their first slots; behind inheritance some dozens further down. */
const PLAIN_SLOTS = 60;
/** OpenZeppelin 5 upgradeable: the `erc20` namespace of ERC-7201. */
const NAMESPACED_SLOT = 0x52c63247e1f47db19d5ce0460030c497f067ca4cebf71ba98eeadabe20bace00n;
/** Solady's seed, packed behind the account. */
const SOLADY_SEED: Hex = '0x000000000000000087a211a2';

const solidity =
  (position: bigint): BalanceSlot =>
  (account) =>
    keccak256(encodeAbiParameters([{ type: 'address' }, { type: 'uint256' }], [account, position]));
const vyper =
  (position: bigint): BalanceSlot =>
  (account) =>
    keccak256(encodeAbiParameters([{ type: 'uint256' }, { type: 'address' }], [position, account]));

const plain = Array.from({ length: PLAIN_SLOTS }, (_, position) => BigInt(position));
const CANDIDATES: readonly BalanceSlot[] = [
  ...plain.map(solidity),
  ...plain.map(vyper),
  solidity(NAMESPACED_SLOT),
  (account) => keccak256(concat([account, SOLADY_SEED])),
];
/** Marks each candidate with a value of its own, unlike any real balance. */
const MARK = 0x5b1a_7e00_0000_0000n;

/**
 * Find where a token keeps balances, in one request: every candidate slot of a made-up account is overridden with a value
 * of its own, and the balance that the token then reports names the slot. `undefined` = it keeps them in another way
 * (rebasing shares, foreign storage), or the node does not answer.
 */
async function findBalanceSlot(
  { client, at }: Reading,
  token: Address,
  account: Address,
): Promise<BalanceSlot | undefined> {
  const stateDiff = Object.fromEntries(
    CANDIDATES.map((slotOf, i) => [slotOf(account), pad(numberToHex(MARK + BigInt(i)), { size: 32 })]),
  );
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [account] });
  const answer: unknown = await client
    .request({ method: 'eth_call', params: [{ to: token, data }, at as Hex, { [token]: { stateDiff } }] })
    .catch(() => undefined);
  if (typeof answer !== 'string' || !/^0x[0-9a-f]{64}$/i.test(answer)) return undefined;
  const index = BigInt(answer) - MARK;
  return index >= 0n && index < BigInt(CANDIDATES.length) ? CANDIDATES[Number(index)] : undefined;
}

/** Balance slots of the tokens of one chain. */
export interface BalanceSlots {
  /** Find the token's slot; remembered. A node that does not answer finds none. */
  find(reading: Reading, token: Address): Promise<BalanceSlot | undefined>;
}

/** An account without a key: its slots hold nothing real. */
const PROBE: Address = '0x5b1a700000000000000000000000000000005b1a';
const MAX_REMEMBERED = 1_000;

/** Create the memory of one chain's balance slots. */
export function createBalanceSlots(): BalanceSlots {
  const slots = new Map<Address, Promise<BalanceSlot | undefined>>();
  return {
    find(reading, token) {
      const known = slots.get(token);
      if (known) return known;
      if (slots.size >= MAX_REMEMBERED) slots.clear();
      const search = findBalanceSlot(reading, token, PROBE).then((slot) => {
        // A token that has no slot now may have one later: it may not even be there yet.
        if (!slot) slots.delete(token);
        return slot;
      });
      slots.set(token, search);
      return search;
    },
  };
}
