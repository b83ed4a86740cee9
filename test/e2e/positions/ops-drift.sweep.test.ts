import { readFile } from 'node:fs/promises';
import { sql } from 'kysely';
import type { Browser, Download, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { seededWallet } from '../../../devnet/seed/wallets.ts';
import { createDatabase, type Database } from '../../../src/database/client.ts';
import { type OpenedPage, openPage, startChromium, whyNoChromium } from '../../support/chromium.ts';
import { createTestDatabase } from '../../support/process/postgres.ts';
import { type Json, OPS, PARTNER, startService, type TestService } from '../../support/service.ts';
import { REFUSED_FILTERS } from './refused-filters.ts';

const READING_MS = 61_000;

let service: TestService;
let db: Database;
beforeAll(async () => {
  const database = await createTestDatabase();
  service = await startService({ database });
  db = createDatabase({ url: database.url, poolSize: 2, statementTimeoutMs: 10_000 });
  await sql`create table seeded_registrations as table position_registrations`.execute(db);
});
afterAll(async () => {
  await db?.destroy();
  await service?.stop();
});
beforeEach(async () => {
  await sql`truncate position_registrations, drift_history, drift_sightings`.execute(db);
  await sql`insert into position_registrations overriding system value table seeded_registrations`.execute(db);
  service.clock.advance(READING_MS);
});

const ask = async (query: string, variables: object = {}): Promise<Json> => {
  const { body } = await service.graphql(query, variables as Record<string, unknown>, OPS);
  expect(body.errors).toBeUndefined();
  return body.data.ops;
};
const DRIFT = `{ ops { drift(first: 100) { totalCount nodes { kind vaultId chainId wallet marketId positionIndex message
  firstSeenAt lastSeenAt suggestedSql earlier { firstSeenAt lastSeenAt goneAt } } } } }`;
const readDrift = async (): Promise<Json[]> => (await ask(DRIFT)).drift.nodes;
const readHistory = async (args: string): Promise<Json[]> =>
  (
    await ask(
      `{ ops { driftHistory(${args}) { nodes { kind severity chainId wallet positionIndex positionId vaultId firstSeenAt lastSeenAt goneAt } } } }`,
    )
  ).driftHistory.nodes;
/** Run a statement as psql does after `\set deposited_usd 100.00`; returns the number of changed rows. */
const run = async (text: string) =>
  Number((await sql.raw(text.replace(':deposited_usd', '100.00')).execute(db)).numAffectedRows);

describe('suggestedSql', () => {
  test('default: each statement, run on the database, changes one row, after which the disagreement is gone', async () => {
    const firstOf = (name: string) => sql`chain_id = 4663 and position_index = 0 and wallet = ${lower(name)}`;
    const lower = (name: string) => seededWallet(name).account.address.toLowerCase();
    // The only loop of a vault has no row, and a loop of another vault has one with another market.
    await sql`delete from position_registrations where ${firstOf('shareholder')}`.execute(db);
    const otherMarket = `0x${'ab'.repeat(32)}`;
    await sql`update position_registrations set market_id = ${otherMarket} where ${firstOf('stacker')}`.execute(db);
    const found = await readDrift();
    expect(new Set(found.map(({ kind }) => kind))).toEqual(
      new Set(['NO_DB_ROW', 'DB_OPEN_CHAIN_CLOSED', 'DB_CLOSED_CHAIN_OPEN']),
    );
    expect(found.filter(({ kind, vaultId }) => kind === 'NO_DB_ROW' && vaultId !== null)).toHaveLength(2);
    expect(found.filter(({ message }) => /another market/.test(message))).toHaveLength(1);
    for (const [i, { suggestedSql }] of found.entries()) {
      if (suggestedSql.includes(':deposited_usd')) await expect(sql.raw(suggestedSql).execute(db)).rejects.toThrow();
      expect([suggestedSql, await run(suggestedSql)]).toEqual([suggestedSql, 1]);
      service.clock.advance(READING_MS);
      expect(await readDrift()).toHaveLength(found.length - 1 - i);
    }
    // The register has changed since: a second run changes nothing.
    for (const { suggestedSql } of found) expect(await run(suggestedSql)).toBe(0);
    const { body } = await service.get('/v1/ops/portfolios?chainId=4663', OPS);
    expect(body.counts.drift).toBe(0);
    expect(await readHistory('isGone: false')).toEqual([]);
    const gone = await readHistory('isGone: true, first: 100');
    expect(gone).toHaveLength(found.length);
    for (const one of gone) {
      const drift = found.find(
        ({ chainId, wallet, positionIndex }) =>
          one.chainId === chainId && one.wallet === wallet && one.positionIndex === positionIndex,
      );
      expect(one).toMatchObject({ kind: drift?.kind, vaultId: drift?.vaultId, firstSeenAt: drift?.firstSeenAt });
      expect(Date.parse(one.goneAt)).toBeGreaterThan(Date.parse(one.lastSeenAt));
    }
  });
});

describe('the history of drift', () => {
  test('default: a disagreement that comes back has its earlier times, in GraphQL and REST', async () => {
    const [drift] = await readDrift();
    const { chainId, wallet, positionIndex, firstSeenAt } = drift;
    const later = async (isOpen: boolean) => {
      await sql`update position_registrations set is_open = ${isOpen}
        where chain_id = ${chainId} and wallet = ${wallet.toLowerCase()} and position_index = ${positionIndex}`.execute(
        db,
      );
      service.clock.advance(READING_MS);
      return (await readDrift()).find((one) => one.wallet === wallet && one.positionIndex === positionIndex);
    };
    const [{ is_open: wrong } = { is_open: false }] = (
      await sql<{ is_open: boolean }>`select is_open from position_registrations
        where chain_id = ${chainId} and wallet = ${wallet.toLowerCase()} and position_index = ${positionIndex}`.execute(
        db,
      )
    ).rows;
    const still = await later(wrong);
    expect(still).toMatchObject({ firstSeenAt, earlier: [] });
    expect(await later(!wrong)).toBeUndefined();
    const back = await later(wrong);
    expect(back).toMatchObject({
      firstSeenAt: back.lastSeenAt,
      earlier: [{ firstSeenAt, lastSeenAt: still.lastSeenAt }],
    });
    const { body } = await service.get(`/v1/ops/portfolio/${wallet}?chainId=${chainId}`, OPS);
    const loops = [...body.positions, ...body.equityPositions, ...body.closed].flatMap(
      (item) => item.yieldLoops ?? [item],
    );
    const [{ goneAt }] = back.earlier;
    expect(loops.find(({ id }) => id === positionIndex).drift).toMatchObject({
      firstSeen: back.firstSeenAt,
      lastSeen: back.lastSeenAt,
      earlier: [{ firstSeen: firstSeenAt, lastSeen: still.lastSeenAt, goneAt }],
      suggestedSql: back.suggestedSql,
    });
    const history = await readHistory(`first: 50, chainIds: [${chainId}], filter: { wallets: ["${wallet}"] }`);
    expect(history.filter((one) => one.positionIndex === positionIndex).map((one) => one.goneAt)).toEqual([
      null,
      goneAt,
    ]);
  });

  test('behavior: is paged in both directions and filtered; a cursor of another list is refused', async () => {
    const found = await readDrift();
    const page = async (args: string) =>
      (
        await ask(
          `{ ops { driftHistory(${args}) { totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor } nodes { positionId kind } } } }`,
        )
      ).driftHistory;
    const whole = await page('first: 100');
    expect(whole).toMatchObject({ totalCount: found.length, pageInfo: { hasNextPage: false, hasPreviousPage: false } });
    const first = await page('first: 4');
    const rest = await page(`first: 4, after: "${first.pageInfo.endCursor}"`);
    expect([...first.nodes, ...rest.nodes]).toEqual(whole.nodes);
    const back = await page(`last: 4, before: "${rest.pageInfo.startCursor}"`);
    expect(back.nodes).toEqual(first.nodes);
    for (const kind of ['NO_DB_ROW', 'DB_OPEN_CHAIN_CLOSED']) {
      const { nodes } = await page(`filter: { kinds: [${kind}] }`);
      expect(nodes).toHaveLength(found.filter((one) => one.kind === kind).length);
    }
    const cursor = (await ask('{ ops { drift(first: 1) { pageInfo { endCursor } } } }')).drift.pageInfo.endCursor;
    for (const after of [cursor, btoa(`driftHistory:${2n ** 64n}`), 'x']) {
      const { body } = await service.graphql(
        'query ($after: String) { ops { driftHistory(after: $after) { totalCount } } }',
        { after },
        OPS,
      );
      expect(body.errors?.[0].extensions.code).toBe('bad_request');
    }
  });

  test('behavior: REST pages and filters the same records', async () => {
    const owner = seededWallet('shareholder').account.address.toLowerCase();
    await sql`delete from position_registrations where chain_id = 4663 and wallet = ${owner}`.execute(db);
    const found = await readDrift();
    const read = async (query: string) => (await service.get(`/v1/ops/drift-history?${query}`, OPS)).body;
    const whole = await read('limit=500');
    expect([whole.count, whole.next, whole.records.length]).toEqual([found.length, null, found.length]);
    const first = await read('limit=4');
    const rest = await read(`limit=500&after=${first.next}`);
    expect([...first.records, ...rest.records]).toEqual(whole.records);
    const { kind, severity, chainId, address, marketId, vaultId } = whole.records.find((one: Json) => one.vaultId);
    for (const [name, value] of Object.entries({ kind, severity, chainId, address, marketId, vaultId })) {
      const { count, records } = await read(`isGone=false&${name}=${value}`);
      expect([name, records]).toEqual([name, whole.records.filter((one: Json) => one[name] === value)]);
      expect([count, (await read(`isGone=true&${name}=${value}`)).count]).toEqual([records.length, 0]);
    }
    expect((await service.get('/v1/ops/drift-history', PARTNER)).status).toBe(401);
  });

  test.each(REFUSED_FILTERS)('error: $what is refused, in GraphQL and REST', async ({ args, query, name }) => {
    const typed = await service.graphql(`{ ops { driftHistory(${args}) { totalCount } } }`, {}, OPS);
    expect(typed.body.errors).toMatchObject([{ extensions: { code: 'bad_request' } }]);
    const { status, body } = await service.get(`/v1/ops/drift-history?${query}`, OPS);
    expect([status, body.error.code, body.error.details.field]).toEqual([400, 'bad_request', `query.${name}`]);
  });

  test('behavior: public and partner reads write nothing, and read nothing of it', async () => {
    for (const path of ['/v1/strategies', '/v1/tvl', '/health'])
      expect((await service.get(path)).status).toBeLessThan(300);
    const wallet = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';
    expect((await service.get(`/v1/partner/positions/${wallet}`, PARTNER)).status).toBe(200);
    const { rows } = await sql`select 1 from drift_history union all select 1 from drift_sightings`.execute(db);
    expect(rows).toEqual([]);
    const { body } = await service.graphql('{ ops { driftHistory { totalCount } } }', {}, PARTNER);
    expect(body.errors?.[0].extensions.code).toBe('unauthorized');
  });
});

describe.skipIf(whyNoChromium !== null)(`ops page${whyNoChromium === null ? '' : ` (${whyNoChromium})`}`, () => {
  let browser: Browser;
  let opened: OpenedPage;
  beforeAll(async () => {
    browser = await startChromium();
  });
  beforeEach(async () => {
    opened = await openPage(browser, service.url);
  });
  afterAll(() => browser?.close());

  const settled = () => opened.page.waitForSelector('body:not([aria-busy]) #items tbody tr');
  const enter = async (query = '') => {
    await opened.page.goto(`${service.url}/ops${query}`);
    await opened.page.fill('#key', 'local-ops');
    await opened.page.click('#key-form button[type=submit]');
    await settled();
  };
  const saved = async (page: Page, table: string, type: 'CSV' | 'JSON', byKeyboard = false) => {
    const button = page.locator(`[data-export=${table}] button:text-is("${type}")`);
    const waiting = page.waitForEvent('download');
    if (byKeyboard) await button.focus().then(() => page.keyboard.press('Enter'));
    else await button.click();
    const download: Download = await waiting;
    const text = await readFile(await download.path(), 'utf8');
    return { name: download.suggestedFilename(), url: download.url(), text, rows: type === 'CSV' ? cellsOf(text) : [] };
  };

  test('behavior: "Copy" copies the SQL that is shown; once it has run, the drift is listed as gone', async () => {
    const { page, errors } = opened;
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: service.url });
    await enter('?drift=DB_OPEN_CHAIN_CLOSED');
    const before = await page.locator('#drift > li.drift-entry').count();
    expect([before, await page.innerText('#gone-count')]).toEqual([2, '0']);
    const card = page.locator('#drift > li').first();
    await card.locator('summary').click();
    await card.locator('button').focus();
    await page.keyboard.press('Enter');
    await card.locator('[role=status]:text-is("Copied.")').waitFor();
    const copied = await page.evaluate('navigator.clipboard.readText()');
    expect(copied).toBe(await card.locator('pre').textContent());
    expect(await run(copied as string)).toBe(1);
    await page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })");
    await card.locator('button').click();
    await card.locator('[role=status]:has-text("selected")').waitFor();
    expect(await page.evaluate('getSelection().toString()')).toBe(copied);
    service.clock.advance(READING_MS);
    await page.click('#refresh');
    await expect.poll(() => page.locator('#drift > li.drift-entry').count()).toBe(before - 1);
    expect(await page.locator('#gone tbody tr').allInnerTexts()).toEqual([
      expect.stringMatching(/^Registered open, ended on chain\s+(high|medium)\s+#\d+/),
    ]);
    expect(await page.innerText('#gone-count')).toBe('1');
    await page.selectOption('select[name=drift]', 'NO_DB_ROW');
    await page.waitForSelector('#gone td.none');
    expect(errors).toEqual([]);
    await page.close();
  });

  test('behavior: each table is saved as CSV and JSON with its filters and order, without the key in an address', async () => {
    const { page, errors, leaving } = opened;
    const addresses: string[] = [];
    page.on('request', (request) => addresses.push(request.url()));
    await enter('?chain=4663&sort.items=-VALUE_USD&sort.markets=-count');
    const shown = await page.locator('#items tbody td:first-child a:first-child').allInnerTexts();
    const { items } = await ask(
      '{ ops { items(isWhole: true, first: 500, chainIds: [4663], orderBy: { field: VALUE_USD }) { nodes { ... on PortfolioLoop { pnl { netValueUsd } } ... on PortfolioVault { pnl { netValueUsd } } } } } }',
    );
    const positions = await saved(page, 'positions', 'CSV', true);
    expect(positions.name).toMatch(/^positions-chain-4663-\d{8}T\d{6}Z\.csv$/);
    const [head = [], ...rows] = positions.rows;
    const at = (name: string) => head.indexOf(name);
    expect(rows.map((cells) => cells[at('Position')])).toEqual(shown);
    const own = rows
      .filter((cells) => cells[at('Part of the vault')] === '')
      .map((cells) => cells[at('Net value, USD')]);
    expect(own).toEqual(items.nodes.map(({ pnl }: Json) => pnl.netValueUsd ?? ''));
    expect(own.some((value) => value !== '' && /\.\d{3,}$/.test(value ?? ''))).toBe(true);
    const markets = await saved(page, 'markets', 'CSV');
    expect(markets.rows.slice(1).map(([name]) => name)).toEqual(
      await page.locator('#markets tbody td:first-child').allInnerTexts(),
    );
    const counts: Record<string, number> = {
      positions: rows.length,
      drift: await page.locator('#drift > li.drift-entry').count(),
      'drift-gone': 0,
      markets: markets.rows.length - 1,
      freshness: await page.locator('#freshness tbody tr').count(),
    };
    for (const [table, count] of Object.entries(counts)) {
      const { name, url, text } = await saved(page, table, 'JSON');
      expect([name, url]).toEqual([
        expect.stringMatching(`^${table}-chain-4663-\\d{8}T\\d{6}Z\\.json$`),
        expect.stringMatching(/^blob:/),
      ]);
      expect(JSON.parse(text)).toMatchObject({ table, filters: { chain: '4663' } });
      expect([table, JSON.parse(text).rows.length]).toEqual([table, count]);
    }
    for (const table of ['drift', 'drift-gone', 'freshness']) {
      expect([table, (await saved(page, table, 'CSV')).rows.length - 1]).toEqual([table, counts[table]]);
    }
    expect(addresses.filter((url) => url.includes('local-ops'))).toEqual([]);
    expect({ errors, leaving }).toEqual({ errors: [], leaving: [] });
    await page.close();
  });

  test('behavior: a file has the rows of all pages, after a rate limit and new numbers; a formula stays text', async () => {
    const { page } = opened;
    await enter();
    const shown = await page.locator('#items tbody tr').count();
    let requests = 0;
    await page.route('**/graphql', async (route) => {
      const body = JSON.parse(route.request().postData() ?? '{}');
      if (!/query OpsItems/.test(body.query) || body.variables.first === 50) return route.fallback();
      requests += 1;
      if (requests === 1)
        return route.fulfill({
          status: 429,
          headers: { 'retry-after': '0.01' },
          json: { errors: [{ message: 'Slower.', extensions: { code: 'rate_limited' } }] },
        });
      // The service pages by the size that it is asked for.
      const small = { ...body, variables: { ...body.variables, first: Math.min(body.variables.first, 4) } };
      const response = await route.fetch({ postData: JSON.stringify(small) });
      const json = await response.json();
      if (requests === 4) json.data.ops.page.asOf = '2026-06-10T12:00:00.000Z';
      for (const { node } of json.data.ops.page.edges)
        if (node.position) node.position.collateralToken = { displaySymbol: '=cmd|x' };
      return route.fulfill({ response, json });
    });
    const { rows } = await saved(page, 'positions', 'CSV');
    expect(rows.length - 1).toBe(shown);
    expect(new Set(rows.slice(1).map((cells) => cells.slice(0, 14).join())).size).toBe(shown);
    expect(rows.filter(([name]) => name?.startsWith("'=cmd|x/")).length).toBeGreaterThan(5);
    expect(await page.innerText('[data-export=positions] [role=status]')).toBe(`${shown} rows saved.`);
    expect(requests).toBeGreaterThan(8);
    await page.close();
  });
});

/** The cells of a CSV text. */
function cellsOf(text: string): string[][] {
  expect(text.charCodeAt(0)).toBe(0xfeff);
  const rows: string[][] = [[]];
  for (const [, quoted, plain = '', end] of text.slice(1).matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    rows.at(-1)?.push(quoted?.replaceAll('""', '"') ?? plain);
    if (end !== ',') rows.push([]);
  }
  return rows.slice(0, -1);
}
