import type { EquityPosition, Position, RowAnswer } from '../client.ts';
import { type ActionName, leverage, percent, readable, signedUsd, TABS, usd } from '../copy/index.ts';
import { el, facts } from '../dom.ts';
import { leftRight } from '../parts/authorization.ts';
import { type LtvLimits, ltvBar } from '../parts/ltv-bar.ts';
import { gain, resultRow } from '../parts/result.ts';
import { empty, loading, staleNote } from '../parts/state.ts';
import { strategyFacts } from '../queries.ts';
import { followWallet } from './live.ts';
import type { ChainId, View, ViewContext } from './view.ts';

type Answer = RowAnswer<'walletPositions'>;

/** What the wallet holds. It is read again whenever the service reads it differently. */
export const positionsView: View = async (context) => {
  const { place } = context;
  const title = el('h1', {}, 'Positions');
  const state = el('p', { class: 'muted', role: 'status', id: 'live' }, 'Connecting …');
  const list = el('div', { id: 'positions' });
  // What came of a request stays when the list is read again.
  const said = el('div');
  place(title, loading('positions', 5));
  const read = async () => {
    const { answers, missing, limits } = await holdings(context);
    list.replaceChildren(...shownOf(context, said, answers, missing, limits));
  };
  await read();
  place(el('div', { class: 'bar-under' }, title, state), said, list);
  void followWallet(context, state, read);
};

interface Holdings {
  readonly answers: readonly Answer[];
  /** Names of the chains that do not answer. */
  readonly missing: readonly string[];
  readonly limits: (strategyId: string) => LtvLimits;
}

async function holdings({ client, graphql, world, account, signal }: ViewContext): Promise<Holdings> {
  const settled = await Promise.allSettled(
    world.chains.map(({ chainId }) =>
      client.walletPositions({ address: account, chainId: chainId as ChainId }, { signal }),
    ),
  );
  const answers = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const refused = settled.find((one) => one.status === 'rejected');
  if (answers.length === 0 && refused) throw refused.reason;
  const ids = answers.flatMap(({ positions, equityPositions }) => [
    ...positions.flatMap(({ strategyId }) => strategyId ?? []),
    ...equityPositions.flatMap(({ strategyId, yieldLoops }) => [
      strategyId,
      ...yieldLoops.map((loop) => loop.strategyId ?? strategyId),
    ]),
  ]);
  // The positions are worth showing without their limits.
  const known = await strategyFacts(graphql, ids, signal).catch(() => undefined);
  return {
    answers,
    missing: world.chains.filter((_, i) => settled[i]?.status === 'rejected').map(({ name }) => name),
    limits: (id) => known?.get(id)?.limits ?? {},
  };
}

function shownOf(
  context: ViewContext,
  said: HTMLElement,
  answers: readonly Answer[],
  missing: readonly string[],
  limits: Holdings['limits'],
): readonly Node[] {
  const all = answers.flatMap(({ positions }) => positions);
  const open = all.filter(({ status }) => status === 'open');
  const ended = all.filter(({ status }) => status !== 'open');
  const vaults = answers.flatMap(({ equityPositions }) => equityPositions);
  const rights = answers.flatMap(({ chainId, leftAuthorizations }) =>
    (leftAuthorizations ?? []).map(({ call }) =>
      leftRight(context.wallet, chainId, { ...call, from: context.account }, said),
    ),
  );
  const gone = missing.map((name) =>
    el('p', { class: 'note warn' }, `${name} does not answer now: what the wallet holds there is not shown.`),
  );
  const past = ended.length === 0 ? [] : [pastOf(ended)];
  if (open.length === 0 && vaults.length === 0) {
    return [
      ...rights,
      ...gone,
      empty('This wallet has no open position.', { href: '#/', text: 'Choose a strategy' }),
      ...past,
    ];
  }
  const values = [...open, ...vaults].map(({ netValueUsd }) => netValueUsd);
  const results = open.map(({ pnl }) => pnl?.totalAfterFeeUsd);
  const old = staleNote(
    'Prices',
    [...open, ...vaults].flatMap(({ freshness }) => [freshness?.borrow, freshness?.oracle]),
  );
  return [
    ...[...rights, ...gone, old].filter((node) => node !== null),
    facts([
      ['Value of everything', el('span', { class: 'big' }, usd(sumOf(values)))],
      ['Profit or loss', el('span', { class: 'big' }, gain(sumOf(results)))],
      ['Open', el('span', { class: 'big' }, String(open.length + vaults.length))],
    ]),
    el(
      'ul',
      { class: 'cards' },
      ...open.map((position) => positionCard(context, position, limits(position.strategyId ?? ''))),
      ...vaults.map((vault) => vaultCard(context, vault, limits(vault.strategyId))),
    ),
    ...past,
  ];
}

/** The sum, unless a part of it is not known. */
function sumOf(values: readonly (string | null | undefined)[]): string | undefined {
  if (values.some((value) => value === null || value === undefined)) return undefined;
  return values.reduce<number>((sum, value) => sum + Number(value), 0).toFixed(2);
}

export const pairOf = ({ collateralSymbol, loanSymbol }: Position): string =>
  `${collateralSymbol ?? 'unknown'} / ${loanSymbol ?? 'unknown'}`;

/** How far it is from its liquidation, in words. */
export function healthText(position: Position, { safe, max }: LtvLimits): HTMLElement {
  const { ltvPct, priceDropToLiquidationPct: drop } = position;
  if (ltvPct === undefined)
    return el('p', { class: 'note warn' }, 'Its health is not known: its prices cannot be read.');
  if (ltvPct === null || drop === null) return el('p', {}, 'It has no debt to be liquidated for.');
  const fall = `it is liquidated when the price falls by ${percent(drop)}.`;
  if (max !== undefined && Number(ltvPct) > Number(max)) {
    return el('p', { class: 'bad-text' }, el('b', {}, 'Close to its liquidation: '), fall);
  }
  if (safe !== undefined && Number(ltvPct) > Number(safe))
    return el('p', { class: 'warn-text' }, el('b', {}, 'Above the safe LTV: '), fall);
  return el('p', {}, `Safe: ${fall}`);
}

function positionCard({ chains }: ViewContext, position: Position, limits: LtvLimits): HTMLElement {
  const { chainId, id, positionId, warnings = [] } = position;
  const href = `#/positions/${chainId}/${id}`;
  const actions: readonly ActionName[] = ['add_collateral', 'repay', 'lower', 'increase_leverage', 'close'];
  return el(
    'li',
    { class: 'card', 'data-position': positionId },
    el('h2', {}, el('a', { href }, pairOf(position))),
    el('p', { class: 'tags' }, el('span', {}, chains.get(chainId) ?? `chain ${chainId}`)),
    facts([
      ['Value', usd(position.netValueUsd)],
      resultRow(position),
      ['Net APY', percent(position.currentLeverageApyPct)],
      ['Leverage', leverage(position.currentLeverage)],
    ]),
    ltvBar(position.ltvPct, { ...limits, liquidation: position.liquidationLtvPct ?? limits.liquidation }),
    healthText(position, limits),
    ...warnings.map(({ message }) => el('p', { class: 'note warn' }, readable(message, chainId))),
    el(
      'p',
      { class: 'actions' },
      ...actions.map((action) =>
        el(
          'a',
          { class: 'plain', href: `${href}?action=${action}`, 'aria-label': `${TABS[action]}, ${pairOf(position)}` },
          TABS[action],
        ),
      ),
    ),
  );
}

function vaultCard({ chains }: ViewContext, vault: EquityPosition, limits: LtvLimits): HTMLElement {
  const { chainId, strategyId, stock, yieldLoops } = vault;
  const href = `#/vaults/${chainId}/${strategyId}`;
  return el(
    'li',
    { class: 'card', 'data-vault': strategyId },
    el('h2', {}, el('a', { href }, `${stock.symbol} vault`)),
    el('p', { class: 'tags' }, el('span', {}, chains.get(chainId) ?? `chain ${chainId}`), el('span', {}, 'Vault')),
    facts([
      ['Value', usd(vault.netValueUsd)],
      ['Net APY', percent(vault.currentNetApyPct)],
      ['Stock', usd(stock.collateralUsd)],
      ['Yield loops', String(yieldLoops.length)],
    ]),
    ltvBar(stock.ltvPct, { ...limits, liquidation: stock.liquidationLtvPct ?? limits.liquidation }),
    el(
      'p',
      {},
      stock.priceDropToLiquidationPct
        ? `The stock is liquidated when it falls by ${percent(stock.priceDropToLiquidationPct)}.`
        : '',
    ),
    ...(vault.warnings ?? []).map(({ message }) => el('p', { class: 'note warn' }, readable(message, chainId))),
    el(
      'p',
      { class: 'actions' },
      el(
        'a',
        {
          class: 'plain',
          href: `#/strategies/${strategyId}?chainId=${chainId}`,
          'aria-label': `Deposit more, ${stock.symbol} vault`,
        },
        'Deposit more',
      ),
      el('a', { class: 'plain', href, 'aria-label': `Exit, ${stock.symbol} vault` }, 'Exit'),
    ),
  );
}

function pastOf(ended: readonly Position[]): HTMLElement {
  return el(
    'details',
    { class: 'past' },
    el('summary', {}, `Ended positions (${ended.length})`),
    el(
      'ul',
      {},
      ...ended.map((position) =>
        el(
          'li',
          {},
          el('a', { href: `#/positions/${position.chainId}/${position.id}` }, pairOf(position)),
          ` ${position.status}`,
          position.pnl?.totalAfterFeeUsd === undefined ? '' : `, ${signedUsd(position.pnl.totalAfterFeeUsd)}`,
        ),
      ),
    ),
  );
}
