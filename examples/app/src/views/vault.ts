import type { EquityPosition } from '../client.ts';
import { amount, leverage, ltv, PageError, percent, readable, usd, usdTick } from '../copy/index.ts';
import { el, facts } from '../dom.ts';
import { exitForm } from '../forms/exit.ts';
import { lineChart } from '../parts/chart.ts';
import { eventList } from '../parts/events.ts';
import { ltvBar } from '../parts/ltv-bar.ts';
import { loading, staleNote } from '../parts/state.ts';
import { type StrategyFacts, strategyFacts } from '../queries.ts';
import { followWallet, readSoon } from './live.ts';
import type { ChainId, View, ViewContext } from './view.ts';

const POINTS = 60;

/** A vault that the wallet holds: its stock, its loops, and the way out. */
export const vaultView: View = async (context) => {
  const { client, graphql, parts, account, signal, place } = context;
  const chainId = Number(parts[0]) as ChainId;
  const strategyId = parts[1] ?? '';
  place(loading('the vault', 6));
  const find = async () => {
    const { equityPositions } = await client.walletPositions({ address: account, chainId }, { signal });
    return equityPositions.find((one) => one.strategyId === strategyId);
  };
  const vault = await find();
  if (vault === undefined) {
    throw new PageError(
      'This wallet holds nothing in this vault.',
      'Choose the wallet that deposited at the top of the page.',
    );
  }
  const known = (await strategyFacts(graphql, [strategyId], signal)).get(strategyId);
  const head = el('div', { class: 'head-of' });
  const loops = el('div', {});
  const state = el('p', { class: 'muted', role: 'status', id: 'live' }, 'Connecting …');
  const chart = lineChart('Value of the stock leg', { value: usd, tick: usdTick }, signal);
  const events = el('div', {});
  chart.say('Reading the past …');
  const show = (shown: EquityPosition | undefined) => {
    head.replaceChildren(...headOf(context, shown, known));
    loops.replaceChildren(...loopsOf(shown));
  };
  const readPast = async () => {
    try {
      const past = await client.stockLegHistory({ address: account, id: strategyId, points: POINTS }, { signal });
      const points = past.equity.flatMap(({ at, equityUsd }) =>
        equityUsd === undefined || equityUsd === null ? [] : [[Date.parse(at), Number(equityUsd)] as const],
      );
      chart.show({ name: 'Value of the stock leg', points });
      events.replaceChildren(eventList(past.events, vault.stock.symbol, known?.loan.symbol ?? ''));
    } catch {
      if (!signal.aborted) chart.say('The past cannot be read now.');
    }
  };
  const again = async () => {
    show(await find());
    await readPast();
  };
  show(vault);
  place(
    el('div', { class: 'back' }, el('a', { href: '#/positions' }, '← Positions'), state),
    el(
      'div',
      { class: 'sides' },
      head,
      exitForm(context, {
        vault,
        symbol: known?.loan.symbol ?? '',
        signal,
        onDone: () => void readSoon(again, signal),
      }),
      el(
        'div',
        { class: 'rest' },
        loops,
        el(
          'section',
          { class: 'card', 'aria-labelledby': 'past' },
          el('h2', { id: 'past' }, 'Value of the stock leg'),
          chart.node,
          events,
        ),
      ),
    ),
  );
  void readPast();
  void followWallet(context, state, async () => show(await find()));
};

function headOf(
  { chains, parts }: ViewContext,
  vault: EquityPosition | undefined,
  known: StrategyFacts | undefined,
): readonly Node[] {
  if (vault === undefined) {
    return [
      el('h1', {}, `${known?.collateral.symbol ?? ''} vault`),
      el('p', { class: 'note good' }, 'Nothing is left in this vault. What it paid out is in your wallet.'),
    ];
  }
  const { stock, chainId, freshness, warnings = [] } = vault;
  const more = `#/strategies/${parts[1]}?chainId=${chainId}`;
  const limits = { ...known?.limits, liquidation: stock.liquidationLtvPct ?? known?.limits.liquidation };
  return [
    el('h1', {}, `${stock.symbol} vault`),
    el(
      'p',
      { class: 'tags' },
      el('span', {}, chains.get(chainId) ?? `chain ${chainId}`),
      el('span', {}, `Vault${vault.curator ? ` of ${vault.curator}` : ''}`),
    ),
    el(
      'p',
      { class: 'headline' },
      el('b', { id: 'value' }, usd(vault.netValueUsd)),
      ' ',
      el('span', { class: 'muted' }, 'value'),
    ),
    ...[staleNote('Prices', [freshness?.borrow, freshness?.oracle])].filter((node) => node !== null),
    ltvBar(stock.ltvPct, limits),
    ...warnings.map(({ message }) => el('p', { class: 'note warn' }, readable(message, chainId))),
    facts([
      ['Net APY', percent(vault.currentNetApyPct)],
      ['Stock', amount(stock.collateral, stock.symbol)],
      ['Worth', usd(stock.collateralUsd)],
      ['Debt on it', amount(stock.debtUsdg, known?.loan.symbol ?? '')],
      [
        'Stock fall to liquidation',
        stock.priceDropToLiquidationPct === null ? 'none' : percent(stock.priceDropToLiquidationPct),
      ],
      ['Borrow APY', percent(stock.borrowApyPct)],
    ]),
    el('p', {}, el('a', { class: 'plain', href: more }, 'Deposit more')),
  ];
}

function loopsOf(vault: EquityPosition | undefined): readonly Node[] {
  const loops = vault?.yieldLoops ?? [];
  if (loops.length === 0) return [];
  return [
    el(
      'section',
      { class: 'card', 'aria-labelledby': 'loops' },
      el('h2', { id: 'loops' }, 'Yield loops'),
      ...loops.map((loop) =>
        facts([
          ['Loop', `${loop.collateralSymbol ?? 'unknown'} / ${loop.loanSymbol ?? 'unknown'}`],
          ['Value', usd(loop.netValueUsd)],
          ['Net APY', percent(loop.currentLeverageApyPct)],
          ['Leverage', leverage(loop.currentLeverage)],
          ['LTV', ltv(loop.ltvPct)],
          ['Liquidation', ltv(loop.liquidationLtvPct)],
        ]),
      ),
    ),
  ];
}
