import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type OpenedPage, openPage, startChromium, whyNoChromium } from '../../support/chromium.ts';
import { startService, type TestService } from '../../support/service.ts';

const OPS_KEY = 'local-ops';
const PARTNER_KEY = 'local-partner';

let service: TestService;
let browser: Browser;
beforeAll(async () => {
  service = await startService();
}, 120_000);
afterAll(() => service?.stop());

async function enter({ page }: OpenedPage, key: string): Promise<void> {
  await page.goto(`${service.url}/ops`);
  await page.fill('#key', key);
  await page.click('#key-form button[type=submit]');
}

/** Wait until what was asked for is shown. */
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
    expect(files.length).toBeGreaterThan(4);
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
    expect((await texts(opened, '#drift > li .sides')).every((text) => /Chain[\s\S]*Register/.test(text))).toBe(true);
    const headrooms = (await texts(opened, '#items tbody tr td:nth-child(2)'))
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

  test('behavior: filters narrow every section', async () => {
    const opened = await openPage(browser, service.url);
    await enter(opened, OPS_KEY);
    await settled(opened);
    const { page } = opened;
    const before = await page.locator('#items tbody tr').count();
    await page.selectOption('select[name=chain]', '4663');
    await expect.poll(() => page.locator('#items tbody tr').count()).toBeLessThan(before);
    expect(new Set(await texts(opened, '#items tbody tr td:nth-child(9)'))).toEqual(new Set(['Robinhood Chain']));
    expect(await page.locator('#drift > li').count()).toBe(3);
    await page.selectOption('select[name=drift]', 'NO_DB_ROW');
    await expect.poll(() => page.locator('#items tbody tr').count()).toBe(1);
    expect(await texts(opened, '#drift h3')).toEqual(['Not registered']);
    await page.fill('input[name=minValue]', '1000000000');
    await page.waitForSelector('#items td.none');
    await page.click('#filters button[type=reset]');
    await expect.poll(() => page.locator('#items tbody tr').count()).toBe(before);
    expect(opened.errors).toEqual([]);
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
