import type { FailureReason } from '../../src/domain/facts.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import { isFromFuture } from '../../src/shared/observed.ts';
import type { RecordedExchange } from '../core/recorded-fetch.ts';
import type { Line, LineMaker } from '../core/types.ts';
import { repeatedRows, timesIn } from './rows.ts';
import type { CheckOutcome, Measure, ProviderSurface } from './types.ts';

/** Next step of an operator for each failure reason. */
const NEXT_STEP: Readonly<Record<FailureReason, string>> = {
  unreachable: 'Correct the address, and check that this machine can reach it (DNS, proxy, firewall).',
  timeout: 'Run the check again; if it persists, raise UPSTREAM_TIMEOUT_MS or ask the provider.',
  throttled:
    'Wait a minute, then run the check again: the doctor itself has sent as many requests as the plan permits.',
  rate_limited: 'Wait, then run the check again; if it persists, get a key or a larger plan.',
  overloaded: 'Run the check again in a minute: it refuses requests while it is overloaded.',
  price_moved: 'Run the check again: the price moved between a quote and its build.',
  rejected:
    'It refuses our request: correct its key (the setting … _API_KEY), the address, or the parameters and ids that the catalog and the settings give.',
  server_error: 'Run the check again; if it persists, report it to the provider.',
  malformed:
    'Its answers have changed, or a web page answers instead: compare with the schema in src/upstreams, and record one with --record.',
  missing: 'It no longer knows this item: correct the ids in the catalog, or remove the source.',
  implausible:
    'It returns impossible values: compare with its own site before they are shown, and record one with --record.',
  reverted: 'Compare the contract with the deployed one.',
  not_configured: 'The catalog has no id for it: add one, or remove the source.',
};
const PASSING: readonly FailureReason[] = ['rate_limited', 'throttled', 'overloaded', 'price_moved'];
const NAMED = 4;

export function failed(make: LineMaker, reason: FailureReason, to = ''): Line {
  const found = `no usable answer${to} (${reason})`;
  return PASSING.includes(reason)
    ? make.warning('answer', found, NEXT_STEP[reason])
    : make.failure('answer', found, NEXT_STEP[reason]);
}

export interface Answered {
  readonly surface: ProviderSurface;
  readonly outcome: CheckOutcome;
  /** Rows that the adapter left out. */
  readonly dropped: number;
  readonly exchanges: readonly RecordedExchange[];
  /** Display name of an item. */
  readonly nameOf: (key: string) => string;
}

/** Judge the adapter's result item by item. */
export function judgeItems(
  make: LineMaker,
  { surface, outcome, dropped, exchanges, nameOf }: Answered,
): readonly Line[] {
  const configured = [...outcome].filter(([, result]) => result.ok || result.reason !== 'not_configured');
  const bad = configured.flatMap(([key, result]) => (result.ok ? [] : [{ key, reason: result.reason }]));
  return [
    unanswered(make, bad, configured.length) ?? make.ok('answer', 'answers in the expected form'),
    itemsOf(make, bad, configured.length, surface.mayLack ?? 0, nameOf),
    ...rowsOf(make, dropped, exchanges),
  ];
}

interface Bad {
  readonly key: string;
  readonly reason: FailureReason;
}

/** Reasons that concern the request, not the value. */
const NO_ANSWER: readonly FailureReason[] = [
  'unreachable',
  'timeout',
  'rate_limited',
  'throttled',
  'overloaded',
  'price_moved',
  'rejected',
  'server_error',
];

function unanswered(make: LineMaker, bad: readonly Bad[], count: number): Line | undefined {
  const silent = bad.filter(({ reason }) => NO_ANSWER.includes(reason));
  const [first] = silent;
  if (first === undefined) return undefined;
  return failed(make, first.reason, silent.length === count ? '' : ` to ${silent.length} of ${count} requests`);
}

function itemsOf(
  make: LineMaker,
  bad: readonly Bad[],
  count: number,
  mayLack: number,
  nameOf: Answered['nameOf'],
): Line {
  if (bad.length === 0)
    return make.ok('items', count === 1 ? 'the item has a value' : `all ${count} items have a value`);
  const named = bad.slice(0, NAMED).map(({ key, reason }) => `${nameOf(key)} ${reason}`);
  const list = `${named.join(', ')}${bad.length > NAMED ? ', …' : ''}`;
  if (bad.length <= count * mayLack)
    return make.ok('items', `${count - bad.length} of ${count} items have a value (${list})`);
  const found = `${bad.length} of ${count} items have no usable value (${list})`;
  const todo = NEXT_STEP[bad[0]?.reason ?? 'missing'];
  return bad.length === count ? make.failure('items', found, todo) : make.warning('items', found, todo);
}

function rowsOf(make: LineMaker, dropped: number, exchanges: readonly RecordedExchange[]): readonly Line[] {
  const repeated = exchanges.reduce((sum, { answer }) => sum + repeatedRows(parsed(answer?.body)), 0);
  if (repeated > 0) {
    const todo = 'Each counts once here. Report it to the provider; record one with --record.';
    return [make.warning('rows', `${repeated} rows are duplicates`, todo)];
  }
  if (dropped === 0) return [];
  return [make.warning('rows', `${dropped} unusable rows were dropped`, NEXT_STEP.malformed)];
}

/** Judge the observation times of rows. */
export function judgeDates(
  make: LineMaker,
  { timeFields, maxAgeSec }: ProviderSurface,
  exchanges: readonly RecordedExchange[],
  nowMs: number,
): readonly Line[] {
  if (timeFields === null) return [];
  const times = exchanges.flatMap(({ answer }) => timesIn(parsed(answer?.body), timeFields));
  if (times.length === 0) return [];
  const ahead = times.filter((atMs) => isFromFuture(atMs, nowMs)).length;
  if (ahead > 0) {
    return [
      make.warning(
        'dates',
        `${ahead} of ${times.length} rows are from the future`,
        'They are dropped here. Check the clock of this machine, then report it to the provider.',
      ),
    ];
  }
  const newestMs = times.reduce((newest, atMs) => Math.max(newest, atMs), 0);
  const ageSec = Math.round((nowMs - newestMs) / 1_000);
  return [
    ageSec > maxAgeSec
      ? make.warning(
          'dates',
          `the newest row is ${formatAge(ageSec)} old`,
          'The provider has stopped updating it: check its own site, and change the source in the catalog if it persists.',
        )
      : make.ok('dates', `newest row ${formatAge(ageSec)} old`),
  ];
}

function formatAge(sec: number): string {
  if (sec < 0) return '0 s';
  return sec > 2 * 86_400
    ? `${Math.round(sec / 86_400)} days`
    : sec > 7_200
      ? `${Math.round(sec / 3_600)} h`
      : `${sec} s`;
}

/** In percent a year: the median yield of dollars and staked coins is within this range, even if single ones are not. */
const [MIN_RATE, MAX_RATE] = [new Decimal('0.2'), new Decimal(100)];

/**
 * Judge the unit of rates by their median: a fraction taken for percent is a hundredth of it, a percentage taken for a
 * fraction a hundredfold.
 */
export function judgeRates(make: LineMaker, measures: readonly Measure[]): readonly Line[] {
  const rates = measures.flatMap((measure) => (measure.kind === 'rate' && !measure.pct.isZero() ? [measure.pct] : []));
  if (rates.length === 0) return [];
  const middle = rates.sort((a, b) => a.comparedTo(b) ?? 0)[Math.floor(rates.length / 2)] ?? MIN_RATE;
  const formatted = `rates are around ${middle.toPrecision(3)} % a year`;
  return middle.abs().lt(MIN_RATE) || middle.gt(MAX_RATE)
    ? [
        make.failure(
          'units',
          `${formatted}, which is not a yield: check whether fractions and percent are confused`,
          'Compare with the site of the provider; if its unit has changed, its adapter in src/upstreams has to follow.',
        ),
      ]
    : [make.ok('units', formatted)];
}

function parsed(body: string | undefined): unknown {
  if (body === undefined) return undefined;
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
