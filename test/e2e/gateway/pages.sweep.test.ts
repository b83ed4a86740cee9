import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LOOKS, look, picture, violationsOf } from '../../support/axe.ts';
import { openPage, startChromium, whyNoChromium } from '../../support/chromium.ts';
import { startService, type TestService } from '../../support/service.ts';

let service: TestService;
let browser: Browser;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service?.stop());

describe('files of the pages', () => {
  test.each(['/', '/docs', '/ops'])('%s names only files of the service, under a strict policy', async (path) => {
    const { status, text, headers } = await service.get(path);
    expect(status).toBe(200);
    expect(headers.get('content-security-policy')).toMatch(/default-src 'none'.*script-src 'self';/);
    expect(headers.get('content-security-policy')).not.toMatch(/unsafe-eval|\*|https?:/);
    expect(text).not.toMatch(/<script>|<style|style=|<!--\w+-->/);
    if (path !== '/ops') expect(text).toContain('local-partner');
    const named = [...text.matchAll(/(?:src|href)="([^"#]+)"/g)].map(([, url]) => url ?? '');
    expect(named.length).toBeGreaterThan(3);
    for (const url of named) {
      const target = new URL(url, `${service.url}${path}`);
      expect([url, target.origin]).toEqual([url, service.url]);
      const answer = await service.get(`${target.pathname}${target.search}`, { accept: 'text/html' });
      expect([url, answer.status]).toEqual([url, 200]);
      if (target.search.startsWith('?v=')) expect(answer.headers.get('cache-control')).toMatch(/immutable/);
    }
  });

  test('the viewer is compressed, and the icon is served where no page names one', async () => {
    const viewer = await fetch(`${service.url}/docs/viewer.js`, { headers: { 'accept-encoding': 'br' } });
    expect(viewer.headers.get('content-encoding')).toBe('br');
    expect(Number(viewer.headers.get('content-length'))).toBeLessThan(210_000);
    await viewer.arrayBuffer();
    const icon = await service.get('/favicon.ico');
    expect([icon.status, icon.headers.get('content-type')]).toEqual([200, 'image/x-icon']);
  });
});

describe.skipIf(whyNoChromium !== null)(
  `pages in a browser${whyNoChromium === null ? '' : ` (${whyNoChromium})`}`,
  () => {
    beforeAll(async () => {
      browser = await startChromium();
    });
    afterAll(() => browser?.close());

    /** Check a page in every look: nothing is cut off, and axe finds nothing. */
    const looksWell = async (page: Page, name: string) => {
      for (const one of LOOKS) {
        await look(page, one);
        await picture(page, `${name}-${one.width}-${one.colorScheme}`);
        expect([one, await violationsOf(page)]).toEqual([one, []]);
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(one.width);
      }
    };

    test('a guide is a page in every look, and its list is reached by keyboard', async () => {
      const { page, leaving, errors } = await openPage(browser, service.url);
      await page.goto(`${service.url}/docs/partners`);
      for (const href of ['#content', '../', 'guides', 'quickstarts', 'partners', 'positions']) {
        await page.keyboard.press('Tab');
        expect(await page.evaluate('document.activeElement.getAttribute("href")')).toBe(href);
      }
      await looksWell(page, 'guide');
      expect({ leaving, errors }).toEqual({ leaving: [], errors: [] });
      await page.close();
    });

    test('/ shows the status to people, in every look, and its links are reached by keyboard', async () => {
      const { page, leaving, errors } = await openPage(browser, service.url);
      await page.goto(service.url);
      await page.locator('#status', { hasText: 'Every chain is ready' }).waitFor();
      for (const href of ['#content', 'graphql', 'docs', 'docs/guides', 'app/', 'ops', '#status-title']) {
        await page.keyboard.press('Tab');
        expect(await page.evaluate('document.activeElement.getAttribute("href")')).toBe(href);
      }
      const { body: health } = await service.get('/health');
      expect(await page.locator('#chains details').count()).toBe(health.chains.length);
      await page.locator('#chains summary').first().click();
      const rows = await page.locator('#chains details').first().locator('tbody tr').allInnerTexts();
      expect(rows).toHaveLength(health.chains[0].groups.length);
      expect(rows[0]).toMatch(/^Markets\s+fresh\s+.* ago \(5 min\)$/);
      await looksWell(page, 'home');

      expect({ leaving, errors }).toEqual({ leaving: [], errors: [] });
      await page.close();
    });

    test('/ names late sources, and shows hostile markup as text', async () => {
      const { page } = await openPage(browser, service.url);
      const hostile = '<img src=x onerror=alert(1)>';
      let body: object = {
        now: hostile,
        degraded: [`provider ${hostile} fails`],
        chains: [{ chainId: 7, ready: false, missing: ['lendingState'], strategies: 1, listed: 0, groups: [] }],
      };
      await page.route('**/health', (route) => route.fulfill({ json: body }));
      await page.goto(service.url);
      await page.locator('#status', { hasText: 'Chain 7 is not ready: waiting for lendingState.' }).waitFor();
      expect(await page.locator('#status li').nth(1).innerText()).toBe(`Provider ${hostile} fails.`);
      expect(await page.locator('main img').count()).toBe(0);
      body = {
        chains: [
          {
            chainId: 1,
            ready: true,
            strategies: 1,
            listed: 1,
            groups: [{ group: 'newGroup', status: 'stale', ageSec: null, budgetSec: 60 }],
          },
        ],
      };
      await page.click('#again');
      await page.locator('#chains', { hasText: '1 of 1 groups late or failing' }).waitFor();
      expect(await page.locator('#chains tbody tr').textContent()).toBe('New groupstalenever (60 s)');
      await page.unroute('**/health');
      await page.route('**/health', (route) => route.fulfill({ body: '<html>' }));
      await page.click('#again');
      await page.locator('#status', { hasText: 'no readable answer' }).waitFor();
      await page.close();
    });

    test('/docs shows every operation, in every look, without external requests', async () => {
      const { page, leaving, errors } = await openPage(browser, service.url);
      await page.goto(`${service.url}/docs`);
      await page.getByText('List the strategies of a chain').first().waitFor();
      // The keyboard begins at the bar with the key, and not inside the viewer.
      await page.keyboard.press('Tab');
      expect(await page.evaluate('document.activeElement.getAttribute("href")')).toBe('./');
      const { body: document } = await service.get('/openapi.json');
      const operations = Object.values<object>(document.paths).flatMap((methods) => Object.values(methods));
      for (const { summary } of operations) {
        expect([summary, await page.locator('nav .nav-bar-path', { hasText: summary }).count()]).not.toEqual([
          summary,
          0,
        ]);
      }
      await looksWell(page, 'docs');
      await look(page, { colorScheme: 'light', width: 1280 });
      await page.locator('nav .nav-bar-path', { hasText: 'Preview opening a leveraged position' }).click();
      await page.getByText('/v1/partner/leverage/simulate').first().waitFor();
      await looksWell(page, 'docs-operation');
      expect({ leaving, errors }).toEqual({ leaving: [], errors: [] });
      await page.close();
    });

    test('/docs sends a request with the key of its key field', async () => {
      const { page, errors } = await openPage(browser, service.url);
      await page.goto(`${service.url}/docs`);
      await page.locator('nav .nav-bar-path', { hasText: 'Preview opening a leveraged position' }).click();
      await page.fill('#key', 'local-partner');
      await page.press('#key', 'Enter');
      await page.locator('#key-state', { hasText: 'The key is sent' }).waitFor();
      const answered = page.waitForResponse((response) => response.url().endsWith('/v1/partner/leverage/simulate'));
      await page.locator('api-request').getByRole('button', { name: 'Execute' }).click();
      const response = await answered;
      expect(response.request().headers().authorization).toBe('Bearer local-partner');
      expect(response.status()).toBe(200);
      expect(await page.evaluate('JSON.stringify({ ...localStorage, ...sessionStorage })')).not.toContain(
        'local-partner',
      );
      expect(errors).toEqual([]);
      await page.close();
    });

    test('/docs shows samples for its own address and the entered key, and stays at the operation', async () => {
      const { page, errors } = await openPage(browser, service.url);
      await page.goto(`${service.url}/docs`);
      await page.locator('nav .nav-bar-path', { hasText: 'Preview opening a leveraged position' }).click();
      await page.getByText(`'${service.url}/v1/partner/leverage/simulate'`).first().waitFor();
      await page.fill('#key', 'a-key-of-a-partner');
      await page.press('#key', 'Enter');
      await page.getByText('Bearer a-key-of-a-partner').first().waitFor();
      expect(page.url()).toContain('/v1/partner/leverage/simulate');
      expect(await page.getByText('127.0.0.1:8787').count()).toBe(0);
      expect(await page.getByText('local-partner').count()).toBe(0);
      expect(errors).toEqual([]);
      await page.close();
    });

    test('/docs opens operations by keyboard on a phone', async () => {
      const { page } = await openPage(browser, service.url);
      await look(page, { colorScheme: 'dark', width: 390 });
      await page.goto(`${service.url}/docs`);
      const head = page.locator('summary', { hasText: 'Read one strategy' });
      await head.waitFor();
      expect(await page.locator('summary').first().isVisible()).toBe(true);
      await head.focus();
      await page.keyboard.press('Enter');
      await page.getByText('/v1/strategies/{id}').or(page.locator('.endpoint-body')).first().waitFor();
      expect(await page.locator('input[placeholder*="object Object"]').count()).toBe(0);
      expect(await violationsOf(page)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
      await page.close();
    });
  },
);
