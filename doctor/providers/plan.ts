import { type Limits, WINDOW_MS, WINDOW_NAMES, type WindowName } from '../../src/upstreams/budget.ts';
import { readTold } from '../../src/upstreams/limit-headers.ts';
import { PLANS, type ProviderName } from '../../src/upstreams/limits.ts';
import type { RecordedExchange } from '../core/recorded-fetch.ts';
import type { Line, LineMaker } from '../core/types.ts';

/** A refresh of the service, as the check has just made it. */
export interface Refresh {
  readonly exchanges: readonly RecordedExchange[];
  readonly everySec: number;
}

export interface PlanInput {
  readonly provider: ProviderName;
  /** The limits that the service counts on before the provider has stated any. */
  readonly limits: Limits;
  /** The key, or the client id. */
  readonly hasKey: boolean;
  /** Whether they are those of UPSTREAM_LIMITS. */
  readonly isSet: boolean;
  readonly exchanges: readonly RecordedExchange[];
  readonly refreshes: readonly Refresh[];
}

const LONG_MS = WINDOW_MS.week;

/** Which tier is in force by the headers of the answers, and what the refreshes use of a week or a month. */
export function describePlan(make: LineMaker, input: PlanInput): readonly Line[] {
  return [tierOf(make, input), ...WINDOW_NAMES.flatMap((window) => forecastOf(make, window, input))];
}

function tierOf(make: LineMaker, { provider, limits, hasKey, isSet, exchanges }: PlanInput): Line {
  const { unit, isPublished } = PLANS[provider];
  const [shortest] = WINDOW_NAMES.filter((name) => limits[name] !== undefined);
  const stated = new Map(
    exchanges.flatMap(({ answer, sentMs }) =>
      (answer ? (readTold(answer.headers, sentMs)?.windows ?? []) : []).flatMap(({ window = shortest, limit }) =>
        window === undefined || limit === undefined ? [] : [[window, limit] as const],
      ),
    ),
  );
  const access = hasKey ? (provider === 'kyberswap' ? 'with this client id' : 'with a key') : 'without a key';
  const counted = listOf(Object.entries(limits) as [WindowName, number][], unit);
  if (stated.size === 0) {
    const source = isSet ? 'as set in UPSTREAM_LIMITS' : isPublished ? `its plan ${access}` : 'an estimate';
    return make.ok('tier', `its headers state no limit: ${counted} are counted on, ${source}`);
  }
  const found = `its headers permit ${listOf([...stated], unit)} ${access}`;
  const smaller = [...stated].some(([window, limit]) => limit < (limits[window] ?? limit));
  const larger = [...stated].some(([window, limit]) => limit > (limits[window] ?? limit));
  if (smaller) {
    return make.warning(
      'tier',
      `${found}, less than the ${counted} that were counted on`,
      isSet
        ? 'The service keeps to the headers. Check the key or the client id, or correct UPSTREAM_LIMITS.'
        : 'The service keeps to the headers. Check the key or the client id, or register one for a larger tier.',
    );
  }
  if (isSet) {
    return make.ok(
      'tier',
      larger ? `${found}; UPSTREAM_LIMITS keeps it to ${counted}` : `${found}, as set in UPSTREAM_LIMITS`,
    );
  }
  return make.ok('tier', larger ? `${found}: a larger tier than the public one` : `${found}: the public tier`);
}

function listOf(windows: readonly (readonly [WindowName, number])[], unit: string): string {
  return windows.map(([window, limit]) => `${limit} ${unit} per ${window === '10s' ? '10 s' : window}`).join(' and ');
}

/** A forecast from the cadence of the refreshes. */
function forecastOf(make: LineMaker, window: WindowName, { provider, limits, refreshes }: PlanInput): readonly Line[] {
  const limit = limits[window];
  const answered = refreshes.map(({ exchanges, everySec }) => ({ units: unitsOf(exchanges), everySec }));
  if (limit === undefined || WINDOW_MS[window] < LONG_MS || !answered.some(({ units }) => units > 0)) return [];
  const used = Math.ceil(
    answered.reduce((sum, { units, everySec }) => sum + (units * WINDOW_MS[window]) / 1_000 / everySec, 0),
  );
  const share = Math.round((100 * used) / limit);
  const found = `refreshes use ${used} of ${limit} ${PLANS[provider].unit} in a ${window} (${share} %)`;
  return used > limit
    ? [
        make.warning(
          'forecast',
          found,
          'Lengthen the REFRESH_… interval, or get a larger plan and name it in UPSTREAM_LIMITS.',
        ),
      ]
    : [make.ok('forecast', `${found}; the rest is for readers`)];
}

function unitsOf(exchanges: readonly RecordedExchange[]): number {
  return exchanges.reduce((sum, { answer, sentMs }) => {
    if (answer === undefined || answer.status >= 400) return sum;
    return sum + (readTold(answer.headers, sentMs)?.spent ?? 1);
  }, 0);
}
