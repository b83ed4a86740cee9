import { readFileSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Redis } from 'ioredis';
import pg from 'pg';
import { concat, createPublicClient, encodeFunctionData, type Hex, http, keccak256, numberToHex, pad } from 'viem';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { OWNER } from '../../devnet/seed/accounts.ts';
import { flashLeverageAbi } from '../../src/abi/flash-leverage.ts';
import { createCatalog, curatedChains } from '../../src/catalog/index.ts';
import type { Report } from '../../src/doctor/core/report.ts';
import { renderTable } from '../../src/doctor/core/table.ts';
import type { Area } from '../../src/doctor/core/types.ts';
import { freePort } from '../support/free-port.ts';
import { startPgBouncer } from '../support/process/pgbouncer.ts';
import { createTestDatabase } from '../support/process/postgres.ts';
import { startRedisCluster, startSentinels } from '../support/process/redis-topologies.ts';
import { type RpcProxy, startRpcProxy } from '../support/process/rpc-proxy.ts';
import { complaints, type DoctorWorld, type Settings, startDoctorWorld } from './world.ts';

let doctor: DoctorWorld;
let proxy: RpcProxy;
const snapshots = new Map<number, `0x${string}`>();
beforeAll(async () => {
  doctor = await startDoctorWorld();
  proxy = await startRpcProxy(doctor.world.chains.on(1).rpcUrl);
}, 120_000);
beforeEach(async () => {
  for (const chainId of [1, 4663]) {
    await doctor.world.chains.on(chainId).mine();
    snapshots.set(chainId, await doctor.world.chains.on(chainId).snapshot());
  }
});
afterEach(async () => {
  proxy.set({ kind: 'pass' });
  for (const [chainId, id] of snapshots) await doctor.world.chains.on(chainId).revert(id);
});
afterAll(async () => {
  await proxy?.stop();
  await doctor?.stop();
});

/** Complaints about one area. */
const of = (report: Report, area: Area) => complaints(report).filter((line) => line.split(' ')[1] === area);
const look = (settings: Settings, ...only: Area[]) => doctor.examine(settings, { only });
const examine = async (area: Area, settings: Settings = {}) => of(await look(settings, area), area);

async function onDatabase(url: string, ...statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

/** The content of a database without system objects: relations, types and functions by name, and every row. */
async function contentOf(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const own = "n.nspname not like 'pg_%' and n.nspname <> 'information_schema'";
    const { rows } = await client.query(`
      select 'relation' as kind, n.nspname || '.' || c.relname as name,
        case when c.relkind in ('r', 'p') then query_to_xml(format('select * from %s t order by t::text', c.oid::regclass), true, false, '')::text end as rows
      from pg_class c join pg_namespace n on n.oid = c.relnamespace where ${own}
      union all select 'function', p.oid::regprocedure::text, null from pg_proc p join pg_namespace n on n.oid = p.pronamespace where ${own}
      union all select 'schema', n.nspname, null from pg_namespace n where ${own}
      order by 1, 2`);
    return JSON.stringify(rows);
  } finally {
    await client.end();
  }
}

describe('Postgres', () => {
  const failure = (check: string) => `failure postgres DATABASE_URL [${check}]`;
  const warning = (check: string) => `warning postgres DATABASE_URL [${check}]`;

  it('behavior: no server, and a wrong password', async () => {
    const url = new URL(doctor.database.url);
    url.port = String(await freePort());
    expect(await examine('postgres', { DATABASE_URL: url.href })).toEqual([failure('answers')]);
    await onDatabase(
      inject('postgresUrl'),
      "create role doctor_reader login password 'right'",
      `grant connect on database ${new URL(doctor.database.url).pathname.slice(1)} to doctor_reader`,
    );
    const wrong = new URL(doctor.database.url);
    [wrong.username, wrong.password] = ['doctor_reader', 'wrong-password'];
    const report = await look({ DATABASE_URL: wrong.href }, 'postgres');
    expect(of(report, 'postgres')).toEqual([failure('answers')]);
    expect(JSON.stringify(report)).not.toContain('wrong-password');
  });

  it('behavior: names the missing rights of a role', async () => {
    const url = new URL(doctor.database.url);
    [url.username, url.password] = ['doctor_reader', 'right'];
    await onDatabase(
      doctor.database.url,
      'grant usage on schema public to doctor_reader',
      'grant select on gateway_migrations, rate_samples to doctor_reader',
    );
    const report = await look({ DATABASE_URL: url.href }, 'postgres');
    expect(of(report, 'postgres')).toEqual([failure('rights')]);
    const found = report.lines.find(({ check }) => check === 'rights')?.found;
    expect(found).toContain('INSERT, UPDATE, DELETE on rate_samples');
  });

  it('behavior: pending and unknown migrations, and a read-only database', async () => {
    const empty = await createTestDatabase();
    try {
      expect(await examine('postgres', { DATABASE_URL: empty.url })).toEqual([warning('migrations')]);
      await onDatabase(doctor.database.url, "insert into gateway_migrations (name) values ('9999-from-the-future')");
      const beside = await look({}, 'postgres');
      expect(of(beside, 'postgres')).toEqual([]);
      expect(beside.lines.find(({ check }) => check === 'migrations')?.found).toContain('9999-from-the-future');
      await onDatabase(doctor.database.url, "update gateway_migrations set requires = '9998' where name like '9999%'");
      expect(await examine('postgres')).toEqual([failure('migrations')]);
      await onDatabase(doctor.database.url, "delete from gateway_migrations where name like '9999%'");
      const name = new URL(empty.url).pathname.slice(1);
      await onDatabase(inject('postgresUrl'), `alter database ${name} set default_transaction_read_only = on`);
      expect(await examine('postgres', { DATABASE_URL: empty.url })).toContain(failure('writable'));
    } finally {
      await empty.drop();
    }
  });

  it('behavior: writes and creates nothing', async () => {
    const empty = await createTestDatabase();
    try {
      const before = await Promise.all([contentOf(doctor.database.url), contentOf(empty.url)]);
      expect(before[0]).toContain('gateway_migrations');
      for (const url of [doctor.database.url, empty.url]) await look({ DATABASE_URL: url }, 'postgres');
      expect(await Promise.all([contentOf(doctor.database.url), contentOf(empty.url)])).toEqual(before);
    } finally {
      await empty.drop();
    }
  });

  it.each([
    ['as installed', []],
    ['that ignores limits', ['ignore_startup_parameters = statement_timeout,idle_in_transaction_session_timeout']],
  ])('behavior: recognises PgBouncer in transaction mode %s, and finds no fault', async (_, settings) => {
    const pooler = await startPgBouncer(doctor.database.url, settings);
    try {
      const report = await look({ DATABASE_URL: pooler.url }, 'postgres');
      expect(of(report, 'postgres')).toEqual([]);
      expect(report.lines.find(({ check }) => check === 'pooler')?.found).toContain('transaction mode');
    } finally {
      await pooler.stop();
    }
  });
});

describe('Redis', () => {
  const named = (status: string, check: string) => `${status} redis REDIS_URL [${check}]`;
  let redis: Redis;
  beforeAll(() => {
    redis = new Redis(doctor.redis.url);
  });
  afterAll(() => redis.disconnect());

  it('behavior: no server, and a wrong password', async () => {
    expect(await examine('redis', { REDIS_URL: `redis://127.0.0.1:${await freePort()}` })).toEqual([
      named('failure', 'answers'),
    ]);
    const url = new URL(doctor.redis.url);
    const report = await look({ REDIS_URL: `redis://user:redis-password@${url.host}` }, 'redis');
    expect(of(report, 'redis')).toEqual([named('failure', 'answers')]);
    expect(JSON.stringify(report)).not.toContain('redis-password');
  });

  it('behavior: an evicting policy, a replica, and refused commands', async () => {
    await redis.config('SET', 'maxmemory-policy', 'allkeys-lru');
    expect(await examine('redis')).toEqual([named('warning', 'eviction')]);
    await redis.config('SET', 'maxmemory-policy', 'noeviction');
    await redis.call(
      'ACL',
      'SETUSER',
      'limited',
      'on',
      '>limited-secret',
      '~spiral:*',
      '&spiral:*',
      '+@all',
      '-eval',
      '-pexpire',
    );
    const url = new URL(doctor.redis.url);
    const report = await look({ REDIS_URL: `redis://limited:limited-secret@${url.host}` }, 'redis');
    expect(of(report, 'redis')).toEqual([named('failure', 'acl')]);
    expect(report.lines.find(({ check }) => check === 'acl')?.found).toBe('the user may not run EVAL, PEXPIRE');
    const [, line = ''] = /^ACL SETUSER (spiral on .*)$/m.exec(readFileSync('docs/operations.md', 'utf8')) ?? [];
    const forDoctor = ['+info', '+multi', '+discard', '+exists', '+unsubscribe'];
    await redis.call('ACL', 'SETUSER', ...line.replace('PASSWORD', 'doctor-secret').split(' '), ...forDoctor);
    expect(await examine('redis', { REDIS_URL: `redis://spiral:doctor-secret@${url.host}` })).toEqual([]);
    expect(
      await examine('redis', { REDIS_URL: `redis://spiral:doctor-secret@${url.host}`, REDIS_KEY_PREFIX: 'x' }),
    ).toEqual([named('failure', 'keys'), named('failure', 'acl')]);
    await redis.call('REPLICAOF', '127.0.0.1', String(await freePort()));
    expect(await examine('redis')).toContain(named('failure', 'writable'));
    await redis.call('REPLICAOF', 'NO', 'ONE');
  });

  it('behavior: sentinels and the primary that they name; a cluster and each of its primaries', async () => {
    const [sentinels, cluster] = await Promise.all([startSentinels(), startRedisCluster()]);
    try {
      expect(await examine('redis', { REDIS_URL: sentinels.url })).toEqual([named('warning', 'quorum')]);
      const lost = sentinels.url.replace('//', `//127.0.0.1:${await freePort()},`);
      expect(await examine('redis', { REDIS_URL: lost })).toEqual([
        named('warning', 'sentinels'),
        named('warning', 'quorum'),
      ]);
      const unknown = await look({ REDIS_URL: sentinels.url.replace('mymaster', 'another') }, 'redis');
      expect(of(unknown, 'redis')).toEqual([named('warning', 'sentinels'), named('failure', 'answers')]);
      expect(unknown.lines.find(({ check }) => check === 'answers')?.found).toContain('unknown_primary');
      expect(await examine('redis', { REDIS_URL: sentinels.sentinels[0]?.url })).toContain(named('failure', 'mode'));
      // Three primaries without replicas.
      expect(await examine('redis', { REDIS_URL: cluster.url })).toEqual([named('warning', 'cluster')]);
      expect(await examine('redis', { REDIS_URL: cluster.nodes[0]?.url })).toContain(named('failure', 'mode'));
    } finally {
      await Promise.all([sentinels.close(), cluster.close()]);
    }
  }, 30_000);

  it('behavior: writes nothing', async () => {
    await redis.flushall();
    await look({}, 'redis');
    expect(await redis.keys('*')).toEqual([]);
  });
});

describe('nodes', () => {
  const first = 'RPC_URL_1 #1';
  const with1 = (...urls: string[]): Settings => ({ RPC_URL_1: urls.join(',') });

  it('behavior: a node of another chain, one that refuses, and one with invalid answers', async () => {
    const { settings, world } = doctor;
    expect(await examine('nodes', { RPC_URL_1: settings.RPC_URL_4663 })).toEqual([`failure nodes ${first} [chain_id]`]);
    proxy.set({ kind: 'status', status: 429 });
    expect(await examine('nodes', with1(world.chains.on(1).rpcUrl, proxy.url))).toEqual([
      'failure nodes RPC_URL_1 #2 [answers]',
      'warning nodes RPC_URL_1 #2 [quota]',
    ]);
    proxy.set({ kind: 'hang' });
    expect(await examine('nodes', { ...with1(proxy.url), RPC_TIMEOUT_MS: '300' })).toEqual([
      `failure nodes ${first} [answers]`,
    ]);
    proxy.set({ kind: 'garbage' });
    const report = await look(with1(proxy.url), 'nodes', 'catalog');
    expect(of(report, 'nodes')).toEqual([`failure nodes ${first} [answers]`]);
    expect(of(report, 'catalog')).toEqual(['failure catalog chain 1 [reading]']);
  });

  it('behavior: one that lags, and one on a fork', async () => {
    const chain = doctor.world.chains.on(1);
    const urls = with1(chain.rpcUrl, proxy.url);
    const blockNumber = await createPublicClient({ transport: http(chain.rpcUrl) }).getBlockNumber();
    await chain.increaseTime(60);
    await chain.mine(10);
    proxy.set({ kind: 'lag', blockNumber });
    expect(await examine('nodes', urls)).toContain('warning nodes RPC_URL_1 #2 [height]');
    proxy.set({ kind: 'fork' });
    const forked = await examine('nodes', urls);
    expect(forked).toEqual(
      expect.arrayContaining(['failure nodes RPC_URL_1 #1 [fork]', 'failure nodes RPC_URL_1 #2 [fork]']),
    );
  });

  it('behavior: reports a missing capability with its effect', async () => {
    proxy.set({ kind: 'lacks', simulate: 'crashes', overrides: 'refused', batch: 1, blockHash: 'refused' });
    expect(await examine('nodes', with1(proxy.url))).toEqual([
      `failure nodes ${first} [simulation]`,
      `warning nodes ${first} [batches]`,
      `warning nodes ${first} [block_hash]`,
    ]);
  });

  it('behavior: shortens answers and prints them without control characters', async () => {
    const server = await serve();
    try {
      const report = await look(with1(`${server.url}/v2/node-key-0123456789`), 'nodes', 'catalog');
      expect(of(report, 'nodes')).toEqual([`failure nodes ${first} [answers]`]);
      const printed = `${JSON.stringify(report)}${renderTable(report)}`;
      expect(printed.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
      expect(printed).not.toContain('node-key-0123456789');
    } finally {
      await server.stop();
    }
  });

  it('behavior: bounds an endless body', async () => {
    const server = await serve((response) => {
      const more = () => {
        while (response.write('0'.repeat(1024 * 1024)));
      };
      response.on('drain', more);
      more();
    });
    try {
      const report = await look({ ...with1(server.url), COINGECKO_URL: server.url }, 'nodes', 'providers');
      expect(of(report, 'nodes')).toEqual([`failure nodes ${first} [answers]`]);
      expect(of(report, 'providers')).toContain('failure providers COINGECKO_URL prices [answer]');
    } finally {
      await server.stop();
    }
  });
});

/** Answers everything with escape sequences, and the address that it was asked at. */
async function serve(answer?: (response: ServerResponse) => void) {
  const server: Server = createServer((request, response) => {
    response.writeHead(200, { 'content-type': 'text/plain' });
    if (answer) answer(response);
    else response.end(`\u001b[2J\u001b[31m${request.url}\u202e${'z'.repeat(100_000)}`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      return closed;
    },
  };
}

describe('catalog', () => {
  const chainOf = (chainId: number) => {
    const found = createCatalog(curatedChains).chain(chainId);
    if (!found) throw new Error('no such chain');
    return found;
  };
  const asOwner = async (chainId: number, functionName: string, args: readonly unknown[] = []) => {
    const to = chainOf(chainId).contracts.flashLeverage as `0x${string}`;
    const data = encodeFunctionData({ abi: flashLeverageAbi, functionName, args } as never);
    await doctor.world.chains.on(chainId).send({ from: OWNER, to, data });
  };

  const onNode = async (method: string, params: readonly unknown[]): Promise<unknown> => {
    const response = await fetch(doctor.world.chains.on(4663).rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    return ((await response.json()) as { result?: unknown }).result;
  };
  const storageAt = (address: string, slot: Hex) => onNode('eth_getStorageAt', [address, slot, 'latest']);
  const store = (address: string, slot: Hex, value: bigint) =>
    onNode('anvil_setStorageAt', [address, pad(slot, { size: 32 }), numberToHex(value, { size: 32 })]);
  const entryOf = (key: string, slot: number) => keccak256(concat([key as Hex, numberToHex(slot, { size: 32 })]));
  /** The storage slot below 64 of which something is true. */
  const slotWhere = async (isIt: (slot: number) => Promise<boolean>): Promise<number> => {
    for (let slot = 0; slot < 64; slot += 1) if (await isIt(slot)) return slot;
    throw new Error('no such slot');
  };

  it('behavior: fees above the limits of the published source', async () => {
    const address = chainOf(4663).contracts.flashLeverage;
    const fees = [
      ['updateYieldFee', 12_345n],
      ['updateDepositFee', 54_321n],
    ] as const;
    for (const [update, fee] of fees) {
      await asOwner(4663, update, [fee]);
      const slot = await slotWhere(async (n) => BigInt(String(await storageAt(address, numberToHex(n)))) === fee);
      await store(address, numberToHex(slot), 10n ** 17n + 1n);
    }
    expect(await examine('catalog')).toEqual(
      ['yield_fee', 'deposit_fee'].map((check) => `failure catalog chain 4663 contract flashLeverage [${check}]`),
    );
  });

  it('behavior: a highest LTV that is not the liquidation LTV less the buffer', async () => {
    const { contracts, markets } = chainOf(4663);
    const [market] = markets.filter(({ kind }) => kind === 'loop');
    if (!market) throw new Error('no such market');
    const buffer = await createPublicClient({
      transport: http(doctor.world.chains.on(4663).rpcUrl),
    }).readContract({ address: contracts.flashLeverage, abi: flashLeverageAbi, functionName: 'LIQUIDATION_BUFFER' });
    const word = (value: bigint) => numberToHex(value, { size: 32 }).slice(2);
    const [right, wrong] = [market.lltv - buffer, market.lltv + buffer].map(word) as [string, string];
    const altered: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      return new Response((await response.text()).replaceAll(right, wrong), { status: response.status });
    };
    const report = await doctor.examine({}, { only: ['catalog'], fetch: altered });
    expect(of(report, 'catalog')).toContainEqual(
      expect.stringMatching(/^failure catalog chain 4663 market .* \[max_ltv\]$/),
    );
  });

  it('behavior: parameters that do not hash to the id, and a market that is correlated only on the chain', async () => {
    const { contracts, markets } = chainOf(4663);
    const loops = markets.filter(({ kind }) => kind === 'loop');
    const [one, other] = [loops.find(({ correlated }) => correlated), loops.find(({ correlated }) => !correlated)];
    if (!one || !other) throw new Error('no such market');
    const isSet = async (id: string, n: number) =>
      BigInt(String(await storageAt(contracts.flashLeverage, entryOf(id, n)))) === 1n;
    const slot = await slotWhere(async (n) => (await isSet(one.id, n)) && !(await isSet(other.id, n)));
    await store(contracts.flashLeverage, entryOf(other.id, slot), 1n);
    // Morpho Blue keeps the parameters by id in its ninth slot; the fifth of them is the liquidation LTV.
    await store(contracts.morphoBlue, numberToHex(BigInt(entryOf(one.id, 8)) + 4n), one.lltv - 10n ** 16n);
    const named = await examine('catalog');
    const about = ({ collateral, loan }: typeof one) => `market ${collateral.symbol}/${loan.symbol} `;
    expect(named).toContainEqual(expect.stringMatching(new RegExp(`^failure catalog .*${about(one)}.*\\[id\\]$`)));
    expect(named).toContainEqual(
      expect.stringMatching(new RegExp(`catalog chain 4663 ${about(other)}.*\\[correlated\\]$`)),
    );
  });

  it('behavior: a paused contract, a market that is not supported, and a router that is not allowed', async () => {
    const [market] = chainOf(4663).markets;
    const [router] = chainOf(4663).swapRouters.AggregatorOne ?? [];
    await asOwner(4663, 'pause');
    await asOwner(4663, 'setMarketEnabled', [market?.id, false]);
    await asOwner(4663, 'setSwapRouter', [router, false]);
    const named = await examine('catalog');
    expect(named).toHaveLength(3);
    expect(named).toEqual(
      expect.arrayContaining([
        'warning catalog chain 4663 contract flashLeverage [paused]',
        expect.stringMatching(/^warning catalog chain 4663 market spUSDG\/USDG .* \[supported\]$/),
        'failure catalog chain 4663 router of AggregatorOne [allowed]',
      ]),
    );
  });

  it('behavior: a frozen feed, and an oracle far from the price', async () => {
    const { control } = doctor.world;
    const post = (path: string, body: unknown) =>
      fetch(`${control.url}${path}`, { method: 'POST', body: JSON.stringify(body) });
    await post('/feed', { chainId: 4663, token: 'SPY', updatedAt: '9' });
    await post('/oracle', { chainId: 4663, token: 'PONS', price: '1000000000000' });
    const named = of(await look({}, 'catalog', 'providers'), 'catalog');
    expect(named).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^warning catalog chain 4663 market SPY\/USDG .* \[oracle_age\]$/),
        expect.stringMatching(/^warning catalog chain 4663 market PONS\/.* \[oracle_price\]$/),
      ]),
    );
    expect(named.every((line) => /SPY|PONS/.test(line))).toBe(true);
  });

  it('behavior: an address without code, and a token whose decimals differ from the catalog', async () => {
    const [usdg] = chainOf(4663).tokens.filter(({ symbol }) => symbol === 'USDG');
    const setCode = (address: string, code: string) => onNode('anvil_setCode', [address, code]);
    // Answers 7 to every question.
    await setCode(usdg?.address ?? '', '0x60075f5260205ff3');
    await setCode(chainOf(4663).contracts.flashLeverageRouter, '0x');
    const named = await examine('catalog');
    expect(named).toEqual(
      expect.arrayContaining([
        'failure catalog chain 4663 token USDG [decimals]',
        'warning catalog chain 4663 token USDG [symbol]',
        expect.stringMatching(/contract flashLeverageRouter \[no_code\]$/),
      ]),
    );
  });

  it('behavior: reports a chain a month ahead by its clock, and rejects its values', async () => {
    await fetch(`${doctor.world.control.url}/time`, {
      method: 'POST',
      body: JSON.stringify({ chainId: 4663, seconds: 2_592_000 }),
    });
    const report = await look({}, 'catalog', 'nodes', 'clocks');
    expect(of(report, 'clocks')).toEqual(['failure clocks RPC_URL_4663 #1 (newest block) [agreement]']);
    expect(of(report, 'catalog')).toEqual(['failure catalog chain 4663 [reading]']);
  });
});
