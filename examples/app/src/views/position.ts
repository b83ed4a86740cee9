import type { Position } from '../client.ts';
import { type ActionName, amount, leverage, PageError, percent, readable, TABS, usd, usdTick } from '../copy/index.ts';
import { button, el, facts } from '../dom.ts';
import { manageForm } from '../forms/manage.ts';
import { lineChart } from '../parts/chart.ts';
import { eventList } from '../parts/events.ts';
import { ltvBar } from '../parts/ltv-bar.ts';
import { resultRow } from '../parts/result.ts';
import { loading, staleNote } from '../parts/state.ts';
import { type StrategyFacts, strategyFacts } from '../queries.ts';
import { followWallet, readSoon } from './live.ts';
import { healthText, pairOf } from './positions.ts';
import type { ChainId, View, ViewContext } from './view.ts';

const POINTS = 60;

/** One position: its numbers, its past, and everything that can be done with it. */
export const positionView: View = async (context) => {
  const { client, graphql, parts, query, account, signal, place } = context;
  const chainId = Number(parts[0]) as ChainId;
  const id = Number(parts[1]);
  place(loading('the position', 6));
  const find = async () => {
    const { positions, equityPositions } = await client.walletPositions({ address: account, chainId }, { signal });
    const loops = equityPositions.flatMap(({ yieldLoops }) => yieldLoops);
    return { position: positions.find((one) => one.id === id), loop: loops.find((one) => one.id === id) };
  };
  let { position, loop } = await find();
  if (position === undefined) {
    if (loop)
      throw new PageError(
        'This loop belongs to a vault, and is left with it.',
        'Open the vault under Positions to exit it.',
      );
    throw new PageError(
      `This wallet has no position ${id} here.`,
      'Choose the wallet that opened it at the top of the page.',
    );
  }
  const known = await strategyFacts(graphql, [position.strategyId ?? ''], signal);
  const found = known.get(position.strategyId ?? '');
  const head = el('div', { class: 'head-of' });
  const numbers = el('div', {});
  const state = el('p', { class: 'muted', role: 'status', id: 'live' }, 'Connecting …');
  const past = pastOf(context, id, chainId, found);
  const show = (shown: Position) => {
    head.replaceChildren(...headOf(context, shown, found));
    numbers.replaceChildren(factsOf(shown, past.total()));
  };
  show(position);
  const again = async () => {
    const now = (await find()).position;
    if (now === undefined || signal.aborted) return;
    position = now;
    await past.read();
    show(now);
    if (now.status !== 'open') actions?.end();
  };
  const actions =
    found === undefined || position.status !== 'open'
      ? null
      : actionPanel(context, () => position as Position, found, again);
  place(
    el('div', { class: 'back' }, el('a', { href: '#/positions' }, '← Positions'), state),
    el(
      'div',
      { class: 'sides' },
      head,
      actions?.node ?? endedNode(position),
      el('div', { class: 'rest' }, numbers, past.node),
    ),
  );
  const asked = query.get('action') as ActionName | null;
  const isHigh = found?.limits.safe !== undefined && Number(position.ltvPct ?? 0) > Number(found.limits.safe);
  actions?.choose(asked !== null && asked in TABS ? asked : isHigh ? 'lower' : 'add_collateral');
  void past.read().then(() => show(position as Position));
  void followWallet(context, state, again);
};

function endedNode({ status }: Position): HTMLElement {
  return el(
    'section',
    { class: 'card panel' },
    el('h2', {}, `This position is ${status}`),
    el('p', {}, 'Nothing is left to do. What it paid out is in your wallet.'),
    el('a', { class: 'button', href: '#/' }, 'Choose a strategy'),
  );
}

function headOf(
  { chains }: ViewContext,
  position: Position,
  found: StrategyFacts | undefined,
): readonly (Node | string)[] {
  const { chainId, id, status, warnings = [], freshness } = position;
  const isOpen = status === 'open';
  const limits = { ...found?.limits, liquidation: position.liquidationLtvPct ?? found?.limits.liquidation };
  return [
    el('h1', {}, pairOf(position)),
    el(
      'p',
      { class: 'tags' },
      el('span', {}, chains.get(chainId) ?? `chain ${chainId}`),
      el('span', {}, `Position ${id}`),
      isOpen ? null : el('span', { class: 'old' }, status),
    ),
    el(
      'p',
      { class: 'headline' },
      el('b', { id: 'value' }, usd(position.netValueUsd)),
      ' ',
      el('span', { class: 'muted' }, 'value'),
    ),
    ...[isOpen ? staleNote('Prices', [freshness?.borrow, freshness?.oracle]) : null].filter((node) => node !== null),
    ...(isOpen ? [ltvBar(position.ltvPct, limits), healthText(position, limits)] : []),
    ...warnings.map(({ message }) => el('p', { class: 'note warn' }, readable(message, chainId))),
  ];
}

function factsOf(position: Position, ofPast: string | undefined): HTMLElement {
  const { pnl, collateralSymbol, loanSymbol, closeNow, status } = position;
  const result = resultRow(position, ofPast);
  const paid = [
    ['Paid in', usd(pnl?.depositedUsd)],
    ['Paid out', usd(pnl?.returnedUsd)],
  ] as const;
  if (status !== 'open') return facts([result, ...paid]);
  return facts([
    result,
    ['Net APY', percent(position.currentLeverageApyPct)],
    ['Leverage', leverage(position.currentLeverage)],
    ['If closed now', usd(closeNow?.paysOutUsd)],
    ['Collateral', amount(position.amountLeveragedCollateral, collateralSymbol)],
    ['Debt', amount(position.amountLoan, loanSymbol)],
    ...paid,
  ]);
}

interface Past {
  readonly node: HTMLElement;
  read(): Promise<void>;
  /** The result by all recorded events, USD; `undefined` = not known. */
  total(): string | undefined;
}

/** The value over time, and what happened. */
function pastOf(
  { client, account, signal }: ViewContext,
  id: number,
  chainId: ChainId,
  found: StrategyFacts | undefined,
): Past {
  const chart = lineChart('Value', { value: usd, tick: usdTick }, signal);
  const events = el('div', {});
  chart.say('Reading the past …');
  let total: string | undefined;
  const node = el(
    'section',
    { class: 'card', 'aria-labelledby': 'past' },
    el('h2', { id: 'past' }, 'Value'),
    chart.node,
    events,
  );
  return {
    node,
    total: () => total,
    async read() {
      try {
        const history = await client.positionHistory(
          { address: account, id: String(id), chainId, points: POINTS },
          { signal },
        );
        const points = history.equity.flatMap(({ at, equityUsd }) =>
          equityUsd === undefined || equityUsd === null ? [] : [[Date.parse(at), Number(equityUsd)] as const],
        );
        total = history.pnlSplit?.total?.usd ?? undefined;
        chart.show({ name: 'Value', points });
        events.replaceChildren(eventList(history.events, found?.collateral.symbol ?? '', found?.loan.symbol ?? ''));
      } catch {
        if (!signal.aborted) chart.say('The past cannot be read now.');
      }
    },
  };
}

/** The actions as tabs over their form. A form and its result stay while the numbers beside it are read again. */
function actionPanel(context: ViewContext, position: () => Position, found: StrategyFacts, again: () => Promise<void>) {
  const place = el('div', {});
  let running = new AbortController();
  const tabs = new Map<ActionName, HTMLButtonElement>();
  const choose = (action: ActionName) => {
    running.abort();
    running = new AbortController();
    for (const [name, tab] of tabs) tab.setAttribute('aria-pressed', String(name === action));
    const signal = AbortSignal.any([running.signal, context.signal]);
    place.replaceChildren(
      manageForm(context, action, {
        position: position(),
        facts: found,
        signal,
        onDone: () => void readSoon(again, context.signal),
      }),
    );
  };
  for (const name of Object.keys(TABS) as ActionName[]) {
    tabs.set(
      name,
      button(TABS[name] ?? name, { class: 'tab', 'data-action': name }, () => choose(name)),
    );
  }
  const node = el(
    'div',
    { class: 'panel-of' },
    el('div', { class: 'tabs', role: 'group', 'aria-label': 'Actions' }, ...tabs.values()),
    place,
  );
  const end = () => node.querySelector('.tabs')?.remove();
  return { node, choose, end };
}
