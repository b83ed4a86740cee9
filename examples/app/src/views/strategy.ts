import { lineChart } from '../chart.ts';
import type { Client, Strategy } from '../client.ts';
import { alertOf, el, facts } from '../dom.ts';
import { percent, usd } from '../format.ts';
import { openForm } from '../open-form.ts';
import { stressOf } from '../stress.ts';
import { vaultForm } from '../vault-form.ts';
import type { View } from './view.ts';

/** One strategy: its rates over time, and a form to preview, build and execute a position. */
export const strategyView: View = async (context) => {
  const { client, id, query, signal, place } = context;
  const strategy = await strategyOf(client, id, Number(query.get('chainId')), signal);
  const { collateral, loan, defaultLeverage, equityVault } = strategy;
  const stress = el('section', { 'aria-label': 'Stress' }, el('p', { class: 'muted' }, 'Reading the stress table …'));
  const charts = el('div', { class: 'charts' }, el('p', { class: 'muted' }, 'Reading histories …'));
  place(
    el('p', {}, el('a', { href: '#/' }, 'All strategies')),
    el('h1', {}, `${collateral.symbol} / ${loan.symbol}`),
    el('p', {}, collateral.description ?? ''),
    facts([
      [`APY at ${defaultLeverage.leverage}×`, percent(defaultLeverage.leverageApyPct)],
      ['Collateral APY', percent(strategy.totalCollateralApyPct)],
      ['Borrow APY after incentives', percent(strategy.netBorrowApyPct)],
      ['Liquidity', usd(strategy.liquidityUsd)],
      ['Liquidation at LTV', percent(strategy.ltvPct?.liquidation)],
    ]),
    charts,
    equityVault === undefined || equityVault === null ? openForm(context, strategy) : vaultForm(context, strategy),
    stress,
  );
  const [history, table] = await Promise.all([
    historyOf(client, strategy, signal),
    stressOf(client, strategy, signal).catch(alertOf),
  ]);
  charts.replaceChildren(history);
  stress.replaceChildren(table);
};

/** Vaults are rows of the list only. */
export async function strategyOf(client: Client, id: string, chainId: number, signal: AbortSignal): Promise<Strategy> {
  if (!id.startsWith('equity-')) return client.strategy(id, { signal });
  const { strategies } = await client.strategies({ chainId: chainId === 1 ? 1 : 4663 }, { signal });
  const found = strategies.find((strategy) => strategy.id === id);
  if (found === undefined) throw new Error(`There is no listed strategy ${id} on chain ${chainId}.`);
  return found;
}

/** A history that is not there is no reason to hide the rest. */
async function historyOf(client: Client, { id }: Strategy, signal: AbortSignal): Promise<HTMLElement> {
  const input = { id: id.replace('equity-', '') };
  const [borrow, collateral] = await Promise.allSettled([
    client.borrowApyHistory(input, { signal }),
    client.collateralApyHistory(input, { signal }),
  ]);
  return lineChart('Rates over time', [
    {
      name: 'Collateral APY',
      color: 'a',
      points: collateral.status === 'rejected' ? [] : collateral.value.history.map(({ ts, apy }) => [ts, apy]),
    },
    {
      name: 'Borrow APY',
      color: 'b',
      points: borrow.status === 'rejected' ? [] : borrow.value.history.map(({ x, y }) => [x * 1_000, y * 100]),
    },
  ]);
}
