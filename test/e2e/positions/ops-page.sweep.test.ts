import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SCENARIOS } from '../../../src/features/risk/domain/scenarios.ts';
import { LOOKS, look, picture, violationsOf } from '../../support/axe.ts';
import { type OpenedPage, openPage, startChromium, whyNoChromium } from '../../support/chromium.ts';
import { startService, type TestService } from '../../support/service.ts';

const OPS_KEY = 'local-ops';
const PARTNER_KEY = 'local-partner';

const HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script>'; drop table x; --";

let service: TestService;
let browser: Browser;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service?.stop());

async function enter({ page }: OpenedPage, key: string): Promise<void> {
  await page.goto(`${service.url}/ops`);
  await page.fill('#key', key);
  await page.click('#key-form button[type=submit]');
}

/** Wait until the requested data is displayed. */
async function settled({ page }: OpenedPage): Promise<void> {
  await page.waitForSelector('#board:not([hidden])');
  await page.waitForSelector('body:not([aria-busy]) #items tbody tr');
}

const texts = ({ page }: OpenedPage, selector: string) => page.locator(selector).allInnerTexts();

describe('GET /ops', () => {
  test('behavior: serves every file itself under a strict policy', async () => {
    const { text, headers } = await service.get('/ops');
    expect(headers.get('content-security-policy')).toMatch(/default-src 'none'.*script-src 'self'; style-src 'self'/);
    const files = [...text.matchAll(/(?:src|href)="(\/ops[^"]*)"/g)].map(([, path]) => path ?? '');
    expect(files.length).toBeGreaterThan(3);
    for (const path of files) expect((await service.get(path)).status).toBe(200);
    expect(text).not.toMatch(/<script>|<style|style=|https?:/);
  });

  test('error: MethodNotAllowed', async () => {
    const { status, headers } = await service.post('/ops', {});
    expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });
});

describe.skipIf(whyNoChromium !== null)(`ops page${whyNoChromium === null ? '' : ` (${whyNoChromium})`}`, () => {
  beforeAll(async () => {
    browser = await startChromium();
  });
  afterAll(() => browser?.close());

  test('default: totals, headroom, P&L, drift with evidence, freshness', async () => {
    const opened = await openPage(browser, service.url);
    await enter(opened, OPS_KEY);
    await settled(opened);
    const { page } = opened;
    const { body } = await service.graphql(
      '{ ops { aggregates { walletCount totals { count } byDriftKind { count } } drift { nodes { wallet positionIndex } } } }',
      {},
      { authorization: `Bearer ${OPS_KEY}` },
    );
    const { aggregates, drift } = body.data.ops;
    expect((await texts(opened, '#totals .tile')).join('\n')).toContain(`Wallets\n${aggregates.walletCount}`);
    expect(await page.locator('#drift > li').count()).toBe(drift.nodes.length);
    const sql = await page.locator('#drift > li pre').allTextContents();
    expect(sql).toHaveLength(drift.nodes.length);
    expect(sql.every((text) => /^(update|insert into) position_registrations /.test(text))).toBe(true);
    expect((await texts(opened, '#drift > li .sides')).every((text) => /Chain[\s\S]*Register/.test(text))).toBe(true);
    const headrooms = (await texts(opened, '#items tbody tr:not(.part) td:nth-child(2)'))
      .map(Number)
      .filter((n) => !Number.isNaN(n));
    expect(headrooms.length).toBeGreaterThan(10);
    expect(headrooms).toEqual(headrooms.toSorted((a, b) => a - b));
    expect(await page.locator('.chart canvas').count()).toBe(2);
    expect(await page.locator('#freshness table').count()).toBe(2);
    expect(await page.evaluate('[sessionStorage.length, localStorage.length, document.cookie]')).toEqual([1, 0, '']);
    expect({ leaving: opened.leaving, errors: opened.errors }).toEqual({ leaving: [], errors: [] });
    await page.close();
  });

  test('behavior: the history of one wallet with its split and events, and how far the logs are read', async () => {
    await service.refresh('position-history:1', 'position-history:4663');
    // The health page waits for a new reading when the latest is older than a minute.
    service.clock.advance(60_001);
    const opened = await openPage(browser, service.url);
    await enter(opened, OPS_KEY);
    await settled(opened);
    const { page } = opened;
    expect(await page.locator('#past-card').isHidden()).toBe(true);
    expect(await texts(opened, '#indexers tbody tr td:nth-child(2)')).toEqual(['following', 'following']);
    expect(await texts(opened, '#alert-jobs tbody tr td:nth-child(2)')).toEqual(['running', 'running']);
    expect(await texts(opened, '#alert-jobs-events')).toEqual([expect.stringMatching(/^Events that wait: \d+/)]);
    await page.fill('input[name=wallet]', '0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc');
    await page.waitForSelector('#past tbody tr td:nth-child(2)');
    await page.waitForSelector('body:not([aria-busy])');
    const names = await texts(opened, '#past tbody tr td:nth-child(1)');
    expect(names.some((name) => /vault: stock leg/.test(name))).toBe(true);
    expect((await texts(opened, '#past tbody tr td:nth-child(3)')).every((count) => /^\d+$/.test(count))).toBe(true);
    const curves = page.locator('#past svg.sparkline');
    expect(await curves.count()).toBe(names.length);
    expect(await curves.first().getAttribute('aria-label')).toMatch(/^[\d.,]+ \w+ on .+, [\d.,]+ \w+ on /);
    const drawn = (await curves.first().locator('polyline').getAttribute('points')) ?? '';
    expect(drawn.split(' ').length).toBeGreaterThanOrEqual(2);
    expect((await texts(opened, '#past tbody tr td:last-child')).every((result) => /\d/.test(result))).toBe(true);
    expect(await texts(opened, '#events tbody tr td:nth-child(2)')).toContain('opened');
    expect(opened.errors).toEqual([]);
    await page.close();
  });

  test('behavior: filters narrow every section', async () => {
    const opened = await openPage(browser, service.url);
    await enter(opened, OPS_KEY);
    await settled(opened);
    const { page } = opened;
    const before = await page.locator('#items tbody tr').count();
    await page.selectOption('select[name=chain]', '4663');
    await expect.poll(() => page.locator('#items tbody tr').count()).toBeLessThan(before);
    await page.waitForSelector('body:not([aria-busy])');
    expect(new Set(await texts(opened, '#items tbody tr td:nth-child(9)'))).toEqual(new Set(['Robinhood Chain']));
    expect(await page.locator('#drift > li').count()).toBe(3);
    await page.selectOption('select[name=drift]', 'NO_DB_ROW');
    await expect.poll(() => page.locator('#items tbody tr').count()).toBe(1);
    await page.waitForSelector('body:not([aria-busy])');
    expect(await texts(opened, '#drift h3')).toEqual(['Not registered']);
    await page.fill('input[name=minValue]', '1000000000');
    await page.waitForSelector('#items td.none');
    await page.click('#filters button[type=reset]');
    await expect.poll(() => page.locator('#items tbody tr').count()).toBe(before);
    expect(opened.errors).toEqual([]);
    await page.close();
  });

  test('behavior: tiles, table and drift count the same with the same filters', async () => {
    const opened = await openPage(browser, service.url);
    await enter(opened, OPS_KEY);
    await settled(opened);
    const { page } = opened;
    const tile = async (name: string) =>
      Number(await page.locator(`#totals .tile:has(dt:text-is("${name}")) dd`).first().innerText());
    for (const query of [
      '',
      '?status=OPEN',
      '?status=CLOSED',
      '?status=OPEN&chain=4663',
      '?minValue=20000',
      '?drift=NO_DB_ROW',
    ]) {
      await page.goto(`${service.url}/ops${query}`);
      await settled(opened);
      const rows = await page.locator('#items tbody tr:not(.part):not(:has(.none))').count();
      expect([query, await page.innerText('#items-count')]).toEqual([query, String(rows)]);
      const markets = (await texts(opened, '#markets tbody td:nth-child(3)')).map(Number);
      expect(markets.reduce((sum, count) => sum + count, 0)).toBe(rows);
      if (query.includes('OPEN')) expect(await tile('Open')).toBe(rows);
      const drift = await page.locator('#drift > li.drift-entry').count();
      expect([query, await tile('Drift'), Number(await page.innerText('#drift-count'))]).toEqual([query, drift, drift]);
    }
    await page.close();
  });

  test('behavior: filters and orders are in the address and survive reload, back, forward and a new tab', async () => {
    const opened = await openPage(browser, service.url);
    const { page } = opened;
    await enter(opened, OPS_KEY);
    await settled(opened);
    const idle = () => page.waitForSelector('body:not([aria-busy])');
    await page.selectOption('select[name=status]', 'OPEN');
    await page.waitForURL(/\?status=OPEN$/);
    await idle();
    await page.click('#items [data-sort=VALUE_USD]');
    await page.waitForURL(/sort\.items=VALUE_USD$/);
    await page.waitForSelector('#items th[aria-sort=ascending] [data-sort=VALUE_USD]');
    await page.focus('#items [data-sort=VALUE_USD]');
    await page.keyboard.press('Enter');
    await page.waitForSelector('#items th[aria-sort=descending] [data-sort=VALUE_USD]');
    const names = await texts(opened, '#items tbody td:first-child');
    await page.reload();
    await settled(opened);
    expect(await texts(opened, '#items tbody td:first-child')).toEqual(names);
    expect(await page.inputValue('select[name=status]')).toBe('OPEN');
    await page.goBack();
    await page.waitForSelector('#items th[aria-sort=ascending] [data-sort=VALUE_USD]');
    await page.goForward();
    await page.waitForSelector('#items th[aria-sort=descending] [data-sort=VALUE_USD]');
    await page.goto(`${service.url}/ops?status=NONSENSE&sort.items=1;drop&market=x&chain=1`);
    await settled(opened);
    await page.waitForURL(/chain=1/);
    expect(new URL(page.url()).searchParams.has('status')).toBe(false);
    expect(page.url()).not.toContain(OPS_KEY);
    await page.goto(`${service.url}/ops?wallet=${encodeURIComponent(HOSTILE)}&minValue=1e999x&chain=0x1`);
    await page.waitForSelector('#notice:not([hidden])');
    expect(await page.innerText('#notice')).toContain('is not an address');
    expect(await page.locator('#board img, #board script').count()).toBe(0);
    const shared = await openPage(browser, service.url);
    await shared.page.goto(`${service.url}/ops?chain=4663`);
    await shared.page.fill('#key', OPS_KEY);
    await shared.page.click('#key-form button[type=submit]');
    await settled(shared);
    expect(new Set(await texts(shared, '#items tbody td:nth-child(9)'))).toEqual(new Set(['Robinhood Chain']));
    expect([...opened.errors, ...shared.errors]).toEqual([]);
    await shared.page.close();
    await page.close();
  });

  test('behavior: every column sorts both ways', async () => {
    const opened = await openPage(browser, service.url);
    const { page } = opened;
    await enter(opened, OPS_KEY);
    await settled(opened);
    for (const table of ['items', 'markets', 'freshness']) {
      const sorts = await page
        .locator(`#${table} table, table#${table}`)
        .first()
        .locator('.sort')
        .evaluateAll((buttons) => buttons.map((button) => button.getAttribute('data-sort')));
      expect(sorts).toHaveLength({ items: 11, markets: 7, freshness: 5 }[table] ?? 0);
      for (const sort of sorts) {
        const button = page.locator(`#${table} [data-sort=${sort}]`).first();
        const heading = page.locator(`#${table} th:has([data-sort=${sort}])`).first();
        const before = await heading.getAttribute('aria-sort');
        await button.click();
        await page.waitForSelector('body:not([aria-busy])');
        const present = before === 'ascending' ? 'descending' : 'ascending';
        await expect.poll(() => heading.getAttribute('aria-sort')).toBe(present);
        expect(await page.locator(`#${table} table, table#${table}`).first().locator('th[aria-sort]').count()).toBe(1);
      }
    }
    expect(opened.errors).toEqual([]);
    await page.close();
  });

  test('behavior: links lead to wallets and positions on the page and to the block explorer of their chain', async () => {
    const opened = await openPage(browser, service.url);
    const { page } = opened;
    await page.goto(`${service.url}/ops?chain=4663`);
    await page.fill('#key', OPS_KEY);
    await page.click('#key-form button[type=submit]');
    await settled(opened);
    const outside = await page
      .locator('#board a.outside')
      .evaluateAll((links) => links.map((link) => [link.getAttribute('href') ?? '', link.getAttribute('rel') ?? '']));
    expect(outside.length).toBeGreaterThan(10);
    for (const [href, rel] of outside) {
      expect(href).toMatch(/^https:\/\/robinhoodchain\.blockscout\.com\/(address\/0x[0-9a-fA-F]{40}|block\/\d+)$/);
      expect(rel).toBe('noopener noreferrer');
    }
    const wallet = (await page.locator('#items a.mono').first().getAttribute('title')) ?? '';
    await page.locator('#items a.mono').first().click();
    await page.waitForURL(new RegExp(`\\?wallet=${wallet}$`));
    await page.waitForSelector('body:not([aria-busy])');
    expect(
      new Set(await page.locator('#items a.mono').evaluateAll((links) => links.map((a) => a.getAttribute('title')))),
    ).toEqual(new Set([wallet]));
    expect(await page.locator('#stress-card').isVisible()).toBe(true);
    expect(await texts(opened, '#stress tbody tr:first-child td:first-child')).toEqual(['Today']);
    expect(await page.locator('#stress tbody tr').count()).toBe(SCENARIOS.length);
    expect(await texts(opened, '#recorded tbody td:first-child')).toEqual(['1 day', '7 days', '30 days']);
    await page.locator('#items tbody td:first-child a').first().click();
    await page.waitForURL(/chain=\d+&wallet=0x.*&market=0x/);
    await settled(opened);
    expect({ leaving: opened.leaving, errors: opened.errors }).toEqual({ leaving: [], errors: [] });
    await page.close();
  });

  test('behavior: a stale group is named at the top and comes first; hostile text stays text', async () => {
    const opened = await openPage(browser, service.url);
    const { page } = opened;
    await page.route('**/graphql', async (route) => {
      const response = await route.fetch();
      const body = await response.json();
      const groups = body.data?.freshness?.at(-1)?.groups;
      if (groups) groups.at(-1).freshness = { status: 'STALE', ageSec: 9_000, staleAfterSec: 60 };
      const drift = body.data?.ops?.page?.nodes?.[0];
      if (drift?.suggestedSql) drift.suggestedSql = drift.message = HOSTILE;
      await route.fulfill({ response, json: body });
    });
    await enter(opened, OPS_KEY);
    await settled(opened);
    expect(await page.innerText('#notice')).toMatch(/stale /);
    expect(await page.innerText('#notice')).toMatch(/disagreements? between register and chain/);
    expect(await page.innerText('#notice')).toMatch(/unresolved/);
    expect(await page.evaluate("document.querySelector('#fresh-section').nextElementSibling.id")).toBe('filters');
    expect(await page.locator('#freshness tbody tr').first().innerText()).toMatch(/stale/);
    expect(await page.locator('#drift pre').first().textContent()).toBe(HOSTILE);
    expect(await page.locator('#drift img, #drift script').count()).toBe(0);
    expect(opened.errors).toEqual([]);
    await page.close();
  });

  test('behavior: axe finds nothing in light and dark, wide and on a phone', async () => {
    const opened = await openPage(browser, service.url);
    const { page } = opened;
    await page.goto(`${service.url}/ops`);
    expect(await violationsOf(page)).toEqual([]);
    await enter(opened, OPS_KEY);
    await settled(opened);
    for (const one of LOOKS) {
      await look(page, one);
      await picture(page, `ops-${one.width}-${one.colorScheme}`);
      expect([one, await violationsOf(page)]).toEqual([one, []]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(one.width);
      const cut = await page.evaluate(
        "[...document.querySelectorAll('.scroll')].filter((box) => box.scrollWidth > box.clientWidth).map((box) => box.ariaLabel)",
      );
      if (one.width === 1280) expect(cut).toEqual([]);
    }
    await page.close();
  });

  test('error: refuses a partner key and an unknown key with a clear message, without storing them', async () => {
    for (const key of [PARTNER_KEY, 'sg_ops_nobody']) {
      const opened = await openPage(browser, service.url);
      await enter(opened, key);
      await opened.page.waitForSelector('#key-error:not(:empty)');
      expect(await opened.page.innerText('#key-error')).toMatch(/ops tier/);
      expect(await opened.page.isVisible('#board')).toBe(false);
      expect(await opened.page.evaluate('sessionStorage.length')).toBe(0);
      expect(opened.leaving).toEqual([]);
      await opened.page.close();
    }
  });

  test('behavior: the key survives a reload of the tab, and is removed by "Forget key"', async () => {
    const opened = await openPage(browser, service.url);
    await enter(opened, OPS_KEY);
    await settled(opened);
    await opened.page.reload();
    await settled(opened);
    await opened.page.click('#leave');
    expect(await opened.page.isVisible('#sign-in')).toBe(true);
    expect(await opened.page.evaluate('sessionStorage.length')).toBe(0);
    await opened.page.close();
  });
});
