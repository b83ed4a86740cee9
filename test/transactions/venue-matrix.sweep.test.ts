import { describe, expect, it } from 'vitest';
import { AppError } from '../../src/shared/errors.ts';
import type { SwapQuote, SwapRequest } from '../../src/upstreams/types.ts';
import { type Built, type ModelPath, modelPaths, REFERENCE_OF, type Reference } from './model/paths.ts';
import type { ModelLie } from './model/venues.ts';

/*
 * The whole product of lies, references, paths, swaps and numbers of venues, through the builders themselves, on a model of
 * the chain: every cell that is built is signed in the model, and held against its worst case.
 */

type Source = SwapQuote['source'];
const MILLION = 1_000_000n;
const less = (amount: bigint, ppm: bigint) => (amount * (MILLION - ppm)) / MILLION;
const honest = { quoted: (fair: bigint) => fair, simulated: (fair: bigint) => fair, onChain: (fair: bigint) => fair };
const quotes =
  (of: (fair: bigint, reference: bigint) => bigint) =>
  (reference: (amountIn: bigint) => bigint): ModelLie => {
    const paid = (fair: bigint, quoted: bigint) => (quoted < fair ? quoted : fair);
    return { quoted: (fair, amountIn) => of(fair, reference(amountIn)), simulated: paid, onChain: paid };
  };
const fills = (simulated: bigint, onChain: bigint) => (): ModelLie => ({
  ...honest,
  simulated: (fair) => less(fair, simulated),
  onChain: (fair) => less(fair, onChain),
});

interface NamedLie {
  readonly of: (reference: (amountIn: bigint) => bigint) => ModelLie;
  /** With a right reference and no honest venue: whether it is built, because no loss exceeds the bounds. */
  readonly isBuilt: boolean;
  /** Whether it is indistinguishable from an honest venue before it is signed. */
  readonly isHidden?: true;
}

const LIES: Readonly<Record<string, NamedLie>> = {
  'low by 9.5 %': { isBuilt: false, of: quotes((fair) => less(fair, 95_000n)) },
  'exactly at the bound': { isBuilt: true, of: quotes((_, reference) => (reference * 99n + 99n) / 100n) },
  'a unit below the bound': { isBuilt: false, of: quotes((_, reference) => (reference * 99n + 99n) / 100n - 1n) },
  'high by 5 %': { isBuilt: true, of: quotes((fair) => fair + fair / 20n) },
  'taking a fee for a stranger': { isBuilt: false, of: fills(3_000n, 3_000n) },
  'paying the output to a stranger': { isBuilt: false, of: fills(MILLION, MILLION) },
  'skimming the fill': { isBuilt: false, of: fills(4_000n, 4_000n) },
  'skimming within the tolerance': { isBuilt: true, of: fills(900n, 900n), isHidden: true },
  dead: { isBuilt: false, of: () => ({ ...honest, isDead: true }) },
  'honest when simulated, within the slippage': { isBuilt: true, of: fills(0n, 4_000n), isHidden: true },
  'honest when simulated, beyond the slippage': { isBuilt: true, of: fills(0n, 30_000n), isHidden: true },
};

const isAbout = (path: ModelPath, index: number) => (request: SwapRequest) => {
  const swap = path.swaps[index];
  return (
    swap !== undefined &&
    swap.tokenIn === request.tokenIn &&
    swap.tokenOut === request.tokenOut &&
    (swap.recipient ?? request.recipient) === request.recipient
  );
};

/** Build and sign one cell: the result is not below its worst case; a refusal names its own reason. */
async function run(
  path: ModelPath,
  reference: Reference,
  lieOf: (source: Source, swap: SwapRequest) => ModelLie | undefined,
) {
  let built: Built;
  try {
    built = await path.build(reference, lieOf);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const codes = ['bad_request', 'no_route', 'upstream_unavailable', 'simulation_reverted', 'simulation_mismatch'];
    expect(codes, error.message).toContain(error.code);
    return error.code;
  }
  const left = built.execute();
  if (left !== 'reverted') {
    expect(left.is, `${left.is} is less than ${left.least}`).toBeGreaterThanOrEqual(left.least);
    if (left.ltvPct) expect(left.ltvPct.lte(left.worstLtvPct), `${left.ltvPct} above ${left.worstLtvPct}`).toBe(true);
  }
  return { left, sources: built.sources };
}

describe.each(Object.keys(REFERENCE_OF) as Reference[])('references that are %s', (reference) => {
  it.each(modelPaths.map((path) => [path.name, path] as const))('property: %s', async (_name, path) => {
    const usual = await run(path, reference, () => undefined);
    for (const [turn, [name, { of, isHidden, isBuilt }]] of Object.entries(LIES).entries()) {
      for (const [index] of path.swaps.entries()) {
        const about = isAbout(path, index);
        const lie = of((amountIn) => path.reference(reference, index, amountIn));
        const none = await run(path, reference, (_source, request) => (about(request) ? lie : undefined));
        if (reference === 'right') expect(typeof none, `${name}: ${String(none)}`).toBe(isBuilt ? 'object' : 'string');
        if (typeof none !== 'string' && !name.startsWith('honest')) expect(none.left, name).not.toBe('reverted');
        if (path.sources.length < 2) continue;
        const liar = path.sources[(turn + index) % 2];
        const beside = await run(path, reference, (source, request) =>
          source === liar && about(request) ? lie : undefined,
        );
        // No lie causes an outage, and no detectable liar is chosen.
        expect(typeof beside, `${name}: ${String(beside)} beside an honest venue`).toBe(typeof usual);
        if (typeof beside === 'string' || isHidden) continue;
        expect(beside.left).not.toBe('reverted');
        expect(beside.sources[index], `${name} at ${liar}`).not.toBe(liar);
      }
    }
  });
});

it.each(
  modelPaths.filter(({ sources, swaps }) => sources.length > 1 && swaps.length > 1).map((path) => [path.name, path]),
)('behavior: %s uses the honest venue, whichever swap the other overquotes', async (_name, path) => {
  for (const liar of path.sources) {
    for (const [better] of path.swaps.entries()) {
      const about = isAbout(path, better);
      const lie = (promised: bigint): ModelLie => ({
        ...fills(4_000n, 4_000n)(),
        quoted: (fair) => less(fair, promised),
      });
      const built = await run(path, 'right', (source, request) =>
        source === liar ? lie(about(request) ? -1_000n : 1_000n) : undefined,
      );
      expect(built, `${liar} promises more of swap ${better}`).toMatchObject({ left: { is: expect.any(BigInt) } });
      if (typeof built !== 'string') expect(built.sources).not.toContain(liar);
    }
  }
});
