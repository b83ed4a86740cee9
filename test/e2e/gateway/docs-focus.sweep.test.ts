import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LOOKS, look } from '../../support/axe.ts';
import { openPage, startChromium, whyNoChromium } from '../../support/chromium.ts';
import { focusStops } from '../../support/focus.ts';
import { startService, type TestService } from '../../support/service.ts';

describe.skipIf(whyNoChromium !== null)(
  `the focus in /docs${whyNoChromium === null ? '' : ` (${whyNoChromium})`}`,
  () => {
    let service: TestService;
    let browser: Browser;
    beforeAll(async () => {
      [service, browser] = await Promise.all([startService(), startChromium()]);
    });
    afterAll(async () => {
      await browser?.close();
      await service?.stop();
    });

    test.each(LOOKS)('is seen at every control, $colorScheme at $width px', async (one) => {
      const { page } = await openPage(browser, service.url);
      await look(page, one);
      await page.goto(`${service.url}/docs`);
      const operation = one.width === 390 ? page.locator('summary') : page.locator('nav .nav-bar-path');
      const opened = operation.filter({ hasText: 'Preview opening a leveraged position' }).first();
      await opened.click();
      await page.getByRole('button', { name: 'Execute' }).first().waitFor();
      const stops = await focusStops(page);
      expect(stops.length).toBeGreaterThan(40);
      // A line of 1 px around half of the control, at the least.
      const unseen = stops.filter(({ changed, perimeter }) => changed < perimeter / 2);
      expect(unseen).toEqual([]);
      await page.close();
    });
  },
);
