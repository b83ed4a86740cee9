import { amount, ltv, percent, usualAmount } from '../copy/index.ts';
import { el, facts } from '../dom.ts';
import { boundsOf, boundsText, numberIn } from '../link.ts';
import { amountField, slider } from '../parts/fields.ts';
import { ltvBar } from '../parts/ltv-bar.ts';
import { createPanel } from '../parts/panel.ts';
import { costText, issueNotes } from '../parts/result.ts';
import type { ViewContext } from '../views/view.ts';
import { offerBalance } from './open.ts';
import type { StrategyForm } from './types.ts';

/** Deposit into a vault: an amount, and the LTV of its stock leg. */
export function depositForm(
  context: ViewContext,
  { strategy, limits, onChange, onPreview }: StrategyForm,
): HTMLElement {
  const { client, query, signal, account } = context;
  const { chainId } = strategy;
  const vault = strategy.equityVault;
  const token = vault?.depositToken ?? strategy.loan;
  const money = amountField({
    name: 'You pay',
    tokens: [token],
    initial: query.get('amount') ?? usualAmount(strategy.loan.priceUsd),
  });
  const most = Number(vault?.maxStockLtvPct ?? 50);
  const level = slider({
    id: 'stock-ltv',
    name: 'LTV of the stock',
    min: 1,
    max: most,
    step: 0.5,
    initial: numberIn(query, 'stockLtvPct') ?? Number(vault?.targetLtvPct ?? most),
    text: ltv,
    ends: [ltv(1), `${ltv(most)}, highest`],
  });
  // A deposit takes no least output.
  const { minAmountOut: _, ...bounds } = boundsOf(query);
  const said = boundsText(bounds);
  const form = el(
    'form',
    { class: 'form', 'aria-label': 'Deposit' },
    money.node,
    level.node,
    said === undefined ? null : el('p', { class: 'muted' }, said),
  );
  const held = offerBalance(context, chainId, money);
  const leverageNow = () => Math.round(100 + level.value()) / 100;
  form.addEventListener('input', () => onChange(leverageNow()));
  onChange(leverageNow());
  const bodyOf = (text: string) => ({
    ...bounds,
    strategyId: strategy.id,
    amount: text,
    stockLtvPct: String(level.value()),
  });
  return createPanel({
    context,
    chainId,
    action: 'equity_deposit',
    form,
    signal,
    read() {
      const read = money.read();
      if (read.kind === 'wrong') return read;
      if (read.kind === 'empty') return { kind: 'empty', hint: 'Enter an amount to see what it leads to.' };
      return { kind: 'ready', body: bodyOf(read.text), ...held.excess(read.text) };
    },
    onUnready: () => onPreview(leverageNow()),
    async preview(body, own) {
      const found = await client.equitySimulate(body, { signal: own }).catch((error: unknown) => {
        if (!own.aborted) onPreview(leverageNow());
        throw error;
      });
      const { preview: shown, issues } = found;
      const price = strategy.loan.priceUsd;
      onPreview(leverageNow(), {
        apyPct: shown.netApyPct,
        equityUsd: price ? (Number(body.amount) * Number(price)).toFixed(2) : undefined,
        ltvPct: shown.stock.ltvPct,
      });
      const { stock, yieldLeg } = shown;
      return [
        ltvBar(stock.ltvPct, limits),
        facts(
          [
            ['Net APY, with your own borrow', percent(shown.netApyPct)],
            ['Stock', amount(stock.expectedReceived, stock.symbol)],
            ['Borrowed against it', amount(stock.borrowUsdg, token.symbol)],
            ['Earns in a loop of', `${yieldLeg.collateralSymbol} at an LTV of ${ltv(yieldLeg.ltvPct)}`],
            ['Cost to enter', costText(shown.costs, shown.totalSwapCostPctOfEquity)],
            ['Stock fall to liquidation', percent(stock.priceDropToLiquidationPct)],
          ],
          'lines',
        ),
        ...issueNotes(issues, chainId),
      ];
    },
    build: (body) => client.equityDepositBuild({ ...body, userAddress: account }),
  }).node;
}
