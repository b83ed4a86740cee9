import { describe, expect, test } from 'vitest';
import { ConfigError, createConfig, needsLocalWorld, parseEnv, type WorldOverrides } from '../../src/config/config.ts';

const REAL = {
  RPC_URL_1: 'https://node.example/1',
  RPC_URL_4663: 'https://node.example/4663',
  DATABASE_URL: 'postgres://db.example/spiral',
};
const WORLD: WorldOverrides = { env: REAL, sampleKeys: new Map([['local-partner', { tier: 'partner' }]]) };

describe('parseEnv', () => {
  const env = parseEnv({});

  test('default: ports of the service and of the local world', () => {
    expect([env.HOST, env.PORT, env.DEVNET_PORT_1, env.DEVNET_PORT_4663]).toEqual(['127.0.0.1', 8787, 8545, 8546]);
  });

  test('default: refresh cadences and freshness budgets, in seconds', () => {
    const seconds = Object.entries(env).filter(([name]) => /^(REFRESH|BUDGET|READY)_/.test(name));
    expect(Object.fromEntries(seconds)).toEqual({
      REFRESH_LENDING_STATE_SEC: 120,
      REFRESH_BORROW_HISTORY_SEC: 1_800,
      REFRESH_YIELDMARKET_SEC: 1_800,
      REFRESH_ONCHAIN_APY_SEC: 600,
      REFRESH_SLOW_APY_SEC: 43_200,
      REFRESH_INCENTIVES_SEC: 1_800,
      REFRESH_PRICES_MIN_SEC: 60,
      REFRESH_PRICES_SEC: 300,
      REFRESH_EXIT_LIQUIDITY_SEC: 43_200,
      REFRESH_DEPLOYMENT_SEC: 300,
      REFRESH_POSITION_HISTORY_SEC: 15,
      REFRESH_TVL_SEC: 300,
      BUDGET_LENDING_STATE_SEC: 300,
      BUDGET_ORACLE_SEC: 900,
      BUDGET_ORACLE_FEED_SEC: 90_000,
      BUDGET_BORROW_HISTORY_SEC: 3_600,
      BUDGET_YIELDMARKET_SEC: 1_800,
      BUDGET_SLOW_APY_SEC: 43_200,
      BUDGET_DAILY_APY_SEC: 172_800,
      BUDGET_INCENTIVES_SEC: 3_600,
      BUDGET_PRICES_SEC: 900,
      BUDGET_EXIT_LIQUIDITY_SEC: 86_400,
      BUDGET_DEPLOYMENT_SEC: 900,
      BUDGET_TVL_SEC: 900,
      BUDGET_OPS_PORTFOLIOS_SEC: 60,
      READY_CEILING_SEC: 900,
    });
  });

  test('default: addresses of the real providers', () => {
    const providers = Object.entries(env).filter(([name]) => name.endsWith('_URL'));
    expect(Object.fromEntries(providers)).toEqual({
      PENDLE_URL: 'https://api-v2.pendle.finance/core',
      DEFILLAMA_YIELDS_URL: 'https://yields.llama.fi',
      DEFILLAMA_COINS_URL: 'https://coins.llama.fi',
      STABLEWATCH_URL: 'https://api.stablewatch.io/api',
      ROYCO_URL: 'https://vault.api.royco.org/api/v1',
      MERKL_URL: 'https://api.merkl.xyz/v4',
      COINGECKO_URL: 'https://api.coingecko.com/api/v3',
      GECKOTERMINAL_URL: 'https://api.geckoterminal.com/api/v2',
      KYBERSWAP_URL: 'https://aggregator-api.kyberswap.com',
      OPENOCEAN_URL: 'https://open-api-pro.openocean.finance',
      MORPHO_API_URL: 'https://api.morpho.org/graphql',
    });
  });

  test('default: listing rules', () => {
    expect([env.LISTING_MIN_DAYS_TO_MATURITY, env.LISTING_MIN_LIQUIDITY_USD]).toEqual([7, 1_000]);
  });

  test('behavior: an empty variable counts as not set', () => {
    expect(parseEnv({ PORT: '', RPC_URL_1: '', NODE_ENV: '' })).toEqual(env);
  });
});

describe('needsLocalWorld', () => {
  test('default: true for an empty environment, false with real chains', () => {
    expect(needsLocalWorld(parseEnv({}))).toBe(true);
    expect(needsLocalWorld(parseEnv(REAL))).toBe(false);
    expect(needsLocalWorld(parseEnv({ ...REAL, KEY_PEPPER: 'sixteen-characters', NODE_ENV: 'production' }))).toBe(
      false,
    );
    expect(() => needsLocalWorld(parseEnv({ ...REAL, NODE_ENV: 'production' }))).toThrow('set KEY_PEPPER as well');
  });

  test.each(['postgres://u:p@127.0.0.1:5432/x', 'postgres://localhost/x', 'postgres://u@[::1]:5432/x'])(
    'behavior: a local world may use a database on this machine: %s',
    (DATABASE_URL) => {
      expect(needsLocalWorld(parseEnv({ DATABASE_URL }))).toBe(true);
    },
  );

  test.each([
    { DATABASE_URL: 'postgres://db.example/x' },
    { DATABASE_URL: 'postgres://127.0.0.1.example/x' },
    { REDIS_URL: 'redis://redis.example' },
  ])('error: ConfigError for a local world with %o', (stores) => {
    expect(() => needsLocalWorld(parseEnv(stores))).toThrow(ConfigError);
  });
});

describe('createConfig', () => {
  test('behavior: only a local world has sample keys', () => {
    expect(createConfig({}, WORLD).sampleKeys.size).toBe(1);
    expect(createConfig(REAL).sampleKeys.size).toBe(0);
    expect(createConfig({ ...REAL, NODE_ENV: 'production' }).sampleKeys.size).toBe(0);
  });

  test('behavior: links lead to the example app of a local world, unless an app is configured', () => {
    expect(createConfig({}, WORLD).env.APP_URL).toBe('http://127.0.0.1:8787/app/#');
    expect(createConfig({ PORT: '9000' }, WORLD).env.APP_URL).toBe('http://127.0.0.1:9000/app/#');
    expect(createConfig({ APP_URL: 'https://app.example' }, WORLD).env.APP_URL).toBe('https://app.example');
    expect(createConfig({ PORT: '0' }, WORLD).env.APP_URL).toBeUndefined();
    expect(createConfig(REAL).env.APP_URL).toBeUndefined();
  });

  test('error: ConfigError for a local world in production', () => {
    expect(() => createConfig({ NODE_ENV: 'production' }, WORLD)).toThrow(ConfigError);
  });

  test.each(['api', 'warmer'])('error: ConfigError for ROLE=%s without Redis', (ROLE) => {
    expect(() => createConfig({ ...REAL, ROLE })).toThrow(ConfigError);
    expect(createConfig({ ...REAL, ROLE, REDIS_URL: 'redis://redis.example' }).env.ROLE).toBe(ROLE);
  });

  test('error: ConfigError for an overlay that cannot be read', () => {
    expect(() => createConfig({ ...REAL, CATALOG_OVERLAY: '/nowhere/overlay.json' })).toThrow(ConfigError);
  });
});

describe('an invalid setting', () => {
  const wrong: Readonly<Record<string, string>> = {
    NODE_ENV: 'prod-value',
    PORT: '70000',
    RPC_URL_1: 'ws://node.example/secret-path',
    RPC_TIMEOUT_MS: '5',
    DATABASE_URL: 'mysql://user:secret@db',
    REDIS_URL: 'http://:secret@redis',
    COINGECKO_URL: 'secret-url',
    FEE_RECEIVER: '0x12',
    GRAPHIQL: 'yes',
    CORS_ORIGINS: 'app.example/path',
    KEY_PEPPER: 'secret',
    KEY_GRACE_SEC: '-1',
    TRACE_SAMPLE_RATIO: '2',
    STOP_DELAY_SEC: '9',
  };
  test.each(Object.entries(wrong))(
    'error: ConfigError names %s, and its value unless it may be secret',
    (name, value) => {
      let message = '';
      try {
        parseEnv({ [name]: value });
      } catch (error) {
        expect(error).toBeInstanceOf(ConfigError);
        message = (error as Error).message;
      }
      expect(message).toContain(`${name}: `);
      expect(message.includes(value)).toBe(!value.includes('secret'));
    },
  );

  test('error: ConfigError names all of them at once', () => {
    expect.assertions(Object.keys(wrong).length);
    try {
      parseEnv(wrong);
    } catch (error) {
      for (const name of Object.keys(wrong)) expect((error as Error).message).toContain(`${name}: `);
    }
  });

  test('default: accepts origins in the form of browsers', () => {
    for (const CORS_ORIGINS of ['*', 'https://app.example', 'http://localhost:3000, http://[::1]:3000']) {
      expect(parseEnv({ CORS_ORIGINS }).CORS_ORIGINS).toBe(CORS_ORIGINS);
    }
  });
});
