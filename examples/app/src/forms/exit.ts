import type { EquityPosition } from '../client.ts';
import { amount, ltv, usd } from '../copy/index.ts';
import { el, facts, type Row } from '../dom.ts';
import { createPanel } from '../parts/panel.ts';
import { costText, issueNotes } from '../parts/result.ts';
import type { ChainId, ViewContext } from '../views/view.ts';

export interface ExitOptions {
  readonly vault: EquityPosition;
  /** Of the deposit token. */
  readonly symbol: string;
  readonly signal: AbortSignal;
  onDone(): void;
}

/** Leave a vault: with all of its loops, or with some of them; what is not chosen stays open. */
export function exitForm(context: ViewContext, { vault, symbol, signal, onDone }: ExitOptions): HTMLElement {
  const { client, account } = context;
  const chainId = vault.chainId as ChainId;
  const boxes = vault.yieldLoops.map((loop) => ({
    id: loop.id,
    node: el('input', { type: 'checkbox', value: loop.id, checked: true }),
    text: `${loop.collateralSymbol ?? 'unknown'} loop, ${usd(loop.netValueUsd)}`,
  }));
  const chosen = () => boxes.filter(({ node }) => node.checked).map(({ id }) => id);
  const isWhole = () => chosen().length === boxes.length;
  const said = el('p', { class: 'muted', role: 'status' });
  const say = () => {
    said.textContent = isWhole()
      ? 'Everything is sold and comes back to your wallet.'
      : 'The stock is sold. The loops that are not chosen stay open.';
  };
  const form = el(
    'form',
    { class: 'form', 'aria-label': 'Exit' },
    el(
      'fieldset',
      { class: 'choices' },
      el('legend', {}, 'Sell'),
      el(
        'label',
        { class: 'check' },
        el('input', { type: 'checkbox', checked: true, disabled: true }),
        `Stock, ${amount(vault.stock.collateral, vault.stock.symbol)}`,
      ),
      ...boxes.map(({ node, text }) => el('label', { class: 'check' }, node, text)),
    ),
    said,
  );
  form.addEventListener('input', say);
  say();
  // The loops that are known to belong to the vault need not be named.
  const body = () => ({
    strategyId: vault.strategyId,
    userAddress: account,
    ...(isWhole() && vault.yieldLoopMatch !== 'ambiguous' ? {} : { yieldPositionIds: chosen() }),
  });
  return createPanel({
    context,
    chainId,
    action: 'equity_exit',
    form,
    signal,
    read: () => ({ kind: 'ready', body: body() }),
    async preview(asked, own) {
      const found = await client.equityExitSimulate(asked, { signal: own });
      const { before, worstCase, costs, totalSwapCostPctOfEquity } = found;
      const rows: readonly Row[] = [
        ['LTV of the stock now', ltv(before?.ltv)],
        ['You receive at least', amount(worstCase?.paidOut ?? worstCase?.equity, symbol)],
        ['Cost of the swaps', costText(costs, totalSwapCostPctOfEquity)],
      ];
      return [facts(rows, 'lines'), ...issueNotes(found.issues, chainId)];
    },
    build: (asked) => client.equityExitBuild(asked),
    onDone,
  }).node;
}
