import type { Client, Strategy, StrategyChange } from '../client.ts';
import { category, leverage, minute, percent, percentTick, shortened, usd } from '../copy/index.ts';
import { el, write } from '../dom.ts';
import { sparkline } from '../parts/chart.ts';
import { empty, loading, staleAge, staleNote } from '../parts/state.ts';
import { historiesOf } from '../queries.ts';
import type { ChainId, View, ViewContext } from './view.ts';

const DAYS = 30;

interface Order {
  readonly text: string;
  readonly of: (strategy: Strategy) => number;
}

const ORDERS: Readonly<Record<string, Order>> = {
  apy: { text: 'Highest APY', of: ({ defaultLeverage }) => Number(defaultLeverage.leverageApyPct ?? -1e9) },
  liquidity: { text: 'Most liquidity', of: ({ liquidityUsd }) => Number(liquidityUsd ?? -1) },
  borrow: { text: 'Cheapest borrowing', of: ({ netBorrowApyPct }) => -Number(netBorrowApyPct ?? 1e9) },
  leverage: { text: 'Most leverage', of: ({ defaultLeverage }) => Number(defaultLeverage.leverage) },
};

/** The listed strategies of all chains, as a table that is searched, filtered and sorted. Their rates follow the service. */
export const strategiesView: View = async (context) => {
  const { client, graphql, world, signal, place } = context;
  const lead = el(
    'p',
    { class: 'lead' },
    'Earn the yield of a token several times over by borrowing against it on Morpho. More leverage earns more, and is liquidated sooner.',
  );
  const title = el('h1', {}, 'Strategies');
  place(title, lead, loading('strategies', 8));
  const settled = await Promise.allSettled(
    world.chains.map(({ chainId }) => client.strategies({ chainId: chainId as ChainId }, { signal })),
  );
  const answers = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const refused = settled.find((one) => one.status === 'rejected');
  // One chain that fails does not hide the other.
  if (answers.length === 0 && refused) throw refused.reason;
  const missing = world.chains.filter((_, i) => settled[i]?.status === 'rejected').map(({ name }) => name);
  const strategies = new Map(answers.flatMap((answer) => answer.strategies).map((one) => [one.id, one]));

  const controls = controlsOf(context, [...strategies.values()]);
  const count = el('p', { class: 'muted', role: 'status', id: 'count' });
  const state = el('p', { class: 'muted', id: 'live' }, 'Connecting to live rates …');
  const note = el('div', {});
  const body = el('tbody', { role: 'rowgroup' });
  const table = tableOf(body);
  const none = el('div', {});
  const twins = twinsOf([...strategies.values()]);
  const histories = new Map<string, readonly number[]>();
  const rows = new Map<string, HTMLElement>();
  const show = () => {
    const shown = controls.choose([...strategies.values()]);
    body.replaceChildren(
      ...shown.map((strategy) => {
        const row = rows.get(strategy.id) ?? rowOf(strategy, context.chains, twins.has(strategy.id));
        rows.set(strategy.id, row);
        return row;
      }),
    );
    table.hidden = shown.length === 0;
    none.replaceChildren(...(shown.length === 0 ? [empty('No strategy fits these filters.')] : []));
    write(count, `${shown.length} of ${strategies.size} strategies`);
  };
  const warn = () => {
    const old = staleNote(
      'Rates',
      [...strategies.values()].map(({ freshness }) => freshness.borrow),
    );
    const gone = missing.map((name) =>
      el('p', { class: 'note warn' }, `${name} does not answer now: its strategies are not shown.`),
    );
    const shown = [...gone, old].filter((one) => one !== null);
    if (note.textContent === shown.map(({ textContent }) => textContent).join('')) return;
    note.replaceChildren(...shown);
    // A connection is no sign of life of the source.
    state.hidden = old !== null;
  };
  controls.node.addEventListener('input', show);
  show();
  warn();
  place(title, lead, controls.node, note, el('div', { class: 'bar-under' }, count, state), table, none);
  historiesOf(graphql, DAYS, signal)
    .then((found) => {
      for (const [id, values] of found) histories.set(id, values);
      for (const [id, row] of rows) drawHistory(row, histories.get(id));
    })
    // The table is complete without its lines.
    .catch(() => {
      for (const row of rows.values()) drawHistory(row, undefined);
    });
  const removed = (id: string) => {
    strategies.delete(id);
    rows.delete(id);
    show();
  };
  const changed = (change: Change) => {
    const before = strategies.get(change.strategyId);
    const row = rows.get(change.strategyId);
    if (before === undefined || row === undefined) return;
    const after = changedBy(before, change);
    strategies.set(after.id, after);
    fill(row, after);
    warn();
  };
  void follow(client, signal, state, { changed, removed });
};

/** Strategies whose tokens and chain are those of another one: their ids tell them apart. */
function twinsOf(all: readonly Strategy[]): ReadonlySet<string> {
  const pairOf = ({ chainId, collateral, loan }: Strategy) => `${chainId} ${collateral.address} ${loan.address}`;
  const counts = new Map<string, number>();
  for (const one of all) counts.set(pairOf(one), (counts.get(pairOf(one)) ?? 0) + 1);
  return new Set(all.filter((one) => (counts.get(pairOf(one)) ?? 0) > 1).map(({ id }) => id));
}

function tableOf(body: HTMLElement): HTMLElement {
  const heads = ['Strategy', 'Net APY', `Last ${DAYS} days`, 'Without leverage', 'Borrow APY', 'Liquidity'];
  return el(
    'table',
    // Rows become cards on a phone, which takes their roles away from the elements.
    { class: 'list', role: 'table', 'aria-label': 'Strategies' },
    el(
      'thead',
      { role: 'rowgroup' },
      el('tr', { role: 'row' }, ...heads.map((head) => el('th', { scope: 'col', role: 'columnheader' }, head))),
    ),
    body,
  );
}

function rowOf(strategy: Strategy, chains: ReadonlyMap<number, string>, isTwin: boolean): HTMLElement {
  const { id, chainId, collateral, loan, curator } = strategy;
  const isVault = strategy.equityVault !== undefined && strategy.equityVault !== null;
  const cell = (name: string, label: string, ...children: readonly (Node | string | null)[]) =>
    el('td', { role: 'cell', 'data-cell': name, 'data-label': label }, ...children);
  const row = el(
    'tr',
    { role: 'row', 'data-strategy': id },
    cell(
      'name',
      '',
      el('a', { href: `#/strategies/${id}?chainId=${chainId}` }, `${collateral.symbol} / ${loan.symbol}`),
      el(
        'span',
        { class: 'tags' },
        el('span', {}, chains.get(chainId) ?? `chain ${chainId}`),
        el('span', {}, isVault ? `Vault${curator ? ` of ${curator}` : ''}` : category(collateral.category)),
        isTwin ? el('span', {}, `Market ${shortened(id)}`) : null,
        el('span', { class: 'old', hidden: true, 'data-field': 'age' }),
      ),
    ),
    cell(
      'apy',
      'Net APY',
      el('span', { 'data-field': 'most' }),
      el('b', { 'data-field': 'apy' }),
      ' at ',
      el('span', { 'data-field': 'leverage' }),
    ),
    cell('history', `Last ${DAYS} days`, el('span', { class: 'spark bone', 'aria-hidden': 'true' })),
    cell('base', 'Without leverage', el('span', { 'data-field': 'base' })),
    cell('borrow', 'Borrow APY', el('span', { 'data-field': 'borrow' })),
    cell('liquidity', 'Liquidity', el('span', { 'data-field': 'liquidity' })),
  );
  fill(row, strategy);
  return row;
}

function fill(row: HTMLElement, strategy: Strategy): void {
  const put = (field: string, text: string) => write(row.querySelector(`[data-field=${field}]`), text);
  const { leverage: most, leverageApyPct, ltvPct } = strategy.defaultLeverage;
  put('apy', percent(leverageApyPct));
  // A vault is listed at the target LTV of its stock.
  put('leverage', strategy.equityVault ? `an LTV of ${percentTick(Number(ltvPct))}` : leverage(most));
  // More leverage would not bring more to a vault at its target, nor where it loses.
  put('most', strategy.equityVault || Number(leverageApyPct ?? 0) < 0 ? '' : 'up to ');
  put('base', percent(strategy.totalCollateralApyPct));
  put('borrow', percent(strategy.netBorrowApyPct));
  put('liquidity', usd(strategy.liquidityUsd));
  row.querySelector('[data-field=apy]')?.classList.toggle('down', Number(leverageApyPct ?? 0) < 0);
  const old = staleAge([strategy.freshness.borrow]);
  const age = row.querySelector<HTMLElement>('[data-field=age]');
  if (age) age.hidden = old === undefined;
  put('age', old ?? '');
}

function drawHistory(row: HTMLElement, values: readonly number[] | undefined): void {
  const place = row.querySelector('[data-cell=history]');
  if (values === undefined || values.length < 2) {
    place?.replaceChildren(el('span', { class: 'muted' }, 'none yet'));
    return;
  }
  const [low, high] = [Math.min(...values), Math.max(...values)];
  place?.replaceChildren(
    sparkline(values),
    el('span', { class: 'hidden' }, `between ${percent(low)} and ${percent(high)}`),
  );
}

interface Controls {
  readonly node: HTMLElement;
  choose(all: readonly Strategy[]): readonly Strategy[];
}

/** Kept while the page is open, so that a way back leads to the same list. */
const kept = new Map<string, string>();

function controlsOf({ world }: ViewContext, all: readonly Strategy[]): Controls {
  const search = el('input', {
    type: 'search',
    id: 'search',
    placeholder: 'Search a token',
    'aria-label': 'Search a token',
    autocomplete: 'off',
  });
  const select = (id: string, label: string, options: readonly (readonly [string, string])[]) =>
    el('select', { id, 'aria-label': label }, ...options.map(([value, text]) => el('option', { value }, text)));
  const chain = select('chain', 'Chain', [
    ['', 'All chains'],
    ...world.chains.map(({ chainId, name }) => [String(chainId), name] as const),
  ]);
  const kinds = [...new Set(all.map(({ collateral }) => category(collateral.category)))].sort();
  const kind = select('category', 'Category', [['', 'All categories'], ...kinds.map((text) => [text, text] as const)]);
  const order = select(
    'order',
    'Sort by',
    Object.entries(ORDERS).map(([key, { text }]) => [key, text] as const),
  );
  const positive = el('input', { type: 'checkbox', id: 'positive' });
  const fields = { search, chain, kind, order };
  for (const [name, field] of Object.entries(fields)) field.value = kept.get(name) ?? field.value;
  positive.checked = kept.get('positive') === 'yes';
  const node = el(
    'form',
    { class: 'controls', role: 'search' },
    search,
    chain,
    kind,
    order,
    el('label', { class: 'check' }, positive, 'Hide negative'),
  );
  node.addEventListener('submit', (event) => event.preventDefault());
  node.addEventListener('input', () => {
    for (const [name, field] of Object.entries(fields)) kept.set(name, field.value);
    kept.set('positive', positive.checked ? 'yes' : 'no');
  });
  return {
    node,
    choose(strategies) {
      const words = search.value
        .toLowerCase()
        .split(/[\s/]+/)
        .filter((word) => word !== '');
      const by = ORDERS[order.value]?.of ?? (() => 0);
      return strategies
        .filter(({ collateral, loan, chainId, defaultLeverage, curator }) => {
          const text = [collateral.symbol, collateral.name, collateral.project, loan.symbol, curator]
            .join(' ')
            .toLowerCase();
          return (
            words.every((word) => text.includes(word)) &&
            (chain.value === '' || chain.value === String(chainId)) &&
            (kind.value === '' || kind.value === category(collateral.category)) &&
            (!positive.checked || Number(defaultLeverage.leverageApyPct ?? 0) >= 0)
          );
        })
        .sort((a, b) => by(b) - by(a) || a.id.localeCompare(b.id));
    },
  };
}

type Change = StrategyChange['changed'][number];

/** A strategy of the list with the values of a change. */
function changedBy(before: Strategy, change: Change): Strategy {
  const { apyPct, netBorrowApyPct, liquidityUsd, defaultLeverage } = change;
  const { asOf, staleForSec } = change.freshness?.borrow ?? {};
  const { freshness } = before;
  return {
    ...before,
    ...(netBorrowApyPct === null ? {} : { netBorrowApyPct }),
    ...(liquidityUsd === null ? {} : { liquidityUsd: Number(liquidityUsd) }),
    defaultLeverage: {
      leverage: defaultLeverage?.leverage ?? before.defaultLeverage.leverage,
      ltvPct: defaultLeverage?.ltvPct ?? before.defaultLeverage.ltvPct,
      leverageApyPct: apyPct ?? before.defaultLeverage.leverageApyPct,
    },
    freshness: {
      ...freshness,
      borrow: {
        ...freshness.borrow,
        asOf: asOf ?? freshness.borrow.asOf,
        staleForSec: staleForSec ?? 0,
      },
    },
  };
}

interface Listener {
  changed(change: Change): void;
  removed(id: string): void;
}

/** Report changes as they come; the client connects again by itself. */
async function follow(client: Client, signal: AbortSignal, state: HTMLElement, listener: Listener): Promise<void> {
  const lost = () => `the rates are of ${minute(Date.now())}`;
  try {
    const changes = client.live.strategies(
      {},
      {
        signal,
        onState: ({ kind }) =>
          write(state, kind === 'connected' ? 'Live rates' : `Connection lost: ${lost()}. Connecting again …`),
      },
    );
    for await (const { changed, removedStrategyIds } of changes) {
      removedStrategyIds.forEach(listener.removed);
      changed.forEach(listener.changed);
    }
  } catch {
    if (!signal.aborted) write(state, `Not live: ${lost()}. Reload the page for new ones.`);
  }
}
