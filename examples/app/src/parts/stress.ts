import type { Client } from '../client.ts';
import { change as changeText, leverage, ltv, percent, usd, whole } from '../copy/index.ts';
import { el } from '../dom.ts';

type Table = Awaited<ReturnType<Client['strategyStress']>>['stress'];
type Row = Table['rows'][number];

/** The groups of rows, in the order in which they are shown. */
const GROUPS: readonly { readonly name: string; readonly scenarios: readonly Row['scenario'][] }[] = [
  { name: 'Collateral price falls', scenarios: ['COLLATERAL_PRICE'] },
  { name: 'Loan token off its peg', scenarios: ['LOAN_PRICE'] },
  { name: 'Borrowing gets dearer', scenarios: ['BORROW_RATE', 'FULL_UTILIZATION'] },
  { name: 'The market pays less', scenarios: ['MARKET_BELOW_ORACLE', 'EXIT_AT_MEASURED_SLIPPAGE', 'NO_EXIT'] },
];

const NAMES: Partial<Record<Row['scenario'], string>> = {
  FULL_UTILIZATION: 'all lent out',
  EXIT_AT_MEASURED_SLIPPAGE: 'measured loss',
  NO_EXIT: 'no buyer',
};

const COLUMNS = ['Change', 'LTV', 'LTV left', 'Your money', 'Net APY', 'Ended by'];

export interface StressOf {
  /** The leverage, or the LTV of a vault, in words. */
  readonly level: string;
  readonly equityUsd: string;
  readonly isVault: boolean;
}

/** What a person gets from a table of stress for a deposit of that size and leverage. */
export function stressNodes(stress: Table, of: StressOf): readonly Node[] {
  const drop = stress.dropToLiquidationPct;
  const first =
    drop === null
      ? 'It has no debt to be liquidated for.'
      : `${of.isVault ? 'Its yield loop' : 'It'} is liquidated when the price of ${of.isVault ? 'its' : 'the'} collateral falls by ${percent(drop)}.`;
  return [
    el('p', { 'data-stress': '' }, `A deposit of ${usd(of.equityUsd)} at ${of.level}. ${first} ${recordOf(stress)}`),
    ...GROUPS.map(({ name, scenarios }) =>
      groupOf(
        name,
        stress.rows.filter(({ scenario }) => scenarios.includes(scenario)),
      ),
    ),
  ];
}

/** The longest window of the record that is known, in a sentence. */
function recordOf({ recordedMoves }: Table): string {
  const known = recordedMoves.filter(({ survived }) => survived !== undefined).at(-1);
  const [shortest] = recordedMoves;
  const daysOf = (hours: number) => `${Math.round(hours / 24)} recorded days`;
  if (known?.worstLtvRisePct === undefined) return `Only ${daysOf(shortest?.sampleCount ?? 0)} are known so far.`;
  const most = known.maxLeverage;
  const end = known.survived
    ? `It survives that${most ? `, as up to ${leverage(most)}` : ''}.`
    : `It does not survive that${most ? `; up to ${leverage(most)} would` : ''}.`;
  return `In the worst ${known.windowDays} of ${daysOf(known.sampleCount)} the LTV rose by ${percent(known.worstLtvRisePct)}. ${end}`;
}

/** One group: a mark per row with its end in words; the numbers on request. */
function groupOf(name: string, rows: readonly Row[]): HTMLElement {
  const marks = rows.map((row) => el('i', { 'data-ends': row.endsBy ?? 'UNKNOWN' }));
  const head = el('tr', {}, ...COLUMNS.map((column) => el('th', { scope: 'col' }, column)));
  const body = rows.map((row) =>
    el(
      'tr',
      {},
      el('th', { scope: 'row' }, changeOf(row)),
      ...[ltv(row.ltvPct), ltv(row.headroomPct), usd(row.equityUsd), percent(row.netApyPct), endOf(row)].map((text) =>
        el('td', {}, text),
      ),
    ),
  );
  return el(
    'details',
    {},
    el(
      'summary',
      {},
      el('span', { class: 'group' }, name),
      el('span', { class: 'marks', 'aria-hidden': 'true' }, ...marks),
      el('span', {}, verdictOf(rows)),
    ),
    el(
      'div',
      { class: 'scroll', role: 'region', tabindex: '0', 'aria-label': name },
      el('table', { class: 'numbers' }, el('thead', {}, head), el('tbody', {}, ...body)),
    ),
  );
}

/** Which change ends the deposit first, in words. Rows of a group get worse away from no change. */
function verdictOf(rows: readonly Row[]): string {
  const ends = (wanted: Row['endsBy']) => rows.filter(({ endsBy }) => endsBy === wanted);
  const mildest = (found: readonly Row[]) =>
    [...found].sort((a, b) => Math.abs(Number(a.changePct ?? 1e9)) - Math.abs(Number(b.changePct ?? 1e9)))[0];
  const liquidated = mildest(ends('LIQUIDATION'));
  if (liquidated) return `liquidated from ${changeOf(liquidated)} on`;
  const stuck = mildest(ends('NO_EXIT'));
  if (stuck)
    return stuck.scenario === 'NO_EXIT' ? 'no way out without a buyer' : `no way out from ${changeOf(stuck)} on`;
  const carried = mildest(ends('CARRY'));
  if (carried) return `liquidated by ${endOf(carried)} at ${changeOf(carried)}`;
  return rows.some(({ endsBy }) => endsBy === undefined) ? 'not known' : 'survives all of these';
}

function changeOf({ scenario, changePct }: Row): string {
  const change = changePct === undefined || changePct === null ? undefined : changeText(changePct);
  return [NAMES[scenario], change].filter((part) => part !== undefined).join(', ');
}

function endOf({ endsBy, liquidationIn }: Row): string {
  if (endsBy === 'CARRY')
    return liquidationIn?.days ? `interest in ${whole(Number(liquidationIn.days))} days` : 'interest';
  if (endsBy === undefined) return 'not known';
  return { LIQUIDATION: 'liquidation', NO_EXIT: 'no way out', NOTHING: 'nothing' }[endsBy];
}
