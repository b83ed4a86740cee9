import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { decodeFunctionData } from '../../src/abi/calldata.ts';
import { erc20Abi } from '../../src/abi/erc20.ts';
import { flashLeverageAbi } from '../../src/abi/flash-leverage.ts';
import { flashLeverageRouterAbi } from '../../src/abi/flash-leverage-router.ts';
import { formatUnitsPlain } from '../../src/shared/decimal.ts';
import { BadRequestError } from '../../src/shared/errors.ts';
import type { Address, Hex } from '../../src/shared/ids.ts';
import { REST_NAMES, spell } from '../../src/shared/names.ts';
import { InsufficientLiquidityError, LimitExceededError } from '../../src/transactions/errors.ts';
import { leastOutput } from '../../src/transactions/input.ts';
import { intentOf } from '../../src/transactions/intent.ts';
import { instructionsOf } from '../../src/transactions/messages.ts';
import { type BuiltBundle, buildOpen } from '../../src/transactions/open/build.ts';
import { type OpenRequest, openTerms, planLiquidity, sizeOpen } from '../../src/transactions/open/terms.ts';
import { loanInCollateral } from '../../src/transactions/preview/ltv.ts';
import type { Quoter } from '../../src/transactions/quote/quoter.ts';
import { planQuote } from '../../src/transactions/quote/request.ts';
import type { OpenTerms } from '../../src/transactions/types.ts';
import { address, openRequest, priceFor, quoteFor, RUNS, sourcesAround } from './world.ts';

interface Built extends BuiltBundle {
  readonly request: OpenRequest;
  readonly terms: OpenTerms;
  readonly user: Address;
  readonly price: bigint;
  readonly allowance: bigint;
}

/** Everything that an open goes through between its facts and its calldata. Expected refusals build nothing. */
const builtOpen: fc.Arbitrary<Built | 'refused'> = openRequest.chain((request) =>
  fc.record({ price: priceFor(request.market), user: address }).chain(({ price, user }) => {
    const { chain, market, payToken, amountIn } = request;
    const isDirect = payToken.address === market.collateral.address;
    // Any value of the pay token works here.
    const entry = isDirect
      ? fc.constant(undefined)
      : quoteFor(chain, amountIn, 10n ** BigInt(market.collateral.decimals) * 50n);
    return entry.chain((entryQuote) => {
      const quoter = { quoter: { capped: false } as Quoter };
      const entryPair = { tokenIn: payToken, tokenOut: market.collateral };
      const entrySwap = entryQuote && planQuote(quoter, request, entryPair, entryQuote, entryQuote.amountOut);
      const size = attempt(() => sizeOpen(request, entrySwap, price));
      if (size === 'refused') return fc.constant(size);
      const loan = size.amountFlashLoan;
      const loanPair = { tokenIn: market.loan, tokenOut: market.collateral };
      return fc
        .record({
          quote: quoteFor(chain, loan, loanInCollateral(loan, price)),
          liquidity: fc.bigInt(0n, loan * 3n),
          elsewhere: fc.bigInt(0n, loan * 3n),
          sources: sourcesAround(market, loan),
          allowance: fc.oneof(fc.constant(0n), fc.bigInt(0n, amountIn * 2n)),
        })
        .map(({ quote, liquidity, elsewhere, sources, allowance }) =>
          attempt((): Built => {
            const { reallocations } = planLiquidity(request, loan, { liquidity, idle: liquidity + elsewhere }, sources);
            const terms = openTerms({
              request,
              price,
              entry: entrySwap,
              size,
              loanSwap: planQuote(quoter, request, loanPair, quote, loanInCollateral(quote.amountIn, price)),
              reallocations,
              rates: undefined,
            });
            const { flashLeverage, flashLeverageRouter } = chain.contracts;
            const allowances = new Map([flashLeverage, flashLeverageRouter].map((spender) => [spender, allowance]));
            const wallet = { native: 0n, balance: 0n, allowances };
            return { ...buildOpen(chain, market, terms, user, wallet), request, terms, user, price, allowance };
          }),
        );
    });
  }),
);

function attempt<T>(run: () => T): T | 'refused' {
  try {
    return run();
  } catch (error) {
    const expected = [LimitExceededError, InsufficientLiquidityError, BadRequestError];
    if (expected.some((type) => error instanceof type)) return 'refused';
    throw error;
  }
}

/** Generated once for all properties: generating takes much longer than checking them. */
const SEED = fc.readConfigureGlobal().seed ?? Date.now() | 0;
let cases: readonly Built[];
beforeAll(() => {
  cases = fc.sample(builtOpen, { ...RUNS, seed: SEED }).filter((built) => built !== 'refused');
});

it('behavior: enough transactions are built', () => {
  expect(cases.length).toBeGreaterThan(RUNS.numRuns / 3);
});

/** Check a property of built transactions. A failure names its case, for `fc.sample` with the same seed. */
function holds(property: (built: Built) => void): void {
  for (const [i, built] of cases.entries()) {
    try {
      property(built);
    } catch (error) {
      throw new Error(`transaction ${i} of the seed ${SEED}: ${(error as Error).message}`, { cause: error });
    }
  }
}

const callsAbi = [...flashLeverageAbi, ...flashLeverageRouterAbi];
/** The last minimum and all swap routers in the calldata itself. */
function argumentsOf({ tx, user }: Built): ReadonlyMap<string, string> {
  return new Map(intentOf(tx, user).arguments.map(({ name, value }) => [name, value]));
}

/** The loan and the minimums in calldata: of the loop's swap, and of the entry swap where there is one. */
function signedOf(data: Hex) {
  const { functionName, args = [] } = decodeFunctionData({ abi: callsAbi, data });
  const leverage = args.at(-1) as { readonly amountFlashLoan: bigint; readonly minTokenOut: bigint };
  const minTokenOut = /[sS]wapAndLeverage$/.test(functionName) ? (args.at(-2) as bigint) : undefined;
  return { leverage, minTokenOut };
}

describe('openTerms and buildOpen', () => {
  it('behavior: contracts, spenders and routers come only from the catalog', () => {
    holds((built) => {
      const { approvals, tx, request } = built;
      const { flashLeverage, flashLeverageRouter } = request.chain.contracts;
      expect([flashLeverage, flashLeverageRouter]).toContain(tx.to);
      const allowed: readonly string[] = Object.values(request.chain.swapRouters).flat();
      for (const [name, value] of argumentsOf(built)) if (name.endsWith('extRouter')) expect(allowed).toContain(value);
      for (const { to, data } of approvals) {
        expect(to).toBe(request.payToken.address);
        expect(decodeFunctionData({ abi: erc20Abi, data }).args?.[0]).toBe(tx.to);
      }
    });
  });

  it('behavior: the position belongs to the signer', () => {
    holds((built) => {
      const { functionName, args } = decodeFunctionData({ abi: callsAbi, data: built.tx.data });
      expect(functionName).toBe(built.terms.path);
      // The router opens for its caller: it takes no owner.
      if (functionName === 'leverage') expect(String(args?.[0]).toLowerCase()).toBe(built.user);
      else expect([...argumentsOf(built).keys()]).not.toContain('user');
    });
  });

  it('behavior: approvals are exact, reset to zero if the token requires it, and absent if not needed', () => {
    holds(({ approvals, request: { payToken, amountIn }, allowance }) => {
      const amounts = approvals.map(({ data }) => decodeFunctionData({ abi: erc20Abi, data }).args?.[1]);
      if (payToken.isNative || allowance >= amountIn) expect(amounts).toEqual([]);
      else expect(amounts).toEqual(payToken.resetsApproval && allowance > 0n ? [0n, amountIn] : [amountIn]);
    });
  });

  it('behavior: the value is the native pay amount and the vaults’ fees', () => {
    holds(({ tx, terms, request, approvals }) => {
      const fees = terms.reallocations.reduce((sum, { feeWei }) => sum + feeWei, 0n);
      expect(tx.value).toBe((request.payToken.isNative ? request.amountIn : 0n) + fees);
      for (const { value } of approvals) expect(value).toBe(0n);
    });
  });

  it('behavior: minimums are never below quote × (1 − slippage), nor above the quote', () => {
    holds((built) => {
      const { terms, request } = built;
      for (const { minOut, quote } of [terms.leverageSwap, ...(terms.entrySwap ? [terms.entrySwap] : [])]) {
        expect(minOut >= leastOutput(quote.amountOut, request.slippage.value)).toBe(true);
        expect(minOut <= quote.amountOut).toBe(true);
      }
      const inCalldata = intentOf(built.tx, built.user).minimumOut;
      expect(inCalldata).toBe(terms.leverageSwap.minOut);
    });
  });

  it('behavior: the LTV after the worst fill is within the contracts’ limit', () => {
    holds(({ tx, terms, request, price }) => {
      // The worst fill by the signed calldata alone, not by the plan.
      const { leverage, minTokenOut } = signedOf(tx.data);
      const paidIn = terms.entrySwap ? (minTokenOut ?? 0n) : request.amountIn;
      const netPaidIn = paidIn - (paidIn * request.depositFee) / 10n ** 18n;
      const value = ((netPaidIn + leverage.minTokenOut) * price) / 10n ** 36n;
      const ltv = (leverage.amountFlashLoan * 10n ** 18n + value - 1n) / value;
      expect(ltv <= request.market.lltv - 2_500_000_000_000_000n).toBe(true);
    });
  });

  it('behavior: withdrawals are grouped by vault and ascend by market', () => {
    holds(({ terms: { reallocations } }) => {
      expect(new Set(reallocations.map(({ vault }) => vault)).size).toBe(reallocations.length);
      for (const { withdrawals } of reallocations) {
        const ids = withdrawals.map(({ marketId }) => marketId);
        expect(ids).toEqual([...new Set(ids)].sort());
        for (const { amount } of withdrawals) expect(amount > 0n).toBe(true);
      }
    });
  });

  it('behavior: texts have no exponents', () => {
    holds(({ terms, request, user }) => {
      const swaps = [terms.leverageSwap, ...(terms.entrySwap ? [terms.entrySwap] : [])];
      const input = {
        what: 'transaction' as const,
        user,
        approvals: 1,
        calls: 1,
        swaps,
        slippage: request.slippage,
        notes: [formatUnitsPlain(terms.amountFlashLoan, request.market.loan.decimals)],
        issues: [],
        expiresAtMs: 0,
        signingUrl: undefined,
      };
      const text = spell(instructionsOf(input), REST_NAMES);
      expect(text).not.toMatch(/\b\d+(\.\d+)?e[+-]?\d+\b/i);
    });
  });
});
