import type { Client, Position, RowAnswer } from './client.ts';
import { alertOf, el, facts } from './dom.ts';
import { amount, percent, usd } from './format.ts';

type Options = RowAnswer<'deleverageOptions'>;
type Option = Options['options'][number];
type Step = Option['steps'][number];

/** Points of LTV left at which the options are read without a click: a reading costs as much as three previews. */
const NEAR_POINTS = 2;

const NAMES: Readonly<Record<Option['action'], string>> = {
  repay: 'Repay debt',
  add_collateral: 'Add collateral',
  close: 'Sell a part and repay',
};
const AFFORDABLE: Readonly<Record<Option['affordability'], string>> = {
  affordable: 'The wallet holds it.',
  not_affordable: 'The wallet does not hold it.',
  nothing_to_pay: 'The position pays for it.',
  unknown: 'The balance of the wallet is not known.',
};

/** Show the options for a position above its safe LTV: read on request, and at once when it is near its liquidation. */
export function adviceOf(client: Client, position: Position, account: string, signal: AbortSignal): HTMLElement {
  const shown = el('div', { 'aria-live': 'polite' });
  const node = el('details', { class: 'advice' }, el('summary', {}, 'Options'), shown);
  const read = async () => {
    shown.replaceChildren(el('p', {}, 'Reading prices and quotes …'));
    const { chainId, id } = position;
    const nodes = await client
      .deleverageOptions({ address: account, id, chainId: chainId as 1 | 4663 }, { signal })
      .then((found) => answerOf(found, account))
      .catch((error: unknown) => [alertOf(error)]);
    const again = el('button', { type: 'button' }, 'Read again');
    again.addEventListener('click', () => void read());
    shown.replaceChildren(...nodes, again);
  };
  node.addEventListener('toggle', () => {
    if (node.open && !shown.hasChildNodes()) void read();
  });
  const { ltvHeadroomPct } = position;
  if (typeof ltvHeadroomPct === 'string' && Number(ltvHeadroomPct) <= NEAR_POINTS) node.open = true;
  return node;
}

function answerOf(found: Options, account: string): readonly Node[] {
  const { needed, ltvPct, safeLtvPct, targetLtvPct, underWater, options } = found;
  if (!needed) return [el('p', {}, `Nothing: the LTV of ${ltvPct} % is not above the safe ${safeLtvPct} %.`)];
  return [
    el(
      'p',
      {},
      `The LTV of ${ltvPct} % is above the safe ${safeLtvPct} %. Each way leads to ${targetLtvPct} % or below:`,
    ),
    ...(underWater ? [el('p', { 'data-under-water': '' }, underWater.message)] : []),
    el('ul', { class: 'options' }, ...options.map((option) => itemOf(option, found, account))),
  ];
}

function itemOf(option: Option, found: Options, account: string): HTMLElement {
  const { action, steps, affordability, preview, unavailable, simulatedGas, gasUsd } = option;
  const [first] = steps;
  const name = first && preview ? el('a', { href: linkOf(first, found, account) }, NAMES[action]) : NAMES[action];
  const amounts = steps.map(textOf).join(', then ');
  const head = el('p', {}, el('strong', {}, name), amounts === '' ? '' : `: ${amounts}.`);
  if (unavailable) {
    return el('li', { 'data-option': action }, head, el('p', {}, `Not possible now: ${unavailable.message}`));
  }
  return el(
    'li',
    { 'data-option': action },
    head,
    facts([
      ['Cost', usd(option.costUsd)],
      ['LTV after', percent(preview?.positionPreview.effectiveLtv)],
      ['Gas', simulatedGas === undefined ? undefined : Number(simulatedGas).toLocaleString('en')],
      ['Gas at its present price', gasUsd && `about $${gasUsd}`],
      ['Payment', AFFORDABLE[affordability]],
    ]),
  );
}

function textOf({ action, amount: size, symbol, full, fromProceeds }: Step): string {
  const what = action === 'close' ? 'sell' : action === 'repay' ? 'repay' : 'add';
  return `${what} ${full ? 'all debt, about ' : ''}${amount(size, symbol)}${fromProceeds ? ' of the proceeds' : ''}`;
}

/** The first transaction of an option, to be reviewed and signed. */
function linkOf({ action, amount: size, token, full }: Step, { chainId, id }: Options, account: string): string {
  const query = new URLSearchParams({ chainId: String(chainId), action, userAddress: account, id: String(id) });
  if (action !== 'close') query.set('payToken', token);
  if (full) query.set('full', 'true');
  else query.set('amount', size);
  return `#/sign?${query}`;
}
