import { describe, expect, it } from 'vitest';
import { judgeClocks } from '../../doctor/checks/clocks.ts';
import { checkSettings } from '../../doctor/checks/settings.ts';
import { clockSampleOf } from '../../doctor/core/clock-samples.ts';
import { describeQuota, quotaOf } from '../../doctor/core/quota.ts';
import { createReport } from '../../doctor/core/report.ts';
import { runChecks } from '../../doctor/core/run.ts';
import { createRedact, safeText } from '../../doctor/core/safe-text.ts';
import { secretsIn } from '../../doctor/core/secrets.ts';
import { renderTable } from '../../doctor/core/table.ts';
import { linesOf } from '../../doctor/core/types.ts';
import { nearestName } from '../../src/shared/input/nearest-name.ts';
import { systemTimers } from '../../src/shared/timers.ts';
import { withoutUndefined } from '../../src/shared/without-undefined.ts';
import { complaints } from './world.ts';

const GOOD = {
  RPC_URL_1: 'http://127.0.0.1:8545',
  RPC_URL_4663: 'http://127.0.0.1:8546',
  DATABASE_URL: 'postgres://gateway:pw@127.0.0.1/gateway',
};
const about = (raw: Readonly<Record<string, string>>) => {
  const { lines } = checkSettings(raw);
  return lines.filter(({ status }) => status !== 'ok').map((line) => `${line.status} ${line.subject} ${line.todo}`);
};

describe('checkSettings', () => {
  it('default: accepts valid settings beside other variables of a shell', () => {
    const shell = {
      PATH: '/bin',
      HOME: '/root',
      HOSTNAME: 'h',
      NODE_PATH: '/x',
      npm_config_rate_limit: '1',
      LANG: 'C',
    };
    expect(about({ ...GOOD, ...shell })).toEqual([]);
  });

  it.each([
    ['KEY_PEPER', 'KEY_PEPPER'],
    ['RPC_URL1', 'RPC_URL_1'],
    ['DATABASE-URL', 'DATABASE_URL'],
    ['log_level', 'LOG_LEVEL'],
    ['CORS_ORIGIN', 'CORS_ORIGINS'],
    ['REDSI_URL', 'REDIS_URL'],
  ])('behavior: suggests for %s the setting %s', (name, meant) => {
    expect(about({ ...GOOD, [name]: 'x' })).toEqual([
      `warning ${name} Rename it to ${meant} if you meant that, otherwise remove it.`,
    ]);
    expect(nearestName(name, [meant, 'PORT'])).toBe(meant);
  });

  it('behavior: reports an unknown name with a known prefix without a suggestion', () => {
    expect(about({ ...GOOD, REFRESH_EVERYTHING_ALWAYS: '1' })).toEqual([
      expect.stringMatching(/^warning REFRESH_EVERYTHING_ALWAYS Remove it/),
    ]);
  });

  it('behavior: reports every invalid value without secrets, and checks the rest', () => {
    const { lines, env } = checkSettings({
      ...GOOD,
      PORT: 'many',
      REDIS_URL: 'http://user:hunter22@host',
      ROLE: 'api',
    });
    const wrong = lines.filter(({ status }) => status === 'failure');
    expect(wrong.map(({ subject }) => subject).sort()).toEqual(['PORT', 'REDIS_URL']);
    expect(JSON.stringify(lines)).not.toContain('hunter22');
    expect(env).toMatchObject({ PORT: 8787, ROLE: 'api', DATABASE_URL: GOOD.DATABASE_URL });
  });

  it('behavior: names required settings of production, of a role and of a remote database', () => {
    expect(about({ ...GOOD, NODE_ENV: 'production' })).toEqual([expect.stringMatching(/^failure KEY_PEPPER/)]);
    expect(about({ ...GOOD, DATABASE_URL: 'postgres://a:b@db.example/x' })).toEqual([
      expect.stringMatching(/^warning KEY_PEPPER/),
    ]);
    expect(about({ ...GOOD, ROLE: 'warmer' })).toEqual([expect.stringMatching(/^failure ROLE/)]);
    expect(about({})).toEqual([
      expect.stringMatching(/^failure RPC_URL_1/),
      expect.stringMatching(/^failure RPC_URL_4663/),
      expect.stringMatching(/^failure DATABASE_URL/),
      expect.stringMatching(/^warning KEY_PEPPER/),
    ]);
  });
});

describe('judgeClocks', () => {
  const requested = { sentMs: 10_000_000, answeredMs: 10_000_200 };
  const sample = (source: string, aheadMs: number) =>
    clockSampleOf(source, { atMs: 10_000_100 - aheadMs, resolutionMs: 0 }, requested);
  const words = (...samples: ReturnType<typeof sample>[]) =>
    judgeClocks(samples).map(({ status, subject, found }) => `${status} ${subject}: ${found}`);

  it('default: clocks that agree, a coarse one too', () => {
    const coarse = clockSampleOf('web', { atMs: 9_999_000, resolutionMs: 1_000 }, requested);
    expect(words(sample('Postgres', 40), sample('Redis', -900), coarse)).toEqual([
      'ok this machine: agrees with 3 of 3 others',
    ]);
  });

  it('behavior: names a wrong clock with the effect of its deviation', () => {
    expect(words(sample('Postgres', 0), sample('Redis', -10_000), sample('a', 1))).toEqual([
      'ok this machine: agrees with 2 of 3 others',
      'warning Redis: 10.0 s ahead of our clock',
    ]);
    expect(words(sample('Postgres', 300_000), sample('a', 0), sample('b', 1)).at(-1)).toMatch(
      /^failure Postgres: 300.0 s behind our clock/,
    );
  });

  it('behavior: blames the own clock when most others differ in one direction', () => {
    expect(words(sample('Postgres', 300_000), sample('Redis', 299_000), sample('a', 301_000))).toEqual([
      expect.stringMatching(/^failure this machine: 300.0 s ahead of 3 of 3 others/),
    ]);
  });

  it('behavior: reports a missing comparison', () => {
    expect(words()).toEqual([expect.stringMatching(/^warning this machine/)]);
  });
});

describe('quotaOf', () => {
  const exchange = (status: number, headers: Record<string, string>) => ({
    method: 'GET',
    url: 'http://127.0.0.1',
    requestBody: undefined,
    sentMs: 0,
    tookMs: 1,
    answer: { status, headers: new Headers(headers), headMs: 0 },
  });
  const left = (remaining: string, limit?: string) =>
    exchange(200, withoutUndefined({ 'x-ratelimit-remaining': remaining, 'x-ratelimit-limit': limit }));

  it.each([
    ['ok', 'no quota reported', [exchange(200, {})]],
    ['ok', 'no quota reported', [left('many', 'more')]],
    ['ok', '10 of 100 requests left', [left('90', '100'), left('10', '100')]],
    ['warning', '9 of 100 requests left', [left('90', '100'), left('9', '100')]],
    ['warning', '0 requests left', [left('0')]],
    [
      'ok',
      '40 of 60 requests left',
      [exchange(200, { 'ratelimit-remaining': '40', 'ratelimit-limit': '60, 60;w=60' })],
    ],
    [
      'warning',
      'it refuses too many requests (429), retry after 30',
      [left('90', '100'), exchange(429, { 'retry-after': '30' })],
    ],
  ] as const)('behavior: %s: %s', (status, found, exchanges) => {
    const line = describeQuota(linesOf('providers', 'X_URL'), quotaOf(exchanges), 'ask less');
    expect([line.status, line.found]).toEqual([status, found]);
  });
});

describe('printed text', () => {
  it('behavior: an answer cannot move the cursor, colour, reorder or fill pages', () => {
    const hostile = `\u001b[2J\u001b[1;1Hok\r\nFAKE \u009b31m\u202egnp.exe\u200b\u2028${'x'.repeat(5_000)}`;
    const shown = safeText(hostile);
    expect(shown).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    expect(shown).toMatch(/^\\u\{1b\}\[2J/);
    expect(shown.length).toBeLessThan(500);
    const report = createReport([linesOf('catalog', hostile).failure('symbol', hostile, 'look')], {
      startedMs: 0,
      tookMs: 1,
      redact: (text) => text,
    });
    expect(renderTable(report).replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    expect(
      renderTable(report)
        .split('\n')
        .filter((line) => line.includes('FAKE')),
    ).toHaveLength(1);
  });

  it('behavior: shows no secret of a setting in any form', () => {
    const raw = {
      RPC_URL_1: 'https://user-key-77:p%40ss@node.example/v2/abcdef0123456789?apikey=query-key-5',
      DATABASE_URL: 'postgres://gateway:hunter22@db.example/gateway',
      COINGECKO_API_KEY: 'CG-secret',
      KEY_PEPPER: 'sixteen-characters',
      LOG_LEVEL: 'warn',
    };
    const redact = createRedact(secretsIn(raw));
    for (const secret of [
      'user-key-77',
      'p@ss',
      'p%40ss',
      'abcdef0123456789',
      'query-key-5',
      'hunter22',
      'CG-secret',
      'sixteen-characters',
      Buffer.from('CG-secret').toString('base64'),
    ]) {
      expect(redact(`x ${secret} y`)).toBe('x [secret] y');
    }
    expect(redact('gateway warn db.example node.example')).toBe('gateway warn db.example node.example');
  });

  it.each([
    [['ok'], 0, 'ok'],
    [['ok', 'warning', 'not_applicable'], 2, 'warning'],
    [['warning', 'failure'], 1, 'failure'],
  ] as const)('behavior: %j ends with exit code %i', (statuses, exitCode, status) => {
    const make = linesOf('nodes', 'RPC_URL_1 #1');
    const by = {
      ok: make.ok('a', 'b'),
      not_applicable: make.none('a', 'b'),
      warning: make.warning('a', 'b', 'c'),
      failure: make.failure('a', 'b', 'c'),
    };
    const report = createReport(
      statuses.map((one) => by[one]),
      { startedMs: 0, tookMs: 0, redact: (text) => text },
    );
    expect(report).toMatchObject({ exitCode, status });
    for (const { status: state, todo } of report.lines)
      expect(todo === null).toBe(state === 'ok' || state === 'not_applicable');
  });
});

describe('runChecks', () => {
  it('behavior: a throwing or hanging check becomes a line, and the others run', async () => {
    const due: (() => void)[] = [];
    const timers = {
      ...systemTimers,
      setTimeout: (callback: () => void) => due.push(callback),
      clearTimeout: () => {},
    };
    const ended = runChecks(
      [
        { area: 'postgres', subject: 'a', limitMs: 1_000, run: () => Promise.reject(new Error('boom')) },
        { area: 'redis', subject: 'b', limitMs: 1_000, run: () => new Promise(() => {}) },
        { area: 'nodes', subject: 'c', limitMs: 1_000, run: async () => [linesOf('nodes', 'c').ok('x', 'y')] },
      ],
      timers,
    );
    for (const callback of due) callback();
    const lines = await ended;
    const report = createReport(lines, { startedMs: 0, tookMs: 0, redact: (text) => text });
    expect(complaints(report)).toEqual(expect.arrayContaining(['failure redis b [time_limit]']));
    expect(report.lines.map(({ area }) => area)).toEqual(['postgres', 'redis', 'nodes']);
  });
});
