import type { Strategy } from './client.ts';
import { alertOf, el, facts } from './dom.ts';
import { percent } from './format.ts';
import { boundsOf, boundsText } from './link.ts';
import { planPanel } from './plan-panel.ts';
import { amountField, numberField } from './sliders.ts';
import type { ViewContext } from './views/view.ts';

const REST_MS = 250;

/** Preview a deposit into a vault while sliders move, then build and execute it. */
export function vaultForm({ client, wallet, account, query, signal }: ViewContext, strategy: Strategy): HTMLElement {
  const vault = strategy.equityVault;
  const size = amountField(`Amount, ${vault?.depositToken.symbol ?? ''}`, query.get('amount') ?? '1000');
  const ltv = numberField(
    { id: 'stock-ltv', name: 'LTV of the stock leg', unit: '%', min: 1, max: Number(vault?.maxStockLtvPct), step: 0.5 },
    Number(query.get('stockLtvPct') ?? vault?.targetLtvPct),
  );
  const preview = el('div', { id: 'preview', 'aria-live': 'polite', 'aria-busy': 'true' });
  // A deposit takes no least output.
  const { minAmountOut: _, ...bounds } = boundsOf(query);
  const body = () => ({ ...bounds, strategyId: strategy.id, amount: size.value(), stockLtvPct: String(ltv.value()) });
  let running = new AbortController();
  const show = async () => {
    running.abort();
    running = new AbortController();
    const own = AbortSignal.any([running.signal, signal]);
    preview.setAttribute('aria-busy', 'true');
    try {
      const { preview: shown } = await client.equitySimulate(body(), { signal: own });
      preview.replaceChildren(
        facts([
          ['Expected APY', percent(shown.netApyPct)],
          ['LTV of the stock leg', percent(shown.stock.ltvPct)],
          ['LTV of the yield loop', percent(shown.yieldLeg?.ltvPct)],
        ]),
      );
    } catch (error) {
      if (own.aborted) return;
      preview.replaceChildren(alertOf(error));
    }
    preview.removeAttribute('aria-busy');
  };
  let resting: ReturnType<typeof setTimeout> | undefined;
  const said = boundsText(bounds);
  const form = el(
    'form',
    { class: 'form', 'aria-label': 'Deposit' },
    size.node,
    ltv.node,
    said === undefined ? null : el('p', { class: 'muted' }, said),
  );
  form.addEventListener('input', () => {
    clearTimeout(resting);
    resting = setTimeout(show, REST_MS);
  });
  form.addEventListener('submit', (event) => event.preventDefault());
  void show();
  const panel = planPanel({
    client,
    wallet,
    account,
    signal,
    build: () => client.equityDepositBuild({ ...body(), userAddress: account }),
  });
  form.addEventListener('input', panel.clear);
  return el(
    'div',
    { class: 'columns' },
    el(
      'section',
      { 'aria-labelledby': 'position-title' },
      el('h2', { id: 'position-title' }, 'Deposit'),
      form,
      preview,
    ),
    panel.node,
  );
}
