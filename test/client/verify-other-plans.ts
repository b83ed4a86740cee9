import { erc20Abi, type Hex, maxUint256, toFunctionSelector } from 'viem';
import { describe, expect, it } from 'vitest';
import { flashLeverageAbi } from '../../packages/client/src/abi/index.ts';
import {
  type Intent,
  type PlannedCall,
  type RefusalCode,
  type VerifiablePlan,
  VerificationError,
  verify,
} from '../../packages/client/src/verify/index.ts';
import { decodeFunctionData, encodeFunctionData } from '../../src/abi/calldata.ts';
import { marketOf, tokenOf } from '../e2e/leverage/support.ts';
import { type Bundle, localChains } from './verify-bundles.ts';

interface Samples {
  sample(kind: string): Bundle;
  samples(): readonly Bundle[];
  /** The refusal of a plan; throws when it is verified. */
  refusal(plan: VerifiablePlan, intent: Intent): VerificationError;
}

type LeverageArgs = readonly [
  Hex,
  {
    readonly marketId: Hex;
    readonly amountCollateral: bigint;
    readonly amountFlashLoan: bigint;
    readonly swapData: { readonly extRouter: Hex; readonly extCalldata: Hex };
    readonly minTokenOut: bigint;
  },
];

/** Plans that another party could have written, or that were built for another request. */
export function describeOtherPlans({ sample, samples, refusal }: Samples): void {
  describe('another plan than the one that was asked for', () => {
    const other = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';
    const encodeLeverage = (change: (args: LeverageArgs) => LeverageArgs): VerifiablePlan => {
      const { plan } = sample('leverage');
      const { args } = decodeFunctionData({ abi: flashLeverageAbi, data: plan.tx?.data as Hex });
      const data = encodeFunctionData({
        abi: flashLeverageAbi,
        functionName: 'leverage',
        args: change(args as unknown as LeverageArgs),
      });
      return { ...plan, tx: { ...(plan.tx as PlannedCall), data } };
    };
    const params = (more: Partial<LeverageArgs[1]>) =>
      encodeLeverage(([user, given]) => [user, { ...given, ...more }] as LeverageArgs);
    const intentOf = (kind: string, more: object): Intent => ({ ...sample(kind).intent, ...more }) as Intent;
    const { id: otherMarket } = marketOf(1, 'sUSDS/USDT 96.5');

    it('error: names the difference', () => {
      const { plan } = sample('leverage');
      const intent = sample('leverage').intent as Extract<Intent, { action: 'open_leverage' }>;
      const refused: [RefusalCode, VerifiablePlan, Intent, RegExp][] = [
        ['owner', plan, { ...intent, owner: other }, /opened for 0x14dC.*and 0x3C44.* was asked for/],
        ['chain', plan, { ...intent, chainId: 4663 }, /is for chain 1, and chain 4663 was asked for/],
        ['chain', { ...plan, chainId: 8453 }, { ...intent, chainId: 8453 }, /8453 is none of the trusted chains/],
        ['market', params({ marketId: otherMarket }), intent, /opens on the market .* was asked for/],
        ['market', plan, { ...intent, marketId: `0x${'11'.repeat(32)}` }, /none of the trusted markets/],
        ['market', plan, { ...intent, marketId: otherMarket }, /opens on the market .* was asked for/],
        ['token', plan, { ...intent, pay: { ...intent.pay, token: other } }, /takes the collateral, and another token/],
        ['amount', plan, { ...intent, pay: { ...intent.pay, amount: 1n } }, /pays .* was asked for/],
        ['loan', plan, { ...intent, leverage: 1.1 }, /borrows .*needs at most/],
        ['loan', plan, { ...intent, leverage: 9 }, /borrows .*needs at least/],
        ['minimum', params({ minTokenOut: 1n }), intent, /may give as little as/],
        [
          'router',
          params({ swapData: { extRouter: other, extCalldata: '0x' } }),
          intent,
          /none of the trusted swap routers/,
        ],
        [
          'value',
          { ...plan, tx: { ...(plan.tx as PlannedCall), value: '1' } },
          intent,
          /sends 0.000000000000000001 ETH/,
        ],
        ['target', { ...plan, tx: { ...(plan.tx as PlannedCall), to: other } }, intent, /goes to 0x3C44/],
        ['shape', { ...plan, calls: [] }, intent, /either tx .* or calls/],
        [
          'shape',
          { ...plan, sendCalls: { version: '2.0.0', chainId: '0x1', from: other, atomicRequired: false, calls: [] } },
          intent,
          /sent from/,
        ],
        ['intent', plan, { ...intent, leverage: undefined }, /exactly one of/],
        ['intent', plan, { ...intent, action: 'constructor' } as never, /is one of/],
      ];
      for (const [code, changed, asked, message] of refused) {
        const error = refusal(changed, asked);
        expect([error.code, error.message]).toEqual([code, expect.stringMatching(message)]);
      }
    });

    it('error: a limit that nothing checks: misspelled, of another action, of a swap that is none, or no number', () => {
      const limits: [string, object, RegExp][] = [
        [
          'leverage',
          { minAmountOUT: 5n },
          /"minAmountOUT" is no field of an intent to open_leverage: nothing checks it/,
        ],
        ['leverage', { maxSwaploss: 0 }, /"maxSwaploss" is no field/],
        ['borrow', { slippage: 0 }, /"slippage" is no field of an intent to borrow/],
        ['swapAndRepay', { maxTotalLoss: 0 }, /"maxTotalLoss" is no field of an intent to repay/],
        ['equityEntry', { minAmountOut: 10n ** 40n }, /"minAmountOut" is no field of an intent to equity_deposit/],
        [
          'leverage',
          { minAmountOut: 10n ** 30n },
          /^minAmountOut of the intent limits nothing: paid with [-\w]+, nothing is swapped/,
        ],
        ['supplyCollateral', { minAmountOut: 10n ** 30n }, /^minAmountOut of the intent limits nothing/],
        ['repay', { slippage: 0 }, /^slippage of the intent limits nothing/],
        ['repay all', { maxSwapLoss: '0' }, /^maxSwapLoss of the intent limits nothing/],
        ['leverage', { slippage: null }, /^slippage of the intent is null, and a decimal number was expected/],
        ['leverage', { slippage: [0.005] }, /^slippage of the intent is a list/],
        ['leverage', { maxTotalLoss: true }, /^maxTotalLoss of the intent is true/],
        ['equityEntry', { stockLtv: ['45'] }, /^stockLtv of the intent is a list/],
      ];
      for (const [kind, more, message] of limits) {
        const error = refusal(sample(kind).plan, intentOf(kind, more));
        expect([kind, error.code, error.message]).toEqual([kind, 'intent', expect.stringMatching(message)]);
      }
      const { intent } = sample('leverage');
      const misspelled = { pay: { ...(intent as { pay: object }).pay, wort: 1n } };
      expect(refusal(sample('leverage').plan, intentOf('leverage', misspelled)).message).toMatch(
        /"wort" is no field of pay/,
      );
      // Where the payment is swapped, or the loan of an increase, it is the least of that swap.
      for (const kind of [
        'swapAndLeverage',
        'increaseLeverage',
        'swapAndSupplyCollateral',
        'swapAndRepay',
        'deleverage',
      ]) {
        const [swap] = verify(sample(kind).plan, sample(kind).intent, localChains).swaps;
        const least = swap?.givesAtLeast.amount ?? 0n;
        expect(verify(sample(kind).plan, intentOf(kind, { minAmountOut: least }), localChains)).toBeDefined();
        expect(refusal(sample(kind).plan, intentOf(kind, { minAmountOut: least + 1n })).code).toBe('minimum');
      }
      // A small number is read although its text has an exponent.
      expect(refusal(sample('leverage').plan, intentOf('leverage', { slippage: 1e-7, maxSwapLoss: 0 })).code).toBe(
        'minimum',
      );
    });

    it('error: an approval larger than needed, to somebody else, or that nothing needs', () => {
      const { plan, intent } = sample('leverage');
      const [approval] = plan.approvals as [PlannedCall];
      const approve = (spender: string, amount: bigint) => ({
        ...approval,
        data: encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [spender as Hex, amount] }),
      });
      const spender = plan.tx?.to as string;
      const amount = (intent as { pay: { amount: bigint } }).pay.amount;
      for (const approvals of [
        [approve(spender, maxUint256)],
        [approve(spender, amount + 1n)],
        [approve(other, amount)],
        [approve(spender, amount), approve(spender, amount)],
        [approve(spender, 0n), approve(spender, amount), approve(other, amount)],
        [{ ...approve(spender, amount), to: tokenOf(1, 'USDC').address }],
      ]) {
        expect(refusal({ ...plan, approvals }, intent).code).toBe('approval');
      }
      expect(
        refusal({ ...plan, approvals: [approve(spender, amount)] }, intentOf('leverage', { owner: other })).code,
      ).toBe('owner');
      const borrow = sample('borrow');
      expect(refusal({ ...borrow.plan, approvals: [approve(spender, amount)] }, borrow.intent).code).toBe('target');
      // A token that needs it is reset to zero first.
      const reset = verify(
        { ...plan, approvals: [approve(spender, 0n), approve(spender, amount)] },
        intent,
        localChains,
      );
      expect(reset.authorizes).toHaveLength(1);
      expect(verify({ ...plan, approvals: [] }, intent, localChains).assumptions).toContainEqual(
        expect.stringMatching(/has approved/),
      );
    });

    it('error: an encoding that a contract would read, but no encoder writes', () => {
      const { plan, intent } = sample('leverage');
      const data = plan.tx?.data as string;
      const changed = (text: string) => ({ ...plan, tx: { ...(plan.tx as PlannedCall), data: text } });
      const word = (i: number, value: string) =>
        `${data.slice(0, 10 + i * 64)}${value}${data.slice(10 + (i + 1) * 64)}`;
      for (const text of [
        `${data}00`,
        `${data}${'0'.repeat(64)}`,
        data.slice(0, -64),
        // Bits beyond an address.
        word(0, `1${data.slice(11, 74)}`),
        // The parameters a word further on, and a word of nothing between.
        `${word(1, (96).toString(16).padStart(64, '0')).slice(0, 138)}${'0'.repeat(64)}${data.slice(138)}`,
        '0x',
        data.slice(0, 9),
      ]) {
        expect(refusal(changed(text), intent).code).toMatch(/encoding|method|shape/);
      }
      const unknown = `${toFunctionSelector('transferOwnership(address)')}${data.slice(10)}`;
      expect(refusal(changed(unknown), intent)).toMatchObject({ code: 'method', callIndex: 1 });
    });

    it('error: a batch whose authorization does not end, or is somebody else’s', () => {
      const { plan, intent } = sample('equityEntry');
      const calls = plan.calls as readonly PlannedCall[];
      const [approval, grant, entry, revoke] = calls as [PlannedCall, PlannedCall, PlannedCall, PlannedCall];
      for (const changed of [
        [approval, grant, entry],
        [approval, grant, entry, grant],
        [approval, entry, revoke],
        [approval, grant, revoke, entry],
        [approval, grant, entry, revoke, grant],
        [approval, grant, entry, entry, revoke],
      ]) {
        expect(() => verify({ ...plan, calls: changed }, intent, localChains)).toThrow(VerificationError);
      }
      // An approval left by an unfinished batch is revoked first.
      const left = verify({ ...plan, calls: [approval, revoke, grant, entry, revoke] }, intent, localChains);
      expect(left.sentences).toContainEqual(expect.stringMatching(/earlier batch/));
      const revoking = sample('revoke');
      expect(refusal({ ...revoking.plan, calls: [grant] }, revoking.intent).code).toBe('authorization');
    });

    it('error: another position, vault of liquidity, or plan of the same wallet', () => {
      for (const kind of [
        'borrow',
        'withdrawCollateral',
        'repay',
        'supplyCollateral',
        'increaseLeverage',
        'deleverage',
      ]) {
        expect(refusal(sample(kind).plan, intentOf(kind, { positionId: 7 })).code).toBe('position');
      }
      const { plan } = sample('reallocateAndLeverage');
      expect(refusal(plan, intentOf('reallocateAndLeverage', { reallocation: undefined })).message).toMatch(
        /none of the vaults/,
      );
      // Every plan against the request of every other plan.
      for (const asked of samples()) {
        for (const built of samples()) {
          if (asked.kind !== built.kind)
            expect(() => verify(built.plan, asked.intent, localChains)).toThrow(VerificationError);
        }
      }
    });
  });
}
