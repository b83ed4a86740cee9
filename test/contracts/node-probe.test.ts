import { concatHex, encodeAbiParameters, type Hex, keccak256, numberToHex, pad, slice, toHex } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Anvil, startAnvil } from '../../devnet/chain/anvil.ts';
import { NODE_PROBE_CODE } from '../../src/abi/generated/node-probe.ts';

const CHAIN_ID = 1;
const AT = pad('0xcafe1', { size: 20 });
/** Bytes of the returned word that are of the hash; the first byte is zero. */
const HASH_BYTES = 31;

let anvil: Anvil;
beforeAll(async () => {
  anvil = await startAnvil({ chainId: CHAIN_ID, timestamp: 1_700_000_000, history: 10 });
});
afterAll(() => anvil?.stop());

async function ask(method: string, params: readonly unknown[]) {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const answer = await fetch(anvil.rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  return ((await answer.json()) as { result: unknown }).result;
}

const uint = { type: 'uint256' } as const;
/** The word that a run has to return, by the chain and the number of runs. */
const wordOf = (runs: bigint): Hex => {
  const hash = keccak256(encodeAbiParameters([uint, uint], [BigInt(CHAIN_ID), runs]));
  return concatHex(['0x00', slice(hash, 0, HASH_BYTES)]);
};

test.each([0n, 41n])('default: after %s runs it returns the hash of the chain and the next run', async (before) => {
  const overrides = { [AT]: { code: NODE_PROBE_CODE, state: { [pad('0x0')]: numberToHex(before, { size: 32 }) } } };
  expect(await ask('eth_call', [{ to: AT }, 'latest', overrides])).toBe(wordOf(before + 1n));
});

test('default: as creation code it is the first run, also with a payment', async () => {
  expect(await ask('eth_call', [{ data: NODE_PROBE_CODE }, 'latest'])).toBe(wordOf(1n));
  const from = pad('0xcafe2', { size: 20 });
  await ask('anvil_setBalance', [from, toHex(10n)]);
  expect(await ask('eth_call', [{ from, data: NODE_PROBE_CODE, value: toHex(1n) }, 'latest'])).toBe(wordOf(1n));
});

test('behavior: each run is counted in slot 0, and emits the word without topics', async () => {
  const calls = [{ to: AT }, { to: AT }];
  const block = { stateOverrides: { [AT]: { code: NODE_PROBE_CODE } }, calls };
  const [simulated] = (await ask('eth_simulateV1', [{ blockStateCalls: [block] }, 'latest'])) as [
    { readonly calls: readonly { readonly returnData: Hex; readonly logs: readonly { topics: Hex[]; data: Hex }[] }[] },
  ];
  expect(simulated.calls.map(({ returnData }) => returnData)).toEqual([wordOf(1n), wordOf(2n)]);
  expect(simulated.calls.map(({ logs }) => logs)).toEqual(
    [1n, 2n].map((runs) => [expect.objectContaining({ topics: [], data: wordOf(runs) })]),
  );
});
