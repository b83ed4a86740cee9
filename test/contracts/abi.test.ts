import type { Abi, AbiParameter } from 'viem';
import { beforeAll, expect, test } from 'vitest';
import { swapVenueAbi } from '../../devnet/abi/swap-venue.ts';
import { type Artifacts, artifactOf, compileContracts } from '../../devnet/chain/compile.ts';
import { equityRouterAbi } from '../../src/abi/equity-router.ts';
import { flashLeverageAbi, userProxyAbi } from '../../src/abi/flash-leverage.ts';
import { flashLeverageRouterAbi } from '../../src/abi/flash-leverage-router.ts';

const MAX_RUNTIME_BYTES = 24_576;
const COMPILE_MS = 120_000;

const contracts: readonly (readonly [string, Abi])[] = [
  ['FlashLeverage', flashLeverageAbi],
  ['UserProxy', userProxyAbi],
  ['FlashLeverageRouter', flashLeverageRouterAbi],
  ['EquityRouter', equityRouterAbi],
  ['SwapVenue', swapVenueAbi],
];

let artifacts: Artifacts;
beforeAll(async () => {
  artifacts = await compileContracts();
}, COMPILE_MS);

test.each(contracts)('%s: the written ABI is the compiled one', (name, written) => {
  const compiled = artifactOf(artifacts, name).abi;
  expect(described(written)).toEqual(described(compiled.filter((item) => item.type !== 'constructor')));
});

test.each(contracts)('%s: the runtime fits the code size limit', (name) => {
  const { deployedBytecode } = artifactOf(artifacts, name);
  expect((deployedBytecode.length - 2) / 2).toBeLessThanOrEqual(MAX_RUNTIME_BYTES);
});

/** One line per entry: kind, name, typed and named inputs, output types, mutability. Names of inputs count: decoded intents show them. */
function described(abi: Abi): string[] {
  return abi
    .map((item) => {
      switch (item.type) {
        case 'function':
          return `function ${item.name}(${named(item.inputs)}) ${item.stateMutability} -> (${typed(item.outputs)})`;
        case 'event':
          return `event ${item.name}(${named(item.inputs)})`;
        case 'error':
          return `error ${item.name}(${named(item.inputs)})`;
        default:
          return `${item.type} ${'stateMutability' in item ? item.stateMutability : ''}`;
      }
    })
    .sort();
}

function named(parameters: readonly AbiParameter[]): string {
  return parameters
    .map((parameter) => {
      const indexed = 'indexed' in parameter && parameter.indexed === true ? ' indexed' : '';
      return `${typeOf(parameter)}${indexed} ${parameter.name ?? ''}`;
    })
    .join(', ');
}

function typed(parameters: readonly AbiParameter[]): string {
  return parameters.map(typeOf).join(', ');
}

function typeOf(parameter: AbiParameter): string {
  if (!('components' in parameter)) return parameter.type;
  return `(${named(parameter.components)})${parameter.type.slice('tuple'.length)}`;
}
