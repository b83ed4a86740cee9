import { readFileSync } from 'node:fs';
import type { Abi, AbiEvent, AbiParameter } from 'viem';
import { beforeAll, describe, expect, test } from 'vitest';
import { swapVenueAbi } from '../../devnet/abi/swap-venue.ts';
import { type Artifacts, artifactOf, compileContracts } from '../../devnet/chain/compile.ts';
import { equityRouterAbi } from '../../src/abi/equity-router.ts';
import { flashLeverageAbi, userProxyAbi } from '../../src/abi/flash-leverage.ts';
import { flashLeverageRouterAbi } from '../../src/abi/flash-leverage-router.ts';
import { morphoBlueAbi } from '../../src/abi/morpho-blue.ts';

interface Deployed {
  readonly complete: boolean;
  readonly functions: readonly string[];
  readonly events: readonly string[];
  readonly errors: readonly string[];
}

const MAX_RUNTIME_BYTES = 24_576;
const deployed = (
  JSON.parse(readFileSync(new URL('../../contracts/deployed-abi.json', import.meta.url), 'utf8')) as {
    contracts: Record<string, Deployed>;
  }
).contracts;

/** The declarations of `src/abi` for each deployed contract. */
const declared: Readonly<Record<string, Abi>> = {
  FlashLeverage: flashLeverageAbi,
  FlashLeverageRouter: flashLeverageRouterAbi,
  EquityRouter: equityRouterAbi,
  UserProxy: userProxyAbi,
  Morpho: morphoBlueAbi,
};

let artifacts: Artifacts;
beforeAll(async () => {
  artifacts = await compileContracts();
});

describe.each(Object.entries(deployed))('%s', (name, { complete, ...lists }) => {
  const all = [...lists.functions, ...lists.events, ...lists.errors].sort();

  test('src/abi declares only deployed functions', () => {
    const missing = signaturesOf(declared[name] ?? []).filter((signature) => !all.includes(signature));
    expect(missing).toEqual([]);
  });

  test('the local contract has all deployed functions', () => {
    const compiled = signaturesOf(artifactOf(artifacts, name).abi);
    // The lending protocol declares its events in a library, so that they are not in its own ABI.
    const own = name === 'Morpho' ? all.filter((signature) => !lists.events.includes(signature)) : all;
    expect(own.filter((signature) => !compiled.includes(signature))).toEqual([]);
  });

  test.runIf(complete)('src/abi and the local contract have exactly these, with the same names', () => {
    const compiled = artifactOf(artifacts, name).abi;
    expect(signaturesOf(compiled)).toEqual(all);
    expect(described(declared[name] ?? [])).toEqual(described(compiled));
  });
});

test('no local contract of the product has a removed view', () => {
  const gone = /s_paused|i_owner|MAX_SLIPPAGE|isApprovedOperator|i_proxyImplementation/;
  for (const name of Object.keys(deployed)) {
    expect(signaturesOf(artifactOf(artifacts, name).abi).filter((line) => gone.test(line))).toEqual([]);
  }
});

test('SwapVenue: the written ABI is the compiled one', () => {
  expect(described(swapVenueAbi)).toEqual(described(artifactOf(artifacts, 'SwapVenue').abi));
});

test.each([...Object.keys(deployed), 'SwapVenue'])('%s: the runtime fits the code size limit', (name) => {
  const { deployedBytecode } = artifactOf(artifacts, name);
  expect((deployedBytecode.length - 2) / 2).toBeLessThanOrEqual(MAX_RUNTIME_BYTES);
});

/** The parts that decide selectors, topics and decoding: no input names, no mutability. */
function signaturesOf(abi: Abi): string[] {
  return abi
    .flatMap((item) => {
      if (item.type === 'function') {
        const outputs = item.outputs.length === 0 ? '' : ` returns (${typed(item.outputs)})`;
        return `${item.name}(${typed(item.inputs)})${outputs}`;
      }
      if (item.type === 'error') return `${item.name}(${typed(item.inputs)})`;
      return item.type === 'event' ? `${item.name}(${indexed(item)})` : [];
    })
    .sort();
}

/** With names of inputs, which decoded intents and refusals show, and mutability. */
function described(abi: Abi): string[] {
  return abi
    .flatMap((item) => {
      if (item.type === 'constructor') return [];
      const inputs = 'inputs' in item ? item.inputs.map(({ name }) => name).join(', ') : '';
      const mutability = 'stateMutability' in item ? item.stateMutability : '';
      return `${item.type} ${'name' in item ? item.name : ''}(${inputs}) ${mutability}`;
    })
    .sort();
}

function indexed({ inputs }: AbiEvent): string {
  return inputs.map((input) => `${typeOf(input)}${input.indexed ? ' indexed' : ''}`).join(',');
}

function typed(parameters: readonly AbiParameter[]): string {
  return parameters.map(typeOf).join(',');
}

function typeOf(parameter: AbiParameter): string {
  if (!('components' in parameter)) return parameter.type;
  return `(${typed(parameter.components)})${parameter.type.slice('tuple'.length)}`;
}
