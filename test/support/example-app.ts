import type { Browser, Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { LOOKS, look, picture, violationsOf } from './axe.ts';
import { type OpenedPage, openPage } from './chromium.ts';
import type { TestService } from './service.ts';

/** The example app in a browser. */
export interface AppPage extends OpenedPage {
  /** Open a place of the app anew, e.g. `#/positions`, as a wallet. */
  show(place: string, account?: string): Promise<void>;
  /** Review the request of the form, and return what its plan does. */
  review(): Promise<string>;
  /** Confirm the reviewed plan, and wait until it is done. */
  confirm(): Promise<void>;
  /** The page is accessible and fits in every look. */
  looksWell(name: string): Promise<void>;
  /** Press Tab until an element has the focus. */
  tabTo(selector: string): Promise<void>;
}

/** Text as it is read: blanks that do not break are blanks. */
export const textOf = async (locator: Locator): Promise<string> =>
  ((await locator.textContent()) ?? '').replace(/\s+/g, ' ');

export async function openApp(browser: Browser, service: TestService): Promise<AppPage> {
  const { chains } = (await service.get('/app/world.json')).body;
  const opened = await openPage(browser, service.url, [new URL(chains[0].rpcUrl).origin]);
  const { page } = opened;
  await page.clock.setFixedTime(service.clock.now());
  const app: AppPage = {
    ...opened,
    async show(place, account) {
      // The service may have a later time by now.
      await page.clock.setFixedTime(service.clock.now());
      // A fragment alone would not load the page again.
      await page.goto('about:blank');
      await page.goto(`${service.url}/app/${place}`);
      if (account !== undefined) await page.selectOption('#account', account);
      await loaded(page);
    },
    async review() {
      await page.locator('#build:not([disabled])').click();
      await page.locator('#execute').waitFor();
      return textOf(page.locator('.proof').last());
    },
    async confirm() {
      await page.locator('#execute').click();
      await page.locator('.result .good').last().waitFor();
    },
    async looksWell(name) {
      for (const one of LOOKS) {
        await look(page, one);
        await picture(page, `${name}-${one.width}-${one.colorScheme}`);
        expect([one, await violationsOf(page)]).toEqual([one, []]);
        expect([one, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([one, one.width]);
      }
    },
    async tabTo(selector) {
      for (let step = 0; step < 120; step += 1) {
        await page.keyboard.press('Tab');
        if (await page.evaluate(`document.activeElement.matches(${JSON.stringify(selector)})`)) return;
      }
      throw new Error(`Tab does not reach ${selector}`);
    },
  };
  await app.show('');
  return app;
}

export const loaded = (page: Page) => page.waitForSelector('main:not([aria-busy])');
/** The preview of the form is that of its present values. */
export const previewed = (page: Page) => page.waitForSelector('#build:not([disabled])');
