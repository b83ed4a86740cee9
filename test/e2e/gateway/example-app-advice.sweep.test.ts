import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { seededWallet } from '../../../devnet/seed/wallets.ts';
import { LOOKS, look, picture, violationsOf } from '../../support/axe.ts';
import { openPage, startChromium, whyNoChromium } from '../../support/chromium.ts';
import { PARTNER, startService, type TestService } from '../../support/service.ts';
import { marketOf } from '../leverage/support.ts';

const { address } = seededWallet('speculator').account;

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service?.stop());

describe.skipIf(whyNoChromium !== null)('the options for a position, on the example app', () => {
  let browser: Browser;
  let page: Page;
  beforeAll(async () => {
    browser = await startChromium();
    const { chains } = (await service.get('/app/world.json')).body;
    ({ page } = await openPage(browser, service.url, [new URL(chains[0].rpcUrl).origin]));
    await page.goto(`${service.url}/app/`);
    await page.waitForSelector('main:not([aria-busy])');
    await page.selectOption('#account', address);
  });
  afterAll(() => browser?.close());

  test('default: near its liquidation it is read at once, with amounts, cost, gas and result; a link signs the first step', async () => {
    await page.goto(`${service.url}/app/#/positions`);
    await page.locator('[data-option]').first().waitFor();
    const { body } = await service.get(`/v1/partner/positions/${address}`, PARTNER);
    const near = body.positions.find(({ ltvHeadroomPct }: { ltvHeadroomPct?: string }) => Number(ltvHeadroomPct) <= 2);
    const { body: found } = await service.get(
      `/v1/partner/positions/${address}/${near.id}/deleverage-options`,
      PARTNER,
    );
    const card = page.locator(`[data-position="${near.positionId}"]`);
    expect(await card.locator('.advice').innerText()).toContain(
      `The LTV of ${found.ltvPct} % is above the safe ${found.safeLtvPct} %.`,
    );
    const rows = card.locator('[data-option]');
    const shown = await rows.evaluateAll((all) => all.map((row) => row.getAttribute('data-option')));
    expect(shown).toEqual(found.options.map(({ action }: { action: string }) => action));
    for (const { action, preview, steps, simulatedGas, gasUsd, unavailable } of found.options) {
      const text = await card.locator(`[data-option="${action}"]`).innerText();
      if (unavailable) {
        expect(text).toContain(unavailable.message);
        continue;
      }
      expect(text).toContain(`${preview.positionPreview.effectiveLtv} %`);
      expect(text).toContain(steps[0].symbol);
      expect(text).toContain(simulatedGas === undefined ? 'unknown' : Number(simulatedGas).toLocaleString('en'));
      // The gas price of the local chain moves from block to block.
      expect(text).toContain(gasUsd ? 'about $' : 'unknown');
    }
    expect(await card.locator('[data-under-water]').count()).toBe(0);
    for (const one of LOOKS) {
      await look(page, one);
      await rows.first().scrollIntoViewIfNeeded();
      await picture(page, `app-advice-${one.width}-${one.colorScheme}`);
      expect([one, await violationsOf(page)]).toEqual([one, []]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(one.width);
    }
    await card.locator('[data-option="repay"] a').click();
    await page.locator('#build').click();
    await page.locator('#execute').waitFor();
    expect(await page.locator('#proof').innerText()).toMatch(/Repays at least [\d.]+ USDC of the debt/);
  });

  test('behavior: a debt above the value of the collateral is said', async () => {
    const message = 'The debt of 110 USDC is above the value of the collateral, 100 USDC.';
    await page.route('**/deleverage-options*', async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), underWater: { message } } });
    });
    await page.goto(`${service.url}/app/#/strategies`);
    await page.goto(`${service.url}/app/#/positions`);
    await page.locator('[data-under-water]', { hasText: message }).waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await page.unroute('**/deleverage-options*');
  });

  test('behavior: a position that is not near it is read on request only, and says that nothing has to be done', async () => {
    await page.goto(`${service.url}/app/#/positions`);
    const closed = page.locator('.advice:not([open])').first();
    await closed.waitFor();
    await closed.locator('summary').click();
    await page.locator('.advice', { hasText: 'Nothing: the LTV of' }).first().waitFor();
  });

  test('behavior: a payment that no oracle prices is proven by a price of the user', async () => {
    const { id } = marketOf(1, 'sUSDe/PYUSD 91.5');
    const asked = { payToken: `0x${'0'.repeat(40)}`, amount: '0.5', leverage: 2 };
    const { body } = await service.post('/v1/partner/leverage/simulate', { strategyId: id, ...asked }, PARTNER);
    await page.clock.setFixedTime(service.clock.now());
    await page.goto(`${service.url}/app/#/strategies/${id}?chainId=1&payToken=${asked.payToken}&amount=0.5&leverage=2`);
    await page.waitForSelector('#preview:not([aria-busy])');
    await page.locator('#build').click();
    await page.locator('#worth').fill('1e3');
    await page.keyboard.press('Enter');
    const form = page.locator('[aria-label="Worth of the payment"]');
    await form.locator('[role=alert]', { hasText: 'such as 1500.5' }).waitFor();
    expect(await form.innerText()).toContain('Worth of 0.5 ETH in sUSDe');
    expect(await violationsOf(page)).toEqual([]);
    const worth = Number(body.positionPreview.amountLeveragedCollateral) / 2;
    await page.locator('#worth').fill(worth.toFixed(6));
    await page.keyboard.press('Enter');
    await page.locator('#execute').waitFor();
    expect(await page.locator('#proof').innerText()).toContain('It spends at most 0.5 ETH.');

    // A node that says that it reverted: the same button does not send it again.
    await page.route(/./, async (route) => {
      if (!route.request().postData()?.includes('"eth_getTransactionReceipt"')) return route.fallback();
      const answer = await route.fetch();
      return route.fulfill({
        response: answer,
        body: (await answer.text()).replace('"status":"0x1"', '"status":"0x0"'),
      });
    });
    await page.locator('#execute').click();
    await page.locator('#progress', { hasText: 'Something was sent' }).waitFor();
    expect(await page.locator('#execute').isDisabled()).toBe(true);
    await page.unroute(/./);
  });
});
