import { rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { compileContracts } from '../../../devnet/chain/compile.ts';
import { SOLIDITY } from '../folders.ts';
import type { Mutant } from '../mutators.ts';
import { isEquivalent, printScore, shuffled, survivorsOf } from '../run-mutant.ts';
import { WORK } from '../state.ts';
import { compileMutant, mutantsOf, readSources } from './compile.ts';
import type { SolidityMutant } from './mutators.ts';

const POSITIONS = [
  'flash-leverage',
  'flash-leverage-manage',
  'exact-bounds',
  'fees',
  'proxies',
  'hostile',
  'flash-leverage-router',
];
/** Tests in `test/contracts` of each contract; the ones most likely to notice come first. */
const TESTS: Readonly<Record<string, readonly string[]>> = {
  FlashLeverage: [...POSITIONS, 'equity-router'],
  FlashLeverageAdmin: ['exact-bounds', 'flash-leverage-manage', ...POSITIONS, 'market-reading'],
  UserProxy: ['proxies', 'hostile', ...POSITIONS],
  FlashLeverageRouter: ['flash-leverage-router', 'exact-bounds', 'hostile', 'every-market'],
  EquityRouter: ['equity-router', 'every-market', 'seeded-positions'],
  SwapVenue: ['swap-venue-exact', 'swap-venue'],
  SafeToken: ['swap-venue-exact', 'swap-venue'],
  WalletExecutor: ['wallet-executor'],
  NodeProbe: ['node-probe'],
};
/** Test files of a first try. */
const FIRST = 2;

/**
 * Try mutants of the product's contracts: each is compiled before, and the tests deploy it in place of the contract. A change
 * that does not compile, or compiles to the same code, is no mutant.
 */
export async function scoreSolidity(seed: number, sample: number): Promise<void> {
  const sources = readSources();
  const unchanged = await compileContracts();
  const all = mutantsOf(sources).filter((mutant) => !isEquivalent(mutant));
  const chosen: SolidityMutant[] = [];
  for (const mutant of shuffled(all, seed)) {
    if (chosen.length === sample) break;
    const compiled = compileMutant(sources, mutant, unchanged);
    if (typeof compiled === 'string') continue;
    writeFileSync(join(WORK, `${mutant.id}.json`), JSON.stringify(compiled));
    chosen.push(mutant);
  }
  const common = { folder: SOLIDITY, needsPostgres: false };
  const [inSrc, deployed] = [chosen.filter(isInSrc), chosen.filter((mutant) => !isInSrc(mutant))];
  const first = await survivorsOf(deployed, {
    ...common,
    isolate: false,
    testsFor: (mutant) => testsOf(mutant).slice(0, FIRST),
  });
  const survivors = await survivorsOf([...first, ...inSrc], { ...common, isolate: true, testsFor: testsOf });
  for (const { id } of chosen) rmSync(join(WORK, `${id}.json`));
  printScore({ name: SOLIDITY, seed, all: all.length, chosen, survivors });
}

/** Contracts whose code is compiled into `src`, and loaded once. */
const isInSrc = ({ file }: Mutant): boolean => /NodeProbe|WalletExecutor/.test(file);

function testsOf({ file }: Mutant): readonly string[] {
  const tests = TESTS[basename(file, '.sol')] ?? POSITIONS;
  return [...new Set(tests)].map((name) => join(import.meta.dirname, `../../../test/contracts/${name}.test.ts`));
}
