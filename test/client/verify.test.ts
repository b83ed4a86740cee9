import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Intent,
  type VerifiablePlan,
  VerificationError,
  type Verified,
  verify,
} from '../../packages/client/src/verify/index.ts';
import { noSleep, startService, type TestService } from '../support/service.ts';
import { describeSentences } from './erc7730-sentences.ts';
import { describeArguments } from './verify-arguments.ts';
import { type Bundle, buildBundles, localChains } from './verify-bundles.ts';
import { broken, execute } from './verify-execute.ts';
import { describeHostilePlans } from './verify-hostile-plans.ts';
import { changedArgument, type Masks, type Mutant, mutantsOf } from './verify-mutants.ts';
import { describeOtherPlans } from './verify-other-plans.ts';

/** Tens of thousands of proofs: seconds, and more on a busy machine. */
const MUTATIONS_MS = 240_000;

let service: TestService;
let bundles: readonly Bundle[];
beforeAll(async () => {
  service = await startService({ sleep: noSleep });
  bundles = await buildBundles(service);
}, 180_000);
afterAll(() => service?.stop());

const check = ({ plan, intent }: Pick<Bundle, 'plan' | 'intent'>): Verified => verify(plan, intent, localChains);
/** One bundle of each kind. */
const samples = (): Bundle[] => [...new Map(bundles.map((bundle) => [bundle.kind, bundle])).values()];
const sample = (kind: string): Bundle => {
  const found = bundles.find((bundle) => bundle.kind === kind);
  if (!found) throw new Error(`no plan of the kind ${kind}`);
  return found;
};
/** The refusal of a plan. */
function refusal(plan: VerifiablePlan, intent: Intent): VerificationError {
  try {
    verify(plan, intent, localChains);
  } catch (error) {
    if (error instanceof VerificationError) return error;
    throw error;
  }
  throw new Error(
    `verified: ${JSON.stringify(intent, (_, value) => (typeof value === 'bigint' ? String(value) : value))}`,
  );
}

describe('verify', () => {
  it('default: says in a sentence what a plan of each kind does', () => {
    const said = samples().map((bundle) => [
      bundle.kind,
      check(bundle).sentences.map((text) =>
        text
          .replaceAll(/0x\w+/g, 'ADDRESS')
          .replaceAll(/PT-sUSDe-\w+/g, 'PT-sUSDe')
          .replaceAll(/(?<![\w…])\d+(\.\d+)?/g, '#'),
      ),
    ]);
    expect(Object.fromEntries(said)).toMatchInlineSnapshot(`
      {
        "borrow": [
          "Borrows # USDG against position #, to its owner.",
          "It spends nothing of the wallet.",
          "The wallet receives at least # USDG.",
          "It authorizes nobody.",
          "It acts for ADDRESS only.",
        ],
        "deleverage": [
          "Closes position # for at least # USDG, repays its debt out of it and pays out the rest, at least # USDG.",
          "It spends nothing of the wallet.",
          "The wallet receives at least # USDG.",
          "It authorizes nobody.",
          "It acts for ADDRESS only.",
        ],
        "deleverage a part": [
          "Sells # syrupUSDG of position # for at least # USDG, repays the same share of its debt out of it and pays out the rest, at least # USDG.",
          "It spends nothing of the wallet.",
          "The wallet receives at least # USDG.",
          "It authorizes nobody.",
          "It acts for ADDRESS only.",
        ],
        "equityEntry": [
          "Deposits # USDG into a vault of ADDRESS: it buys at least # NVDA as the wallet's own collateral, borrows # USDG against it, and opens a position with it that borrows # USDG and holds at least # syrupUSDG, an LTV of at most # %.",
          "Allows ADDRESS to take exactly # USDG, which call # does.",
          "Lets ADDRESS act on the wallet's own lending positions for that call; call # revokes it. If the calls are not sent together, the last one has to be sent all the same.",
          "It spends at most # USDG.",
          "The rights that it gives end with those calls, if all of them are sent.",
          "It acts for ADDRESS only.",
        ],
        "equityExit": [
          "Closes position # for at least # USDG, repays its debt out of it and pays out the rest, at least # USDG.",
          "Closes position # for at least # USDG, repays its debt out of it and pays out the rest, at least # USDG.",
          "Sells the whole stock leg of ADDRESS for at least # USDG, repays its debt out of it and pays out the rest, at least # USDG.",
          "Lets ADDRESS act on the wallet's own lending positions for that call; call # revokes it. If the calls are not sent together, the last one has to be sent all the same.",
          "It spends nothing of the wallet.",
          "The wallet receives at least # USDG.",
          "The rights that it gives end with those calls, if all of them are sent.",
          "It acts for ADDRESS only.",
        ],
        "increaseLeverage": [
          "Raises the leverage of position #: it borrows # USDG more for at least # syrupUSDG, an LTV of at most # %.",
          "It spends nothing of the wallet.",
          "It authorizes nobody.",
          "It acts for ADDRESS only.",
        ],
        "leverage": [
          "Opens a position of ADDRESS with # PT-sUSDe: it borrows # USDC and holds at least # PT-sUSDe, an LTV of at most # %.",
          "Allows ADDRESS to take exactly # PT-sUSDe, which call # does.",
          "It spends at most # PT-sUSDe.",
          "The rights that it gives end with those calls, if all of them are sent.",
          "It acts for ADDRESS only.",
        ],
        "manual exit": [
          "Allows ADDRESS to take at most # PYUSD; what call # does not take stays allowed.",
          "Repays the whole debt of the contract ADDRESS, about # PYUSD.",
          "Takes # sUSDe out of the contract ADDRESS, to its owner.",
          "It spends at most # PYUSD.",
          "The wallet receives at least # sUSDe.",
          "It acts for ADDRESS only.",
        ],
        "reallocateAndLeverage": [
          "Moves liquidity of one vault into the market first, for # ETH.",
          "Opens a position of ADDRESS with # wsrUSD: it borrows # USDC and holds at least # wsrUSD, an LTV of at most # %.",
          "Allows ADDRESS to take exactly # wsrUSD, which call # does.",
          "It spends at most # ETH and # wsrUSD.",
          "The rights that it gives end with those calls, if all of them are sent.",
          "It acts for ADDRESS only.",
        ],
        "reallocateSwapAndLeverage": [
          "Moves liquidity of one vault into the market first, for # ETH.",
          "Opens a position of ADDRESS with # ETH: it borrows # USDC and holds at least # wsrUSD, an LTV of at most # %.",
          "It spends at most # ETH.",
          "It authorizes nobody.",
          "It acts for ADDRESS only.",
        ],
        "repay": [
          "Allows ADDRESS to take exactly # USDG, which call # does.",
          "Repays at least # USDG of the debt of position #, or all of it where less is owed.",
          "It spends at most # USDG.",
          "The rights that it gives end with those calls, if all of them are sent.",
          "It acts for ADDRESS only.",
        ],
        "repay all": [
          "Allows ADDRESS to take exactly # USDG, which call # does.",
          "Repays the whole debt of position #; the rest comes back.",
          "It spends at most # USDG.",
          "The rights that it gives end with those calls, if all of them are sent.",
          "It acts for ADDRESS only.",
        ],
        "revoke": [
          "Takes the right to act on the wallet's lending positions from ADDRESS.",
          "It spends nothing of the wallet.",
          "It authorizes nobody.",
          "It acts for ADDRESS only.",
        ],
        "supplyCollateral": [
          "Allows ADDRESS to take exactly # syrupUSDG, which call # does.",
          "Adds at least # syrupUSDG of collateral to position #.",
          "It spends at most # syrupUSDG.",
          "The rights that it gives end with those calls, if all of them are sent.",
          "It acts for ADDRESS only.",
        ],
        "swapAndLeverage": [
          "Opens a position of ADDRESS with # USDe: it borrows # USDG and holds at least # syrupUSDG, an LTV of at most # %.",
          "Allows ADDRESS to take exactly # USDe, which call # does.",
          "It spends at most # USDe.",
          "The rights that it gives end with those calls, if all of them are sent.",
          "It acts for ADDRESS only.",
        ],
        "swapAndRepay": [
          "Allows ADDRESS to take exactly # USDe, which call # does.",
          "Repays at least # USDG of the debt of position #, or all of it where less is owed.",
          "It spends at most # USDe.",
          "The rights that it gives end with those calls, if all of them are sent.",
          "It acts for ADDRESS only.",
        ],
        "swapAndRepay all": [
          "Allows ADDRESS to take exactly # USDe, which call # does.",
          "Repays the whole debt of position #; the rest comes back as USDG, not as what was paid.",
          "It spends at most # USDe.",
          "The rights that it gives end with those calls, if all of them are sent.",
          "It acts for ADDRESS only.",
        ],
        "swapAndSupplyCollateral": [
          "Allows ADDRESS to take exactly # USDe, which call # does.",
          "Adds at least # syrupUSDG of collateral to position #.",
          "It spends at most # USDe.",
          "The rights that it gives end with those calls, if all of them are sent.",
          "It acts for ADDRESS only.",
        ],
        "withdrawCollateral": [
          "Takes # syrupUSDG out of position #, to its owner.",
          "It spends nothing of the wallet.",
          "The wallet receives at least # syrupUSDG.",
          "It authorizes nobody.",
          "It acts for ADDRESS only.",
        ],
      }
    `);
    expect(bundles.length).toBeGreaterThanOrEqual(100);
  });

  it('default: proves every plan, with bounds that the service does not undercut', () => {
    for (const bundle of bundles) {
      const { position, receivesAtLeast, spendsAtMost, authorizes } = check(bundle);
      expect(verify(bundle.built, bundle.intent, localChains)).toEqual(check(bundle));
      const { worstCase } = bundle.plan.meta ?? {};
      if (position && worstCase?.ltv) expect(Number(position.ltvAtMostPct)).toBeCloseTo(Number(worstCase.ltv), 0);
      const [received] = receivesAtLeast;
      if (bundle.kind.startsWith('deleverage') && received) {
        expect(Number(received.text.split(' ')[0])).toBeLessThanOrEqual(Number(worstCase.paidOut) * 1.0001);
      }
      const approved = authorizes.flatMap((one) => (one.kind === 'allowance' ? [one.amount] : []));
      for (const amount of approved) expect(spendsAtMost).toContainEqual(amount);
    }
  });

  it(
    'behavior: the chain does at most what is proven of a plan',
    async () => {
      for (const bundle of samples()) {
        const report = check(bundle);
        const changes = await execute(service, bundle.plan, report.owner);
        expect(changes, `${bundle.kind} reverted`).toBeDefined();
        expect(changes && broken(report, changes), bundle.kind).toEqual([]);
      }
    },
    MUTATIONS_MS,
  );
});

describe('a single byte', () => {
  const without = (opaque: Verified['opaque'], { callIndex, byte }: Mutant) =>
    !opaque.some((range) => range.callIndex === callIndex && byte >= range.from && byte < range.to);
  const verified = (plan: VerifiablePlan, intent: Intent): Verified | undefined => {
    try {
      return verify(plan, intent, localChains);
    } catch (error) {
      if (error instanceof VerificationError) return undefined;
      throw error;
    }
  };

  /** The mutants that are not refused, each proven harmless by rule. */
  function harmless({ plan, intent }: Bundle, masksOf: Masks): Mutant[] {
    const original = verify(plan, intent, localChains);
    const accepted: Mutant[] = [];
    for (const mutant of mutantsOf(plan, masksOf)) {
      const report = verified(mutant.plan, intent);
      if (!report) continue;
      accepted.push(mutant);
      // Bytes for a swap router: the proof does not depend on them.
      if (without(original.opaque, mutant)) expectBounded(plan, intent, mutant, report);
      else if (report.sentences.join() !== original.sentences.join())
        throw new Error('other bytes of a swap changed the report');
    }
    return accepted;
  }

  it(
    'behavior: of every plan is refused, or is part of what a contract bounds',
    () => {
      let count = 0;
      for (const [i, bundle] of bundles.entries()) {
        // One other value for each byte; all 255 of them over the bundles.
        const accepted = harmless(bundle, (byte) => [1 + ((byte * 101 + i * 37) % 255)]);
        count += accepted.length;
      }
      expect(count).toBeGreaterThan(0);
    },
    MUTATIONS_MS,
  );

  it(
    'behavior: of one plan of each kind is refused for its lowest, a middle and its highest bit',
    () => {
      for (const bundle of samples()) {
        const { opaque } = check(bundle);
        const isSwap = (callIndex: number, byte: number) => !without(opaque, { callIndex, byte, plan: bundle.plan });
        harmless(bundle, (byte, callIndex) => (isSwap(callIndex, byte) ? [] : [1, 16, 128]));
      }
    },
    MUTATIONS_MS,
  );

  it(
    'behavior: that is not refused does at most what is proven on the chain',
    async () => {
      let filled = 0;
      for (const kind of ['increaseLeverage', 'swapAndLeverage', 'reallocateSwapAndLeverage', 'equityEntry']) {
        const bundle = sample(kind);
        const accepted = harmless(bundle, () => [1]);
        const spread = Array.from({ length: 12 }, (_, i) => accepted[Math.floor((accepted.length * i) / 12)] as Mutant);
        for (const { plan } of spread) {
          const report = verify(plan, bundle.intent, localChains);
          const changes = await execute(service, plan, report.owner);
          // A call that reverts leaves everything as it was.
          if (!changes) continue;
          filled += 1;
          expect(broken(report, changes)).toEqual([]);
        }
      }
      expect(filled).toBeGreaterThan(0);
    },
    MUTATIONS_MS,
  );
});

describeOtherPlans({ sample, samples, refusal });
describeHostilePlans({ sample, samples, refusal });
describeArguments({ samples, execute: (plan, owner) => execute(service, plan, owner) });
describeSentences(samples);

const MINIMUM = /\.(minTokenOut|stockMinOut|yieldMinOut|minLoanOut)$/;
const LOAN = /\.(amountFlashLoan|stockBorrowAmount)$/;

/** Outside of swap calldata only a bound may differ, and it stays within what was asked for. */
function expectBounded(plan: VerifiablePlan, intent: Intent, mutant: Mutant, report: Verified): void {
  const { path, from, to } = changedArgument(plan, mutant);
  const ratio = Number(to) / Number(from);
  const loss = intent.action.startsWith('equity') ? 0.02 : 0.015;
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
