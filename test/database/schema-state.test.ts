import { describe, expect, test } from 'vitest';
import { runMigrateCli } from '../../src/database/cli.ts';
import { grantsFor } from '../../src/database/grants.ts';
import { DatabaseTooNewError, schemaStateOf } from '../../src/database/schema-state.ts';

describe('migrations', () => {
  const known = ['0001_a', '0002_b', '0003_c'].map((name) => ({ name, up: [] }));
  const applied = (...rows: readonly (readonly [string, string | null])[]) =>
    rows.map(([name, requires]) => ({ name, requires }));

  test('behavior: the pending migrations in the order of application, and those of newer versions', () => {
    expect(schemaStateOf([], known)).toEqual({ pending: ['0001_a', '0002_b', '0003_c'], newer: [] });
    expect(schemaStateOf(applied(['0002_b', null]), known)).toEqual({ pending: ['0001_a', '0003_c'], newer: [] });
    const later = applied(['0001_a', null], ['0002_b', null], ['0003_c', '9'], ['0004_d', '0003_c'], ['0005_e', null]);
    expect(schemaStateOf(later, known)).toEqual({ pending: [], newer: ['0004_d', '0005_e'] });
  });

  test('error: DatabaseTooNewError names the latest version that is needed', () => {
    const later = applied(['0004_d', '0004_x'], ['0005_e', '0004_d'], ['0006_f', '0001_a']);
    expect(() => schemaStateOf(later, known)).toThrow(DatabaseTooNewError);
    expect(() => schemaStateOf(later, known)).toThrow(
      '0004_d, 0005_e, 0006_f, which need a version that knows 0004_d.',
    );
  });

  test('behavior: the rights of a role are those on each table', () => {
    const lines = grantsFor('service').trim().split('\n');
    expect(lines.toSorted()).toEqual([
      'GRANT SELECT ON gateway_migrations TO "service";',
      'GRANT SELECT ON position_registrations TO "service";',
      'GRANT SELECT, INSERT, UPDATE ON alert_jobs TO "service";',
      'GRANT SELECT, INSERT, UPDATE ON position_proxies TO "service";',
      ...[
        'alert_deliveries',
        'alerts',
        'api_keys',
        'apy_samples',
        'drift_history',
        'drift_sightings',
        'incentive_campaigns',
        'indexer_blocks',
        'indexer_cursor',
        'key_usage',
        'market_marks',
        'market_samples',
        'portfolio_samples',
        'position_events',
        'rate_samples',
        'tvl_samples',
      ].map((table) => `GRANT SELECT, INSERT, UPDATE, DELETE ON ${table} TO "service";`),
    ]);
  });

  test.each([
    [['--status'], 2, 'Pending: 0001_a, 0002_b.\nOf newer versions: none.\n'],
    [['--status'], 0, 'Pending: none.\nOf newer versions: 0009_n.\n'],
    [[], 0, 'Applied: 0001_a, 0002_b.\n'],
    [['--help'], 0, 'Apply the pending migrations'],
    [['-h', '--grants', 'x'], 0, 'GRANT SELECT'],
  ] as const)('behavior: the command %j ends with %s', async (argv, code, text) => {
    const pending = text.startsWith('Pending: none') ? [] : ['0001_a', '0002_b'];
    let [out, err] = ['', ''];
    const ended = await runMigrateCli(argv, {
      databaseUrl: () => 'postgres://somewhere',
      apply: async () => pending,
      inspect: async () => ({ pending, newer: pending.length === 0 ? ['0009_n'] : [] }),
      write: (more) => {
        out += more;
      },
      writeError: (more) => {
        err += more;
      },
    });
    expect([ended, err]).toEqual([code, '']);
    expect(out).toContain(text);
  });
});
