import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { seededWallet } from '../../../devnet/seed/wallets.ts';
import { LOOKS, look, picture, violationsOf } from '../../support/axe.ts';
import { openPage, startChromium, whyNoChromium } from '../../support/chromium.ts';
import { type Json, PARTNER, startService, type TestService } from '../../support/service.ts';

const { address } = seededWallet('speculator').account;

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service?.stop());

describe.skipIf(whyNoChromium !== null)('options for a position, on the ops page', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startChromium();
  });
  afterAll(() => browser?.close());

  test('default: the page of a wallet has every way down to the safe LTV, with amounts, cost, gas and result', async () => {
    const opened = await openPage(browser, service.url);
    const { page } = opened;
    await page.goto(`${service.url}/ops?wallet=${address}`);
    await page.fill('#key', 'local-ops');
    await page.click('#key-form button[type=submit]');
    await page.locator('#advice tbody tr').first().waitFor();
    await page.waitForSelector('body:not([aria-busy])');
    const { body } = await service.get(`/v1/partner/positions/${address}`, PARTNER);
    const near = body.positions.find(({ ltvHeadroomPct }: Json) => Number(ltvHeadroomPct) <= 2);
    const path = `/v1/partner/positions/${address}/${near.id}/deleverage-options`;
    const { body: found } = await service.get(path, PARTNER);
    const rows = await page.locator('#advice tbody tr').allInnerTexts();
    expect(rows).toHaveLength(found.options.length);
    for (const [i, { steps, preview, unavailable, simulatedGas, gasUsd }] of found.options.entries()) {
      expect(rows[i]).toContain(`${steps[0].amount} ${steps[0].symbol}`);
      expect(rows[i]).toContain(unavailable ? unavailable.message : preview.positionPreview.effectiveLtv);
      if (!unavailable) expect(rows[i]).toContain(`${simulatedGas ?? '–'}${gasUsd ? `, $${gasUsd.slice(0, -3)}` : ''}`);
    }
    for (const one of LOOKS) {
      await look(page, one);
      await page.locator('#advice').scrollIntoViewIfNeeded();
      await picture(page, `ops-advice-${one.width}-${one.colorScheme}`);
      expect([one, await violationsOf(page)]).toEqual([one, []]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(one.width);
    }
    expect({ leaving: opened.leaving, errors: opened.errors }).toEqual({ leaving: [], errors: [] });
    expect(await page.locator('#advice-notes').isVisible()).toBe(false);
    // A debt above the value of the collateral, in an answer that has none otherwise.
    const message = 'The debt of 110 USDC is above the value of the collateral, 100 USDC. Repaying costs 10 USDC more.';
    await page.route('**/graphql', async (route) => {
      if (!route.request().postData()?.includes('deleverageOptions')) return route.continue();
      const response = await route.fetch();
      const answer = await response.json();
      answer.data.position.deleverageOptions.underWater = { message };
      for (const option of answer.data.position.deleverageOptions.options) option.gasUsd = null;
      await route.fulfill({ response, json: answer });
    });
    await page.goto(`${service.url}/ops?wallet=${address}`);
    await page.locator('#advice-notes', { hasText: message }).waitFor();
    expect(await page.locator('#advice tbody').innerText()).toContain(', not priced');
    expect(await violationsOf(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(LOOKS.at(-1)?.width);
    await page.unroute('**/graphql');
    // After a failure the rows of the reading before do not stay.
    await page.route('**/graphql', async (route) => {
      if (route.request().postData()?.includes('deleverageOptions')) await route.abort();
      else await route.continue();
    });
    await page.goto(`${service.url}/ops?wallet=${address}`);
    await page.locator('#advice-count', { hasText: '1 could not be read' }).waitFor({ timeout: 20_000 });
    expect(await page.locator('#advice').innerText()).toContain('could not be read');
    await page.close();
  });
});
