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
  const boxes = loopsOf(vault).map(({ id, text, isKnown }) => ({
    id,
    text,
    node: el('input', { type: 'checkbox', value: id, checked: isKnown }),
  }));
  // A vault with one loop is left whole.
  if (boxes.length === 1 && boxes[0]?.node.checked) boxes[0].node.disabled = true;
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
      el('legend', {}, 'What is sold'),
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
    read: () =>
      boxes.length > 0 && chosen().length === 0
        ? { kind: 'empty', hint: 'Choose at least one loop: the stock is not sold without any.' }
        : { kind: 'ready', body: body() },
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

interface Loop {
  readonly id: number;
  readonly text: string;
  /** Whether it is known to belong to the vault. */
  readonly isKnown: boolean;
}

/** The loops of the vault, or those that may be: the wallet has to say which. */
function loopsOf({ yieldLoops, ambiguousYieldLoopIds }: EquityPosition): readonly Loop[] {
  if (yieldLoops.length > 0) {
    return yieldLoops.map(({ id, collateralSymbol, netValueUsd }) => ({
      id,
      text: `${collateralSymbol ?? 'Unknown'} loop ${id}, ${usd(netValueUsd)}`,
      isKnown: true,
    }));
  }
  return (ambiguousYieldLoopIds ?? []).map((id) => ({
    id,
    text: `Loop ${id}, if it is of this vault`,
    isKnown: false,
  }));
}
