import { describe, expect, it } from 'vitest';
import {
  type Intent,
  type VerifiablePlan,
  VerificationError,
  type Verified,
  verify,
} from '../../packages/client/src/verify/index.ts';
import { type Bundle, localChains } from './verify-bundles.ts';
import { type Executed, harmOf } from './verify-execute.ts';
import { argumentsOf, callsIn, changedArgument, type Masks, type Mutant, mutantsOf } from './verify-mutants.ts';

interface Bundles {
  bundles(): readonly Bundle[];
  /** One of each kind. */
  samples(): readonly Bundle[];
  sample(kind: string): Bundle;
  execute(plan: VerifiablePlan, report: Verified): Promise<Executed | undefined>;
}

/** Every value of every byte of every plan, 13 million proofs: about ten minutes of one core. */
const isWhole = process.env.VERIFY_MUTATIONS === 'all';
const WHOLE_MS = 7_200_000;
const OTHER_VALUES = Array.from({ length: 255 }, (_, i) => i + 1);

/** The single-byte changes of built plans: each is refused, or is proven harmless. */
export function describeSingleBytes({ bundles, samples, sample, execute }: Bundles): void {
  describe('a single byte', () => {
    it('behavior: of every plan is refused, or is part of what a contract bounds', () => {
      let count = 0;
      for (const [i, bundle] of bundles().entries()) {
        // One other value for each byte; all 255 of them over the bundles.
        count += harmless(bundle, (byte) => [1 + ((byte * 101 + i * 37) % 255)]).length;
      }
      expect(count).toBeGreaterThan(0);
    });

    it('behavior: that decides a function is refused in all 255 other values, or is part of what a contract bounds', () => {
      const seen = new Set<string>();
      let whole = 0;
      for (const bundle of bundles()) {
        const places = placesOf(bundle);
        harmless(bundle, (byte, callIndex) => {
          const place = places[callIndex]?.get(byte);
          // Swap calldata and lists of reallocations decide nothing: they are in the test of every plan.
          if (place === undefined || seen.has(place.name)) return [];
          seen.add(place.name);
          whole += place.isDeciding ? 1 : 0;
          return place.isDeciding ? OTHER_VALUES : [1, 16, 128];
        });
      }
      expect(seen.size).toBeGreaterThan(4_000);
      expect(whole).toBeGreaterThan(300);
    });

    it.runIf(isWhole)(
      'behavior: of every plan is refused in all 255 other values, or is part of what a contract bounds',
      async ({ annotate }) => {
        const count = { refused: 0, opaque: 0, bounded: 0 };
        for (const bundle of bundles()) {
          for (const { verdict } of judged(bundle, () => OTHER_VALUES)) count[verdict] += 1;
        }
        expect(count.refused + count.opaque + count.bounded).toBeGreaterThan(12_000_000);
        await annotate(`${bundles().length} plans: ${JSON.stringify(count)}`);
      },
      WHOLE_MS,
    );

    it('behavior: that is not refused does at most what is proven on the chain, and nothing to anybody else', async () => {
      let filled = 0;
      for (const kind of ['increaseLeverage', 'swapAndLeverage', 'reallocateSwapAndLeverage', 'equityEntry']) {
        const bundle = sample(kind);
        const accepted = harmless(bundle, () => [1]);
        const spread = Array.from({ length: 12 }, (_, i) => accepted[Math.floor((accepted.length * i) / 12)] as Mutant);
        for (const { plan } of spread) {
          const report = verify(plan, bundle.intent, localChains);
          const executed = await execute(plan, report);
          // A call that reverts leaves everything as it was.
          if (!executed) continue;
          filled += 1;
          expect(harmOf(report, executed), kind).toEqual([]);
        }
      }
      expect(filled).toBeGreaterThan(0);
    });

    it('behavior: all kinds of plans are in it', () => {
      expect(samples().length).toBeGreaterThanOrEqual(19);
    });
  });
}

const isOpaque = ({ opaque }: Verified, callIndex: number, byte: number) =>
  opaque.some((range) => range.callIndex === callIndex && byte >= range.from && byte < range.to);

function verified(plan: VerifiablePlan, intent: Intent): Verified | undefined {
  const { stackTraceLimit } = Error;
  // Only the class of a refusal is looked at, and a stack costs more than the proof.
  Error.stackTraceLimit = 0;
  try {
    return verify(plan, intent, localChains);
  } catch (error) {
    if (error instanceof VerificationError) return undefined;
    throw error;
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** The verdict on a mutant: refused, or harmless because nothing depends on the byte, or because a contract bounds it. */
interface Judged {
  readonly mutant: Mutant;
  readonly verdict: 'refused' | 'opaque' | 'bounded';
}

/** Every mutant of a plan. One that is not refused is proven harmless by rule. */
function* judged({ plan, intent }: Bundle, masksOf: Masks): Generator<Judged> {
  const original = verify(plan, intent, localChains);
  const sentences = original.sentences.join();
  const decoded = new Map<number, ReturnType<typeof argumentsOf>>();
  const argumentsBefore = (callIndex: number) => {
    const before = decoded.get(callIndex) ?? argumentsOf(plan, callIndex);
    decoded.set(callIndex, before);
    return before;
  };
  for (const mutant of mutantsOf(plan, masksOf)) {
    const report = verified(mutant.plan, intent);
    if (!report) {
      yield { mutant, verdict: 'refused' };
    } else if (isOpaque(original, mutant.callIndex, mutant.byte)) {
      // Bytes for a swap router: the proof does not depend on them.
      if (report.sentences.join() !== sentences) throw new Error('other bytes of a swap changed the report');
      yield { mutant, verdict: 'opaque' };
    } else {
      expectBounded(changedArgument(argumentsBefore(mutant.callIndex), mutant), intent, report);
      yield { mutant, verdict: 'bounded' };
    }
  }
}

/** The mutants that are not refused. */
const harmless = (bundle: Bundle, masksOf: Masks): Mutant[] =>
  [...judged(bundle, masksOf)].flatMap(({ mutant, verdict }) => (verdict === 'refused' ? [] : [mutant]));

/**
 * By call and byte: the place in the frame of its function, which is the same in every plan that calls it. The bytes of the
 * selector decide, and of each word the first and the last one that is not zero.
 */
function placesOf({ plan, intent }: Bundle) {
  const report = verify(plan, intent, localChains);
  return callsIn(plan).map(({ data }, callIndex) => {
    const bytes = Array.from({ length: data.length / 2 - 1 }, (_, byte) => byte);
    const framed = bytes.filter((byte) => !isOpaque(report, callIndex, byte));
    const wordOf = (i: number) => Math.floor((i + 28) / 32);
    const significant = framed.map((byte) => data.slice(2 + byte * 2, 4 + byte * 2) !== '00');
    const ends = new Map<number, readonly [number, number]>();
    for (const [i, isSignificant] of significant.entries()) {
      if (isSignificant) ends.set(wordOf(i), [ends.get(wordOf(i))?.[0] ?? i, i]);
    }
    return new Map(
      framed.map((byte, i) => {
        const isDeciding = i < 4 || (ends.get(wordOf(i))?.includes(i) ?? false);
        return [byte, { name: `${data.slice(0, 10)}:${i}${isDeciding ? ' decides' : ''}`, isDeciding }];
      }),
    );
  });
}

const MINIMUM = /\.(minTokenOut|stockMinOut|yieldMinOut|minLoanOut)$/;
const LOAN = /\.(amountFlashLoan|stockBorrowAmount)$/;

/** Outside of swap calldata only a bound may differ, and it stays within the request. */
function expectBounded({ path, from, to }: ReturnType<typeof changedArgument>, intent: Intent, report: Verified): void {
  const ratio = Number(to) / Number(from);
  const loss = intent.action.startsWith('equity') ? 0.02 : 0.01;
  if (MINIMUM.test(path)) {
    // Both are within the loss of one reference.
    expect(ratio).toBeGreaterThanOrEqual((1 - loss) / (1 + loss));
    expect(ratio).toBeLessThanOrEqual((1 + loss) / (1 - loss));
  } else if (LOAN.test(path)) {
    expect(ratio).toBeGreaterThan(0.8);
    expect(ratio).toBeLessThan(1.2);
    if ('leverage' in intent && intent.leverage) {
      const target = 100 - 100 / Number(intent.leverage);
      expect(Number(report.position?.ltvAtMostPct)).toBeLessThanOrEqual((target / (1 - loss)) * 1.005);
    }
  } else {
    // The allowance of a repayment at the protocol carries the interest until it is sent, at most 1 %.
    expect([path, intent.action]).toEqual(['approve.amount', 'manual_exit']);
    expect(Math.abs(ratio - 1)).toBeLessThan(0.01);
  }
}
