import { sparkline } from '../chart.ts';
import type { Client, Strategy } from '../client.ts';
import { el } from '../dom.ts';
import { percent, usd } from '../format.ts';
import type { View } from './view.ts';

/** The listed strategies of all chains, best first. Their rates follow the service. */
export const strategiesView: View = async ({ client, world, signal, place }) => {
  const answers = await Promise.all(
    world.chains.map(({ chainId }) => client.strategies({ chainId: chainId as 1 | 4663 }, { signal })),
  );
  const strategies = answers
    .flatMap((answer) => answer.strategies)
    .sort((a, b) => Number(b.defaultLeverage.leverageApyPct) - Number(a.defaultLeverage.leverageApyPct));
  const names = new Map(world.chains.map(({ chainId, name }) => [chainId, name]));
  const cards = strategies.map((strategy) =>
    cardOf(strategy, names.get(strategy.chainId) ?? `chain ${strategy.chainId}`),
  );
  const state = el('p', { class: 'muted', role: 'status' }, 'Connecting to live rates …');
  place(el('h1', {}, 'Strategies'), state, el('ul', { class: 'cards' }, ...cards));
  void follow(client, signal, state);
};

function cardOf(strategy: Strategy, chain: string): HTMLElement {
  const { id, chainId, collateral, loan, defaultLeverage } = strategy;
  return el(
    'li',
    { class: 'card', 'data-strategy': id },
    el(
      'a',
      { href: `#/strategies/${id}?chainId=${chainId}` },
      // How the APY grows or falls with the leverage.
      sparkline(strategy.leverageLadder.map(({ leverageApyPct }) => Number(leverageApyPct))),
      el('strong', {}, `${collateral.symbol} / ${loan.symbol}`),
      el('span', { class: 'muted' }, `${chain}, ${defaultLeverage.leverage}× by default`),
      el('span', { class: 'rate' }, el('b', { 'data-field': 'apy' }, percent(defaultLeverage.leverageApyPct)), ' APY'),
      el('span', {}, 'Borrowing ', el('b', { 'data-field': 'borrow' }, percent(strategy.netBorrowApyPct))),
      el('span', {}, 'Liquidity ', el('b', { 'data-field': 'liquidity' }, usd(strategy.liquidityUsd) ?? 'unknown')),
    ),
  );
}

/** Write changes into the cards as they come; the client connects again by itself. */
async function follow(client: Client, signal: AbortSignal, state: HTMLElement): Promise<void> {
  const say = (text: string) => {
    if (state.textContent !== text) state.textContent = text;
  };
  try {
    const changes = client.live.strategies(
      {},
      {
        signal,
        onState: ({ kind }) => say(kind === 'connected' ? 'Live rates.' : 'Connection lost. Connecting again …'),
      },
    );
    for await (const { changed, removedStrategyIds } of changes) {
      for (const id of removedStrategyIds) cardBy(id)?.remove();
      for (const strategy of changed) {
        write(strategy.strategyId, 'apy', percent(strategy.apyPct));
        write(strategy.strategyId, 'borrow', percent(strategy.netBorrowApyPct));
        write(strategy.strategyId, 'liquidity', usd(strategy.liquidityUsd) ?? 'unknown');
      }
    }
  } catch {
    if (!signal.aborted) say('No live rates. Reload the page to see new ones.');
  }
}

function cardBy(id: string): Element | null {
  return document.querySelector(`[data-strategy="${CSS.escape(id)}"]`);
}

function write(id: string, field: string, text: string | undefined): void {
  const place = cardBy(id)?.querySelector(`[data-field=${field}]`);
  if (place && text !== undefined && place.textContent !== text) place.textContent = text;
}
