import { amount, balance, leverage, ltv, percent, shortened, tokenAt, toUnits, usualAmount } from '../copy/index.ts';
import { el, facts } from '../dom.ts';
import { boundsOf, boundsText, numberIn } from '../link.ts';
import { balanceOf } from '../parts/balance.ts';
import { amountField, type PaidToken, slider } from '../parts/fields.ts';
import { ltvBar } from '../parts/ltv-bar.ts';
import { createPanel } from '../parts/panel.ts';
import { costText, highestLeverage, issueNotes } from '../parts/result.ts';
import type { ChainId, ViewContext } from '../views/view.ts';
import type { StrategyForm } from './types.ts';

const LEAST = 1.1;
const USUAL = 3;

/** Open a position: an amount, a token and a leverage. */
export function openForm(context: ViewContext, { strategy, limits, onChange, onPreview }: StrategyForm): HTMLElement {
  const { client, query, signal, account } = context;
  const chainId = strategy.chainId as ChainId;
  const most = Math.max(LEAST, highestLeverage(limits.safe ?? strategy.defaultLeverage.ltvPct));
  const money = amountField({
    name: 'You pay',
    tokens: payTokens(chainId, [strategy.loan, strategy.collateral], query.get('payToken')),
    token: query.get('payToken') ?? undefined,
    initial: query.get('amount') ?? usualAmount(strategy.loan.priceUsd),
  });
  const level = slider({
    id: 'leverage',
    name: 'Leverage',
    min: LEAST,
    max: most,
    step: 0.1,
    initial: numberIn(query, 'leverage') ?? Math.min(USUAL, most),
    text: leverage,
    ends: [leverage(LEAST), `${leverage(most)}, highest safe`],
  });
  const bounds = boundsOf(query);
  const said = boundsText(bounds);
  const form = el(
    'form',
    { class: 'form', 'aria-label': 'Position' },
    money.node,
    level.node,
    said === undefined ? null : el('p', { class: 'muted' }, said),
  );
  const held = offerBalance(context, chainId, money);
  form.addEventListener('input', ({ target }) => {
    if (target instanceof HTMLSelectElement) void held.read();
    onChange(level.value());
  });
  onChange(level.value());
  const bodyOf = (text: string) => ({
    ...bounds,
    strategyId: strategy.id,
    chainId,
    payToken: money.token().address,
    amount: text,
    leverage: level.value(),
  });
  return createPanel({
    context,
    chainId,
    action: 'open_leverage',
    form,
    signal,
    read() {
      const read = money.read();
      if (read.kind === 'wrong') return read;
      if (read.kind === 'empty') return { kind: 'empty', hint: 'Enter an amount to see what it leads to.' };
      return { kind: 'ready', body: bodyOf(read.text), ...held.excess(read.text) };
    },
    onUnready: () => onPreview(level.value()),
    async preview(body, own) {
      const found = await client.leverageSimulate(body, { signal: own }).catch((error: unknown) => {
        if (!own.aborted) onPreview(body.leverage);
        throw error;
      });
      const { positionPreview: shown, issues } = found;
      const price = strategy.loan.priceUsd;
      onPreview(body.leverage, {
        apyPct: shown.expectedLeverageApy ?? undefined,
        equityUsd: price ? (Number(shown.equity) * Number(price)).toFixed(2) : undefined,
        ltvPct: shown.effectiveLtv,
      });
      const { worstCase, liquidation, costs } = shown;
      return [
        ltvBar(shown.effectiveLtv, limits),
        facts(
          [
            ['Net APY, with your own borrow', percent(shown.expectedLeverageApy)],
            ['Collateral', amount(shown.amountLeveragedCollateral, strategy.collateral.symbol)],
            ['Debt', amount(shown.amountLoan, strategy.loan.symbol)],
            ['Cost to open', costText(costs, shown.totalSwapCostPctOfEquity)],
            ['Price fall to liquidation', percent(liquidation?.dropPct)],
            ['LTV in the worst fill', ltv(worstCase?.ltv)],
          ],
          'lines',
        ),
        ...issueNotes(issues, chainId),
      ];
    },
    build: (body) => client.leverageBuild({ ...body, userAddress: account }),
  }).node;
}

const NATIVE = `0x${'0'.repeat(40)}`;

/** The tokens of a market, the native one, and the one that a link names. */
export function payTokens(chainId: number, own: readonly PaidToken[], asked: string | null): readonly PaidToken[] {
  const native = { address: NATIVE, ...(tokenAt(chainId, NATIVE) ?? { symbol: 'ETH', decimals: 18 }) };
  const usual = [...own, native];
  const isUsual = asked === null || usual.some(({ address }) => address.toLowerCase() === asked.toLowerCase());
  if (isUsual || asked === null) return usual;
  return [...usual, { address: asked, ...(tokenAt(chainId, asked) ?? { symbol: shortened(asked), decimals: 18 }) }];
}

export interface Held {
  /** Read the balance of the chosen token. */
  read(): Promise<void>;
  /** Why an amount cannot be paid, if it cannot. */
  excess(text: string): { readonly unpayable?: string };
}

/** Show the balance of the chosen token at its field, and refuse more. `cap` is a smaller bound, such as a debt. */
export function offerBalance(context: ViewContext, chainId: number, money: ReturnType<typeof amountField>): Held {
  const { wallet, account, signal } = context;
  let held: string | undefined;
  let of = '';
  const read = async () => {
    const token = money.token();
    if (of === token.address) return;
    of = token.address;
    held = undefined;
    money.offer('', undefined, '');
    const found = await balanceOf(wallet, chainId, account, token).catch(() => undefined);
    if (signal.aborted || of !== token.address) return;
    held = found;
    money.offer('Balance', found, balance(found, token.symbol));
  };
  void read();
  return {
    read,
    excess(text) {
      const { decimals } = money.token();
      if (held === undefined || toUnits(text, decimals) <= toUnits(held, decimals)) return {};
      const unpayable = `Your balance is ${balance(held, money.token().symbol)}.`;
      money.fault(unpayable);
      return { unpayable };
    },
  };
}
