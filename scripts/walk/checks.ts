import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

/** Where the parts listen. */
export interface Places {
  readonly proxy: string;
  readonly warmers: readonly string[];
  readonly apis: readonly string[];
  readonly prometheus: string;
  readonly partnerKey: string;
  readonly opsKey: string;
}

export interface Check {
  readonly name: string;
  /** Returns the finding, for the report. @throws Error when the check fails */
  readonly run: (places: Places) => Promise<string>;
}

interface Health {
  readonly status: string;
  readonly degraded?: readonly string[];
  readonly jobs?: { readonly held: readonly string[]; readonly standby: readonly string[] };
}

/** The open of docs/partners.md. */
const OPEN = {
  strategyId: '0x90ef0c5a0dc7c4de4ad4585002d44e9d411d212d2f6258e94948beecf8b4c0d5',
  payToken: '0x9D39A5DE30e57443BfF2A8307A4256c8797A3497',
  amount: '1000',
  leverage: 5,
  userAddress: '0xa0Ee7A142d267C1f36714E4a8F75612F20a79720',
};

async function ask(url: string, expected: number, key?: string, body?: unknown): Promise<string> {
  const headers: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const sent =
    body === undefined
      ? { headers }
      : { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const response = await fetch(url, sent);
  const text = await response.text();
  if (response.status !== expected) throw new Error(`${url}: ${response.status} ${text.slice(0, 500)}`);
  return text;
}
const askJson = async <T>(url: string, key?: string, body?: unknown): Promise<T> =>
  JSON.parse(await ask(url, 200, key, body)) as T;
function assert(holds: boolean, found: string): string {
  if (!holds) throw new Error(`found ${found}`);
  return found;
}

export const HEALTHY: Check = {
  name: 'every process is ready and healthy',
  async run({ apis, warmers }) {
    for (const url of [...apis, ...warmers]) {
      await ask(`${url}/ready`, 200);
      const { status, degraded = [] } = await askJson<Health>(`${url}/health`);
      assert(status === 'ok', `${url} ${status}: ${degraded.join(' ')}`);
    }
    return `${apis.length} apis, ${warmers.length} warmers`;
  },
};

export const CHECKS: readonly Check[] = [
  {
    name: 'each job runs in one warmer, and the other one stands by',
    async run({ warmers }) {
      const jobs = (await Promise.all(warmers.map((url) => askJson<Health>(`${url}/health`)))).map((one) => one.jobs);
      const held = jobs.flatMap((one) => one?.held ?? []).sort();
      const standby = jobs.flatMap((one) => one?.standby ?? []).sort();
      const found = `${held.length} run, ${standby.length} stand by`;
      return assert(held.length > 5 && new Set(held).size === held.length && `${held}` === `${standby}`, found);
    },
  },
  {
    name: 'a read through the proxy',
    async run({ proxy }) {
      const { data } = await askJson<{ readonly data: { readonly strategies: { readonly totalCount: number } } }>(
        `${proxy}/graphql`,
        undefined,
        { query: '{ strategies { totalCount } }' },
      );
      return assert(data.strategies.totalCount > 5, `${data.strategies.totalCount} strategies`);
    },
  },
  {
    name: 'a build with a key, and a refusal without',
    async run({ proxy, partnerKey }) {
      const url = `${proxy}/v1/partner/leverage/build`;
      await ask(url, 401, undefined, OPEN);
      const { tx } = await askJson<{ readonly tx: { readonly to: string; readonly data: string } }>(
        url,
        partnerKey,
        OPEN,
      );
      return assert(tx.data.length > 100, `a transaction to ${tx.to}`);
    },
  },
  {
    name: 'the ops page, and its data with an ops key only',
    async run({ proxy, partnerKey, opsKey }) {
      const page = await ask(`${proxy}/ops`, 200);
      assert(page.includes('id="sign-in"'), 'a page without the form for the key');
      const url = `${proxy}/v1/ops/portfolios?chainId=1`;
      await ask(url, 401, partnerKey);
      const { users } = await askJson<{ readonly users: readonly unknown[] }>(url, opsKey);
      return assert(users.length > 0, `${users.length} wallets`);
    },
  },
];

interface Targets {
  readonly data: { readonly activeTargets: readonly { readonly health: string; readonly lastError: string }[] };
}
interface Rule {
  readonly name: string;
  readonly query: string;
  readonly health: string;
  readonly state: string;
}
interface Rules {
  readonly data: {
    readonly groups: readonly {
      readonly rules: readonly Rule[];
    }[];
  };
}

/** Whether a condition may hold in a healthy start: it looks back on some minutes, or at how busy this machine is. */
const mayHold = ({ query }: Rule): boolean => /\[\d+[mh]\]|spiral_event_loop_delay_seconds/.test(query);

/** Check that Prometheus has read each process and evaluated each rule, and that no condition of an alarm holds. This takes scrapes and evaluations. */
export async function assertObserved({ prometheus }: Places): Promise<void> {
  const { data: targets } = await askJson<Targets>(`${prometheus}/api/v1/targets`);
  const { data: rules } = await askJson<Rules>(`${prometheus}/api/v1/rules`);
  const isUp = targets.activeTargets.length > 0 && targets.activeTargets.every(({ health }) => health === 'up');
  const isEvaluated = rules.groups.every((group) => group.rules.every(({ health }) => health !== 'unknown'));
  const on = rules.groups.flatMap((group) => group.rules).filter((rule) => rule.state !== 'inactive' && !mayHold(rule));
  assert(on.length === 0, `conditions that hold: ${on.map(({ name }) => name).join(', ')}`);
  assert(isUp && isEvaluated, `targets ${JSON.stringify(targets.activeTargets.map(({ lastError }) => lastError))}`);
}

export const OBSERVED: Check = {
  name: 'Prometheus reads every process, has every alarm, and none of them is on',
  async run({ prometheus, apis, warmers }) {
    const { data: targets } = await askJson<Targets>(`${prometheus}/api/v1/targets`);
    const up = targets.activeTargets.filter(({ health }) => health === 'up').length;
    assert(up === apis.length + warmers.length, `${up} targets: ${JSON.stringify(targets.activeTargets)}`);
    const { data } = await askJson<Rules>(`${prometheus}/api/v1/rules`);
    const rules = data.groups.flatMap((group) => group.rules);
    const file = parse(readFileSync('ops/alerts.yml', 'utf8')) as {
      readonly groups: readonly { readonly rules: readonly { readonly alert: string }[] }[];
    };
    const alarms = file.groups.flatMap((group) => group.rules.map(({ alert }) => alert));
    const wrong = rules.filter(({ health, state }) => health !== 'ok' || state === 'firing');
    assert(wrong.length === 0, JSON.stringify(wrong));
    assert(`${rules.map(({ name }) => name)}` === `${alarms}`, `${rules.length} rules of ${alarms.length}`);
    const pending = rules.filter(({ state }) => state === 'pending').map(({ name }) => name);
    return `${up} processes, ${rules.length} alarms; conditions that hold now: ${pending.join(', ') || 'none'}`;
  },
};
