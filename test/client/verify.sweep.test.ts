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
import { createExecutor, type Executed, harmOf } from './verify-execute.ts';
import { describeHostilePlans } from './verify-hostile-plans.ts';
import { describeOtherPlans } from './verify-other-plans.ts';
import { describeSingleBytes } from './verify-single-bytes.ts';

let service: TestService;
let bundles: readonly Bundle[];
let run: (plan: VerifiablePlan, report: Verified) => Promise<Executed | undefined>;
beforeAll(async () => {
  service = await startService({ sleep: noSleep });
  bundles = await buildBundles(service);
  run = await createExecutor(service);
});
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
  it('default: describes the effects of each kind of plan in sentences', () => {
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
          "By your readings its swaps lose at most # USDG, # % of the own money.",
          "It authorizes nobody.",
          "It acts for ADDRESS only.",
        ],
        "deleverage a part": [
          "Sells # syrupUSDG of position # for at least # USDG, repays the same share of its debt out of it and pays out the rest, at least # USDG.",
          "It spends nothing of the wallet.",
          "The wallet receives at least # USDG.",
          "By your readings its swaps lose at most # USDG, # % of the own money.",
          "It authorizes nobody.",
          "It acts for ADDRESS only.",
        ],
        "equityEntry": [
          "Deposits # USDG into a vault of ADDRESS: it buys at least # NVDA as the wallet's own collateral, borrows # USDG against it, and opens a position with it that borrows # USDG and holds at least # syrupUSDG, an LTV of at most # %.",
          "Allows ADDRESS to take exactly # USDG, which call # does.",
          "Lets ADDRESS act on the wallet's own lending positions for that call; call # revokes it. If the calls are not sent together, the last one has to be sent all the same.",
          "It spends at most # USDG.",
          "By your readings its swaps lose at most # USDG, # % of the own money.",
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
          "By your readings its swaps lose at most # USDG, # % of the own money.",
          "The rights that it gives end with those calls, if all of them are sent.",
          "It acts for ADDRESS only.",
        ],
        "increaseLeverage": [
          "Raises the leverage of position #: it borrows # USDG more for at least # syrupUSDG, an LTV of at most # %.",
          "It spends nothing of the wallet.",
          "By your readings its swaps lose at most # syrupUSDG, # % of the own money.",
          "It authorizes nobody.",
          "It acts for ADDRESS only.",
        ],
        "leverage": [
          "Opens a position of ADDRESS with # PT-sUSDe: it borrows # USDC and holds at least # PT-sUSDe, an LTV of at most # %.",
          "Allows ADDRESS to take exactly # PT-sUSDe, which call # does.",
          "It spends at most # PT-sUSDe.",
          "By your readings its swaps lose at most # PT-sUSDe, # % of the own money.",
          "The rights that it gives end with those calls, if all of them are sent.",
          "It acts for ADDRESS only.",
        ],
        "manual exit": [
          "Allows ADDRESS to take at most # PYUSD; the part that call # does not take stays allowed.",
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
          "By your readings its swaps lose at most # wsrUSD, # % of the own money.",
          "The rights that it gives end with those calls, if all of them are sent.",
          "It acts for ADDRESS only.",
        ],
        "reallocateSwapAndLeverage": [
          "Moves liquidity of one vault into the market first, for # ETH.",
          "Opens a position of ADDRESS with # ETH: it borrows # USDC and holds at least # wsrUSD, an LTV of at most # %.",
          "It spends at most # ETH.",
          "By your readings its swaps lose at most # wsrUSD, # % of the own money.",
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
          "By your readings its swaps lose at most # syrupUSDG, # % of the own money.",
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
          "Repays the whole debt of position #; the rest comes back as USDG, not in the paid token.",
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
      const { meta = {} } = bundle.plan;
      const { worstCase } = meta.positionPreview ?? meta;
      if (position && worstCase?.ltv) expect(Number(position.ltvAtMostPct)).toBeCloseTo(Number(worstCase.ltv), 0);
      const [received] = receivesAtLeast;
      if (bundle.kind.startsWith('deleverage') && received) {
        expect(Number(received.text.split(' ')[0])).toBeLessThanOrEqual(Number(worstCase.paidOut) * 1.0001);
      }
      const approved = authorizes.flatMap((one) => (one.kind === 'allowance' ? [one.amount] : []));
      for (const amount of approved) expect(spendsAtMost).toContainEqual(amount);
    }
  });

  it('behavior: the effects of a plan on the chain stay within its proof, and nobody else is affected', async () => {
    for (const bundle of samples()) {
      const report = check(bundle);
      const executed = await run(bundle.plan, report);
      expect(executed, `${bundle.kind} reverted`).toBeDefined();
      expect(executed && harmOf(report, executed), bundle.kind).toEqual([]);
    }
  });
});

describeSingleBytes({ bundles: () => bundles, samples, sample, execute: (plan, report) => run(plan, report) });
describeOtherPlans({ sample, samples, refusal });
describeHostilePlans({ sample, samples, refusal });
describeArguments({ samples, execute: (plan, report) => run(plan, report) });
describeSentences(samples);
