import { type Client, InvalidRequestError, NotFoundError, type Strategy } from '../client.ts';
import { category, leverage, ltv, PageError, percent, percentTick, usd } from '../copy/index.ts';
import { el, facts, write } from '../dom.ts';
import { depositForm } from '../forms/deposit.ts';
import { openForm } from '../forms/open.ts';
import type { Previewed, StrategyForm } from '../forms/types.ts';
import { lineChart } from '../parts/chart.ts';
import { failed, loading, staleNote } from '../parts/state.ts';
import { stressNodes } from '../parts/stress.ts';
import { strategyFacts } from '../queries.ts';
import type { ChainId, View, ViewContext } from './view.ts';

const DAYS = 90;

/** One strategy: one leverage for its rate, its form, its bad days and its past. */
export const strategyView: View = async (context) => {
  const { client, graphql, parts, query, signal, place, chains } = context;
  const id = parts[0] ?? '';
  place(loading('the strategy', 6));
  const [strategy, known] = await Promise.all([
    strategyOf(client, id, Number(query.get('chainId')), signal),
    // Without it the form knows the default leverage only.
    strategyFacts(graphql, [id], signal).catch(() => undefined),
  ]);
  const limits = known?.get(strategy.id)?.limits ?? {
    max: strategy.ltvPct?.max,
    liquidation: strategy.ltvPct?.liquidation,
  };
  const isVault = isVaultOf(strategy);
  const rate = el('b', { id: 'rate' });
  const at = el('span', { class: 'muted', id: 'rate-at' });
  const headline = (pct: string | undefined, leverageNow: number) => {
    write(rate, percent(pct));
    rate.classList.toggle('down', Number(pct ?? 0) < 0);
    write(at, `net APY at ${levelText(strategy, leverageNow)}`);
  };
  const followers = followersOf(context, strategy);
  const form: StrategyForm = {
    strategy,
    limits,
    onChange: (leverageNow) => headline(rungOf(strategy, leverageNow), leverageNow),
    onPreview(leverageNow, found) {
      if (found?.apyPct !== undefined) headline(found.apyPct, leverageNow);
      followers.show(leverageNow, found);
    },
  };
  const panel = isVault ? depositForm(context, form) : openForm(context, form);
  const { collateral, loan } = strategy;
  place(
    el('p', { class: 'back' }, el('a', { href: '#/' }, '← Strategies')),
    el(
      'div',
      { class: 'sides' },
      el(
        'div',
        { class: 'head-of' },
        el('h1', {}, `${collateral.symbol} / ${loan.symbol}`),
        el(
          'p',
          { class: 'tags' },
          el('span', {}, chains.get(strategy.chainId) ?? `chain ${strategy.chainId}`),
          el('span', {}, isVault ? 'Vault' : category(collateral.category)),
          collateral.project ? el('span', {}, collateral.project) : null,
        ),
        el('p', { class: 'headline' }, rate, ' ', at),
        staleNote('Rates', [strategy.freshness.borrow, strategy.freshness.collateralApy]),
        el('p', { class: 'muted' }, collateral.description ?? ''),
      ),
      panel,
      el(
        'div',
        { class: 'rest' },
        facts([
          [isVault ? 'Yield of the loan' : 'Collateral APY', percent(strategy.totalCollateralApyPct)],
          ['Borrow APY', percent(strategy.netBorrowApyPct)],
          ['Liquidity', usd(strategy.liquidityUsd)],
          feeOf(strategy),
        ]),
        ...followers.nodes,
      ),
    ),
  );
};

const isVaultOf = ({ id }: Strategy): boolean => id.startsWith('equity-');

/** The leverage of a loop, or the LTV of a vault's stock that it stands for. */
const levelText = (strategy: Strategy, leverageNow: number): string =>
  isVaultOf(strategy) ? `an LTV of ${ltv((leverageNow - 1) * 100)}` : leverage(leverageNow);

function feeOf({ fees }: Strategy): readonly [string, string] {
  const isOnDeposit = Number(fees?.depositFeePct ?? 0) > 0;
  return isOnDeposit ? ['Fee on deposit', percent(fees?.depositFeePct)] : ['Fee on yield', percent(fees?.yieldFeePct)];
}

/** Vaults are rows of the list only. */
export async function strategyOf(client: Client, id: string, chainId: number, signal: AbortSignal): Promise<Strategy> {
  if (!id.startsWith('equity-')) return client.strategy(id, { signal }).catch(unlessThere);
  const { strategies } = await client.strategies({ chainId: (chainId === 1 ? 1 : 4663) as ChainId }, { signal });
  const found = strategies.find((strategy) => strategy.id === id);
  if (found === undefined) throw new PageError('There is no such vault.');
  return found;
}

/** An id that is none, or of nothing: the address is wrong, and nothing can be changed about it. */
function unlessThere(error: unknown): never {
  const isWrong = error instanceof InvalidRequestError || error instanceof NotFoundError;
  throw isWrong ? new PageError('There is no such strategy.') : error;
}

/** The net APY at a leverage, between the steps of the ladder: until the preview knows it with the own borrow. */
function rungOf({ leverageLadder }: Strategy, leverageNow: number): string | undefined {
  const rungs = leverageLadder
    .filter(({ leverageApyPct }) => leverageApyPct !== undefined && leverageApyPct !== null)
    .map((rung) => [Number(rung.leverage), Number(rung.leverageApyPct)] as const);
  const above = rungs.findIndex(([step]) => step >= leverageNow);
  const [high, low] = [rungs[above], rungs[above - 1]];
  if (high === undefined) return undefined;
  if (low === undefined || high[0] === low[0]) return String(high[1]);
  return String(low[1] + ((leverageNow - low[0]) / (high[0] - low[0])) * (high[1] - low[1]));
}

interface Followers {
  readonly nodes: readonly HTMLElement[];
  /** Show the past and the bad days of a leverage, these as of the preview where there is one. */
  show(leverageNow: number, found?: Previewed): void;
}

const USUAL_EQUITY = '10000';
/** Less than a dollar says nothing about days. */
const LEAST_EQUITY = 1;

function followersOf({ client, signal }: ViewContext, strategy: Strategy): Followers {
  const chart = lineChart(`Net APY, ${DAYS} days`, { value: percent, tick: percentTick }, signal);
  const mean = el('p', { class: 'muted' });
  const stress = el('div', {}, loading('the bad days', 4));
  const { id } = strategy;
  const isVault = isVaultOf(strategy);
  const chainId = strategy.chainId as ChainId;
  const past = latest(signal);
  const badDays = latest(signal);
  chart.say('Reading the past …');
  const showPast = async (leverageNow: number, own: AbortSignal) => {
    try {
      const { history } = await client.leveragedApyHistory(
        { id, chainId, leverage: String(leverageNow), days: DAYS },
        { signal: own },
      );
      if (own.aborted) return;
      const points = history.map(({ ts, apy }) => [ts, Number(apy)] as const);
      chart.show({ name: `Net APY at ${levelText(strategy, leverageNow)}`, points });
      const sum = points.reduce((total, [, value]) => total + value, 0);
      write(
        mean,
        points.length === 0
          ? ''
          : `${percent(sum / points.length)} on average, without your own borrow and the costs of opening and closing.`,
      );
    } catch {
      if (!own.aborted) chart.say('The past cannot be read now.');
    }
  };
  const showStress = async (leverageNow: number, equityUsd: string, filled: string, own: AbortSignal) => {
    try {
      const answer = await client.strategyStress({ id, chainId, leverage: filled, equityUsd }, { signal: own });
      if (own.aborted) return;
      const open = new Set([...stress.querySelectorAll('details[open] .group')].map(({ textContent }) => textContent));
      stress.replaceChildren(
        ...stressNodes(answer.stress, { level: levelText(strategy, leverageNow), equityUsd, isVault }),
      );
      for (const details of stress.querySelectorAll('details')) {
        details.open = open.has(details.querySelector('.group')?.textContent ?? '');
      }
    } catch (error) {
      if (!own.aborted)
        stress.replaceChildren(failed(error, () => void showStress(leverageNow, equityUsd, filled, own), chainId));
    }
  };
  return {
    nodes: [
      el(
        'section',
        { class: 'card', 'aria-labelledby': 'past' },
        el('h2', { id: 'past' }, `Net APY, ${DAYS} days`),
        chart.node,
        mean,
      ),
      el('section', { class: 'card stress', 'aria-labelledby': 'bad' }, el('h2', { id: 'bad' }, 'Bad days'), stress),
    ],
    show(leverageNow, found) {
      const equity = Number(found?.equityUsd ?? 0);
      const equityUsd = equity >= LEAST_EQUITY ? equity.toFixed(2) : USUAL_EQUITY;
      // The leverage that the swaps lead to: the form and the bad days speak of one position.
      const ltvNow = Number(found?.ltvPct) / 100;
      const filled = found === undefined ? String(leverageNow) : (isVault ? 1 + ltvNow : 1 / (1 - ltvNow)).toFixed(4);
      past(String(leverageNow), (own) => showPast(leverageNow, own));
      badDays(`${filled} ${equityUsd}`, (own) => showStress(leverageNow, equityUsd, filled, own));
    },
  };
}

/** Run the newest of some tasks only, and none twice in a row. */
function latest(signal: AbortSignal): (key: string, task: (own: AbortSignal) => Promise<void>) => void {
  let running = new AbortController();
  let last: string | undefined;
  return (key, task) => {
    if (key === last) return;
    last = key;
    running.abort();
    running = new AbortController();
    void task(AbortSignal.any([running.signal, signal]));
  };
}
