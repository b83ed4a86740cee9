import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPage, startChromium, whyNoChromium } from '../../support/chromium.ts';
import { startService, type TestService } from '../../support/service.ts';

describe.skipIf(whyNoChromium !== null)(
  `pages in a browser${whyNoChromium === null ? '' : ` (${whyNoChromium})`}`,
  () => {
    let service: TestService;
    let browser: Browser;
    beforeAll(async () => {
      [service, browser] = await Promise.all([startService(), startChromium()]);
    }, 120_000);
    afterAll(async () => {
      await browser?.close();
      await service?.stop();
    });

    test('default: /docs shows every operation without external requests', async () => {
      const { page, leaving, errors } = await openPage(browser, service.url);
      await page.goto(`${service.url}/docs`);
      await page.locator('.opblock').first().waitFor();
      const { body: document } = await service.get('/openapi.json');
      expect(await page.locator('.opblock').count()).toBe(
        Object.values<object>(document.paths).flatMap((methods) => Object.keys(methods)).length,
      );
      expect(await page.locator('.info .title').innerText()).toContain(document.info.title);
      for (const path of Object.keys(document.paths)) {
        expect(await page.locator(`.opblock-summary-path[data-path="${path}"]`).count()).toBe(1);
      }
      if (process.env.SCREENSHOTS) await page.screenshot({ path: `${process.env.SCREENSHOTS}/docs.png` });

      // Try an operation as a reader would.
      const prices = page.locator('.opblock', { has: page.locator('[data-path="/v1/prices"]') });
      await prices.locator('.opblock-summary').click();
      await prices.getByRole('button', { name: 'Try it out' }).click();
      await prices.getByRole('button', { name: 'Execute' }).click();
      await prices.locator('.live-responses-table .response-col_status').first().waitFor();
      expect(await prices.locator('.live-responses-table tbody .response-col_status').first().innerText()).toContain(
        '200',
      );
      await prices.locator('.opblock-summary').scrollIntoViewIfNeeded();
      if (process.env.SCREENSHOTS) await page.screenshot({ path: `${process.env.SCREENSHOTS}/docs-open.png` });
      expect({ leaving, errors }).toEqual({ leaving: [], errors: [] });
      await page.close();
    });

    test('default: /graphql shows GraphiQL, which runs a query without external requests', async () => {
      const { page, leaving, errors } = await openPage(browser, service.url);
      await page.goto(`${service.url}/graphql`);
      await page.locator('.graphiql-execute-button').waitFor();
      await page.locator('.graphiql-execute-button').click();
      await page.locator('.result-window', { hasText: 'totalCount' }).waitFor();
      if (process.env.SCREENSHOTS) await page.screenshot({ path: `${process.env.SCREENSHOTS}/graphiql.png` });
      expect({ leaving, errors }).toEqual({ leaving: [], errors: [] });
      await page.close();
    });
  },
);
