import type { Strategy } from './client.ts';
import { alertOf, el, facts } from './dom.ts';
import { amount, percent, shortened, usd } from './format.ts';
import { boundsOf, boundsText } from './link.ts';
import { planPanel } from './plan-panel.ts';
import { amountField, leverageField } from './sliders.ts';
import type { ViewContext } from './views/view.ts';

/** How long the sliders rest before a preview is requested, ms. */
const REST_MS = 250;
/** Any token may pay; the native one is at the zero address. */
const NATIVE = { address: `0x${'0'.repeat(40)}`, symbol: 'ETH' };

/** Preview a leveraged position while sliders move, then build and execute it. */
export function openForm(context: ViewContext, strategy: Strategy): HTMLElement {
  const { client, wallet, account, query, signal } = context;
  const asked = query.get('payToken')?.toLowerCase();
  const usual = [strategy.loan, strategy.collateral, NATIVE];
  const isUsual = asked === undefined || usual.some(({ address }) => address.toLowerCase() === asked);
  const tokens = isUsual ? usual : [...usual, { address: asked, symbol: shortened(asked) }];
  const pay = el(
    'select',
    { id: 'pay' },
    ...tokens.map(({ address, symbol }) =>
      el('option', { value: address, selected: address.toLowerCase() === asked }, symbol),
    ),
  );
  const size = amountField('Amount', query.get('amount') ?? '1000');
  const leverage = leverageField(
    Number(strategy.maxLeverage),
    Number(query.get('leverage') ?? Math.min(3, Number(strategy.defaultLeverage.leverage))),
  );
  const preview = el('div', { id: 'preview', 'aria-live': 'polite', 'aria-busy': 'true' });
  const bounds = boundsOf(query);
  const body = () => ({
    ...bounds,
    strategyId: strategy.id,
    chainId: strategy.chainId as 1 | 4663,
    payToken: pay.value,
    amount: size.value(),
    leverage: leverage.value(),
  });

  let running = new AbortController();
  const show = async () => {
    running.abort();
    running = new AbortController();
    const own = AbortSignal.any([running.signal, signal]);
    preview.setAttribute('aria-busy', 'true');
    try {
      const { positionPreview, issues = [] } = await client.leverageSimulate(body(), { signal: own });
      const { worstCase, liquidation, costs } = positionPreview;
      const cost = costs?.reduce((sum, { usd: value }) => sum + Number(value ?? 0), 0);
      preview.replaceChildren(
        facts([
          ['Expected APY', percent(positionPreview.expectedLeverageApy)],
          ['LTV', percent(positionPreview.effectiveLtv)],
          ['Collateral', amount(positionPreview.amountLeveragedCollateral, strategy.collateral.symbol)],
          ['Costs now', usd(cost)],
          ['LTV at worst', percent(worstCase?.ltv)],
          ['Price drop to liquidation', percent(liquidation?.dropPct)],
        ]),
        el('ul', { class: 'issues' }, ...issues.map(({ message }) => el('li', {}, message))),
      );
    } catch (error) {
      if (own.aborted) return;
      preview.replaceChildren(alertOf(error));
    }
    preview.removeAttribute('aria-busy');
  };
  let resting: ReturnType<typeof setTimeout> | undefined;
  const changed = () => {
    clearTimeout(resting);
    resting = setTimeout(show, REST_MS);
  };
  const said = boundsText(bounds);
  const form = el(
    'form',
    { class: 'form', 'aria-label': 'Position' },
    el('label', {}, 'Pay with', pay),
    size.node,
    leverage.node,
    said === undefined ? null : el('p', { class: 'muted' }, said),
  );
  form.addEventListener('input', changed);
  form.addEventListener('submit', (event) => event.preventDefault());
  void show();

  const panel = planPanel({
    client,
    wallet,
    account,
    signal,
    build: () => client.leverageBuild({ ...body(), userAddress: account }),
  });
  form.addEventListener('input', panel.clear);
  return el(
    'div',
    { class: 'columns' },
    el(
      'section',
      { 'aria-labelledby': 'position-title' },
      el('h2', { id: 'position-title' }, 'Position'),
      form,
      preview,
    ),
    panel.node,
  );
}
