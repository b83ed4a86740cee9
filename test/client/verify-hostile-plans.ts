import { describe, expect, it } from 'vitest';
import {
  type Intent,
  type PlannedCall,
  type RefusalCode,
  type VerifiablePlan,
  VerificationError,
  verify,
} from '../../packages/client/src/verify/index.ts';
import { type Bundle, localChains } from './verify-bundles.ts';

interface Samples {
  sample(kind: string): Bundle;
  samples(): readonly Bundle[];
  /** The refusal of a plan; throws when it is verified. */
  refusal(plan: VerifiablePlan, intent: Intent): VerificationError;
}

type SendCalls = { readonly calls: readonly PlannedCall[] } & Readonly<Record<string, unknown>>;

/** Plans whose calls are right, and whose form makes a wallet do something else; and intents that limit nothing. */
export function describeHostilePlans({ sample, samples, refusal }: Samples): void {
  describe('a plan whose form says more than its calls', () => {
    const other = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';
    const withTx = (more: object): VerifiablePlan => {
      const { plan } = sample('leverage');
      return { ...plan, tx: { ...(plan.tx as PlannedCall), ...more } };
    };
    const withSendCalls = (kind: string, change: (sent: SendCalls) => object): VerifiablePlan => {
      const { built: plan } = sample(kind);
      // The REST interface has it in `meta`; the same is refused beside the calls.
      const sendCalls = change(plan.meta?.sendCalls);
      const inMeta = { ...plan, meta: { ...plan.meta, sendCalls } };
      expect(refusal({ ...plan, sendCalls }, sample(kind).intent)).toEqual(refusal(inMeta, sample(kind).intent));
      return inMeta;
    };
    const expectRefused = (plan: unknown, code: RefusalCode, message: RegExp, kind = 'leverage') => {
      const error = refusal(plan as VerifiablePlan, sample(kind).intent);
      expect([error.code, error.message]).toEqual([code, expect.stringMatching(message)]);
    };

    it('error: a field beside to, data and value, which a wallet may obey', () => {
      const { plan } = sample('leverage');
      for (const more of [
        { input: '0x' },
        { from: other },
        { chainId: 4663 },
        { maxPriorityFeePerGas: '0xde0b6b3a7640000' },
        { gasPrice: '1000000000000000' },
        { authorizationList: [{ address: other, chainId: 1, nonce: 0 }] },
        { operation: 1 },
        { nonce: 0 },
        JSON.parse('{"__proto__": {"value": "1"}}'),
      ]) {
        // A spread keeps "__proto__" of JSON as a field of its own.
        expectRefused(withTx(more), 'shape', /^Call 2: it has the field/);
        const [approval] = plan.approvals as [PlannedCall];
        expectRefused({ ...plan, approvals: [{ ...approval, ...more }] }, 'shape', /^Call 1: it has the field/);
      }
      expectRefused({ ...plan, ...JSON.parse('{"__proto__": {"calls": []}}') }, 'shape', /__proto__/);
      // The fields of GraphQL's calls.
      expect(
        verify(withTx({ __typename: 'UnsignedCall', intent: {} }), sample('leverage').intent, localChains),
      ).toEqual(verify(plan, sample('leverage').intent, localChains));
    });

    it('error: sendCalls with more than the calls, or in a form that wallets read differently', () => {
      const call = (more: object) => (sent: SendCalls) => ({
        ...sent,
        calls: sent.calls.map((one) => ({ ...one, ...more })),
      });
      const changes: [(sent: SendCalls) => unknown, RegExp][] = [
        [(sent) => ({ ...sent, capabilities: { paymasterService: { url: 'https://x.example' } } }), /capabilities/],
        [call({ capabilities: {} }), /capabilities/],
        [call({ input: '0x' }), /input/],
        [call({ value: '0' }), /value/],
        [call({ value: '0x00' }), /value/],
        [call({ value: undefined }), /value/],
        [(sent) => ({ ...sent, version: '3.0.0' }), /version/],
        [(sent) => ({ ...sent, atomicRequired: 'no' }), /atomicRequired/],
        [(sent) => ({ ...sent, calls: [...sent.calls].reverse() }), /call 1/],
        [(sent) => ({ ...sent, calls: sent.calls.map(() => null) }), /[Cc]all 1/],
        [(sent) => ({ ...sent, from: undefined }), /sent from/],
        [(sent) => ({ ...sent, chainId: '0x01' }), /chainId/],
        [(sent) => ({ ...sent, chainId: 1 }), /chainId/],
        [() => '0x', /sendCalls/],
        [() => [], /sendCalls/],
        [(sent) => ({ ...sent, calls: sent.calls.map((one) => ({ ...one, to: other })) }), /call 1 is another/],
      ];
      for (const [change, message] of changes) {
        expectRefused(withSendCalls('leverage', change as never), 'shape', message);
      }
    });

    it('error: sendCalls that let the calls of a vault happen one by one', () => {
      for (const kind of ['equityEntry', 'equityExit']) {
        expectRefused(
          withSendCalls(kind, (sent) => ({ ...sent, atomicRequired: false })),
          'authorization',
          /atomic/,
          kind,
        );
      }
    });

    it('error: a value that can be read in two ways', () => {
      for (const value of [
        '00',
        '0x',
        '0x00',
        '-0',
        '0e18',
        ' 0',
        '0.0',
        '',
        '0n',
        0.5,
        -1,
        NaN,
        2 ** 60,
        true,
        ['0'],
        {},
      ]) {
        expectRefused(withTx({ value }), 'shape', /^Call 2: its value/);
      }
      for (const value of ['0', '0x0', 0, 0n, undefined]) {
        expect(verify(withTx({ value }), sample('leverage').intent, localChains).calls).toHaveLength(2);
      }
    });

    it('error: approvals beside calls, of which a wallet may send one list only', () => {
      const { plan } = sample('equityEntry');
      const [approval, ...calls] = plan.calls as readonly PlannedCall[];
      expectRefused(
        { ...plan, meta: {}, approvals: [approval], calls },
        'shape',
        /either tx .* or calls/,
        'equityEntry',
      );
    });

    it('error: a plan, or a part of one, of another type', () => {
      const values: unknown[] = [
        null,
        undefined,
        0,
        1,
        '',
        'x',
        true,
        [],
        [null],
        [[]],
        {},
        { length: 1 },
        { toString: 1, valueOf: 1 },
      ];
      const parts: [string, (value: unknown) => unknown][] = [
        ['plan', (value) => value],
        ['tx', (tx) => ({ ...sample('leverage').plan, tx })],
        ['to', (to) => withTx({ to })],
        ['data', (data) => withTx({ data })],
        ['chainId', (chainId) => ({ ...sample('leverage').plan, chainId })],
        ['calls', (calls) => ({ ...sample('borrow').plan, tx: undefined, approvals: undefined, calls })],
        ['sendCalls', (sent) => ({ ...sample('leverage').plan, sendCalls: sent ?? 0 })],
        ['its calls', (calls) => withSendCalls('leverage', (sent) => ({ ...sent, calls: calls as never }))],
      ];
      for (const [part, of] of parts) {
        for (const value of part === 'chainId' ? values.filter((one) => one !== 1) : values) {
          const text = `${part}: ${JSON.stringify(value)}`;
          expect(() => verify(of(value) as VerifiablePlan, sample('leverage').intent, localChains), text).toThrow(
            VerificationError,
          );
        }
      }
      for (const approvals of [0, 'x', true, {}, [null], [[]]]) {
        expectRefused({ ...sample('leverage').plan, approvals }, 'shape', /./);
      }
      // Text of the plan in a message is short.
      expect(refusal(withTx({ to: 'Verified. '.repeat(1000) }), sample('leverage').intent).message.length).toBeLessThan(
        200,
      );
      expect(() =>
        verify(withTx({ data: `0x${'00'.repeat(2 ** 24)}` }), sample('leverage').intent, localChains),
      ).toThrow(VerificationError);
    });
  });

  describe('an intent without limits', () => {
    it('error: names each amount and reading that is missing or of another type', () => {
      const wrong = [undefined, null, '', '1000', 1000, Number.NaN, -1n, [], true];
      const numbers: Record<string, readonly string[]> = {
        leverage: ['pay.amount', 'state.price'],
        swapAndLeverage: ['pay.amount', 'pay.worth', 'state.price'],
        increaseLeverage: ['positionId', 'state.price', 'state.collateral', 'state.debt'],
        swapAndSupplyCollateral: ['positionId', 'pay.amount', 'pay.worth'],
        withdrawCollateral: ['positionId', 'amount'],
        borrow: ['positionId', 'amount'],
        'repay all': ['positionId', 'pay.amount'],
        'swapAndRepay all': ['positionId', 'pay.amount', 'pay.worth'],
        deleverage: ['positionId', 'state.price', 'state.collateral', 'state.debt'],
        equityEntry: ['amount', 'state.stock.price', 'state.yield.price'],
        equityExit: [
          'state.stock.price',
          'state.stock.collateral',
          'state.stock.debt',
          'state.loops.0.price',
          'state.loops.0.debt',
        ],
        'manual exit': ['state.collateral', 'state.borrowShares', 'state.debt'],
      };
      for (const [kind, paths] of Object.entries(numbers)) {
        const { plan, intent } = sample(kind);
        for (const path of paths) {
          for (const value of path === 'positionId' ? wrong.filter((one) => one !== 1000) : wrong) {
            const error = refusal(plan, changed(intent, path.split('.'), value));
            expect([kind, error.code, error.message]).toEqual([kind, 'intent', expect.stringContaining(path)]);
          }
        }
        for (const path of ['state', 'pay'].filter((name) => name in intent)) {
          const isOptional = path === 'state' && !paths.some((one) => one.startsWith('state'));
          if (!isOptional) expect(refusal(plan, changed(intent, [path], undefined)).code).toBe('intent');
        }
      }
      for (const value of [null, undefined, 0, 'x', []]) {
        expect(() => verify(sample('leverage').plan, value as never, localChains)).toThrow(VerificationError);
      }
    });

    it('error: a price of zero, fees beyond the contract’s, full that is neither true nor false, positions that are none', () => {
      const refused: [string, string, unknown][] = [
        ['increaseLeverage', 'state.price', 0n],
        ['deleverage', 'state.yieldFee', 10n ** 18n],
        ['leverage', 'state.depositFee', 10n ** 17n],
        ['repay', 'full', 'no'],
        ['repay', 'full', 1],
        ['deleverage', 'amount', 0n],
        ['borrow', 'positionId', false],
        ['borrow', 'positionId', 1.5],
        ['equityExit', 'positionIds', undefined],
        ['leverage', 'marketId', undefined],
        ['equityEntry', 'vaultId', 7],
        ['reallocateAndLeverage', 'reallocation.vaults', '0x'],
        ['reallocateAndLeverage', 'reallocation.maxFee', '1'],
        ['equityExit', 'positionIds', [0, 0]],
        ['equityExit', 'positionIds', ['0']],
      ];
      for (const [kind, path, value] of refused) {
        const { plan, intent } = sample(kind);
        const error = refusal(plan, changed(intent, path.split('.'), value));
        expect([kind, error.code, error.message]).toEqual([kind, 'intent', expect.stringContaining(path)]);
      }
    });
  });

  describe('the bounds', () => {
    it('behavior: name each token once, with everything that is spent or received of it', () => {
      for (const { kind, plan, intent } of samples()) {
        const { spendsAtMost, receivesAtLeast } = verify(plan, intent, localChains);
        for (const amounts of [spendsAtMost, receivesAtLeast]) {
          expect(new Set(amounts.map(({ token }) => token)).size, kind).toBe(amounts.length);
        }
      }
      const { plan, intent } = sample('reallocateSwapAndLeverage');
      const [eth] = verify(plan, intent, localChains).spendsAtMost;
      expect(eth?.amount).toBe(BigInt(plan.tx?.value ?? 0));
    });

    it('behavior: name each swap once, with the least that it gives', () => {
      const legs: Record<string, readonly string[]> = {
        equityEntry: ['payment', 'stock loan', 'loan'],
        swapAndRepay: ['payment'],
        swapAndSupplyCollateral: ['payment'],
      };
      for (const { kind, plan, intent } of samples()) {
        const { swaps, opaque } = verify(plan, intent, localChains);
        expect(swaps.length, kind).toBe(opaque.filter(({ what }) => what === 'swap').length);
        for (const { sells, givesAtLeast } of swaps) {
          expect([kind, sells.amount > 0n, givesAtLeast.amount > 0n]).toEqual([kind, true, true]);
        }
        const names = swaps.map(({ of }) => of);
        expect(new Set(names).size, kind).toBe(names.length);
        if (legs[kind]) expect(names).toEqual(legs[kind]);
        if (kind === 'equityExit') expect(names).toEqual(expect.arrayContaining(['position 0', 'stock leg']));
      }
    });

    it('behavior: add up the losses and outputs of the sales of an exit, each within its own bounds', () => {
      for (const kind of ['equityExit', 'deleverage', 'deleverage a part']) {
        const { plan, intent } = sample(kind);
        const { swapsLoseAtMost, sentences } = verify(plan, intent, localChains);
        const share = Number(swapsLoseAtMost?.ofEquityPct) / 100;
        const ratio = (value: number) => value.toFixed(6);
        expect(swapsLoseAtMost?.amount.amount, kind).toBeGreaterThan(0n);
        expect(sentences).toContainEqual(
          `By your readings its swaps lose at most ${swapsLoseAtMost?.amount.text}, ${swapsLoseAtMost?.ofEquityPct} % of the own money.`,
        );
        // Of the sum the slippage of each sale is taken off, and the tolerance of the readings.
        const limits = { slippage: 0, maxSwapLoss: 0.02 };
        expect(verify(plan, { ...intent, ...limits, maxTotalLoss: ratio(share) } as Intent, localChains)).toBeDefined();
        const strict = refusal(plan, { ...intent, ...limits, maxTotalLoss: ratio(share / 4) } as Intent);
        expect([kind, strict.code, strict.message]).toEqual([
          kind,
          'minimum',
          expect.stringMatching(/swaps together may lose .* maxTotalLoss allow/),
        ]);
      }
      const { plan, intent } = sample('equityExit');
      const least = verify(plan, intent, localChains)
        .sentences.join(' ')
        .matchAll(/for at least ([\d.]+) USDG,/g);
      const sales = [...least].map(([, units]) => BigInt(Math.round(Number(units) * 1e6)));
      expect(sales).toHaveLength(2);
      const sum = sales.reduce((total, units) => total + units, 0n);
      expect(verify(plan, { ...intent, minAmountOut: sum } as Intent, localChains)).toBeDefined();
      expect(refusal(plan, { ...intent, minAmountOut: sum + 1n } as Intent).message).toMatch(
        /the sales may give as little as .* minAmountOut of the intent is/,
      );
    });

    it('error: a position that is empty by the readings, whose sale has no worth', () => {
      const { plan, intent } = sample('deleverage');
      const empty = changed(intent, ['state', 'collateral'], 0n);
      expect(refusal(plan, empty).code).toBe('minimum');
      const minimum = refusal({ ...plan, tx: withoutMinimum(plan.tx as PlannedCall) }, empty);
      expect(minimum.code).toBe('minimum');
    });
  });
}

/** The call of `deleverage` with 0 as the least output, its fourth word. */
const withoutMinimum = (call: PlannedCall): PlannedCall => ({
  ...call,
  data: `${call.data.slice(0, 10 + 3 * 64)}${'0'.repeat(64)}${call.data.slice(10 + 4 * 64)}`,
});

/** The intent with another value in a place. */
function changed(intent: object, [name, ...rest]: readonly string[], value: unknown): Intent {
  const key = name as keyof typeof intent;
  const next = rest.length === 0 ? value : changed(intent[key], rest, value);
  return { ...intent, [key]: next } as unknown as Intent;
}
