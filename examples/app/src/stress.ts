import type { Client, Strategy } from './client.ts';
import { el } from './dom.ts';
import { percent, usd } from './format.ts';

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

const COLUMNS = ['Change', 'LTV', 'Points left', 'Equity', 'Net APY', 'Ended by'];

/** Show the results of the stress scenarios for a deposit into a strategy at its default leverage. */
export async function stressOf(client: Client, { id }: Strategy, signal: AbortSignal): Promise<HTMLElement> {
  const { stress } = await client.strategyStress({ id }, { signal });
  const drop = stress.dropToLiquidationPct;
  const first = drop === null ? 'It has no debt to be liquidated for.' : `Liquidated after a price fall of ${drop} %.`;
  return el(
    'div',
    { class: 'stress' },
    el('h2', {}, 'Bad days'),
    el('p', {}, `A deposit of 10,000 USD at the default leverage. ${first} ${recordOf(stress)}`),
    ...GROUPS.map(({ name, scenarios }) =>
      groupOf(
        name,
        stress.rows.filter(({ scenario }) => scenarios.includes(scenario)),
      ),
    ),
  );
}

/** The longest window of the record that is known, in a sentence. */
function recordOf({ recordedMoves }: Table): string {
  const known = recordedMoves.filter(({ survived }) => survived !== undefined).at(-1);
  const [shortest] = recordedMoves;
  if (known?.worstLtvRisePct === undefined)
    return `The past is not known yet: ${shortest?.sampleCount ?? 0} hours are recorded.`;
  const most = known.maxLeverage === undefined || known.maxLeverage === null ? '' : `, as up to ${known.maxLeverage}×`;
  const ended = known.survived ? `it would survive${most}` : `it would not survive${most.replace('as', 'only')}`;
  return `The worst ${known.windowDays} days of ${known.sampleCount} recorded hours raised an LTV by ${known.worstLtvRisePct} %, which ${ended}.`;
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
      ...[row.ltvPct, row.headroomPct].map((value) => el('td', {}, value ?? '–')),
      el('td', {}, usd(row.equityUsd) ?? '–'),
      el('td', {}, percent(row.netApyPct) ?? '–'),
      el('td', {}, endOf(row)),
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
  if (liquidated) return `liquidation from ${changeOf(liquidated)} on`;
  const stuck = mildest(ends('NO_EXIT'));
  if (stuck) return stuck.scenario === 'NO_EXIT' ? 'no exit without a buyer' : `no exit from ${changeOf(stuck)} on`;
  const carried = mildest(ends('CARRY'));
  if (carried) return `${endOf(carried)} at ${changeOf(carried)}`;
  return rows.some(({ endsBy }) => endsBy === undefined) ? 'not known' : 'nothing ends it';
}

function changeOf({ scenario, changePct }: Row): string {
  const change = changePct === undefined || changePct === null ? undefined : `${signed(changePct)} %`;
  return [NAMES[scenario], change].filter((part) => part !== undefined).join(', ');
}

/** `-10.00` as `−10`, `2.50` as `+2.5`. */
function signed(value: string): string {
  const number = Number(value);
  return number < 0 ? `−${-number}` : `+${number}`;
}

function endOf({ endsBy, liquidationIn }: Row): string {
  if (endsBy === 'CARRY')
    return liquidationIn?.days ? `carry in ${Math.round(Number(liquidationIn.days))} days` : 'carry';
  if (endsBy === undefined) return 'not known';
  return { LIQUIDATION: 'liquidation', NO_EXIT: 'no exit', NOTHING: 'nothing' }[endsBy];
}
