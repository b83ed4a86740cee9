import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { seededWallet } from '../../../devnet/seed/wallets.ts';
import { amount, leverage, ltv, minute, readable } from '../../../examples/app/src/copy/index.ts';
import { startChromium, whyNoChromium } from '../../support/chromium.ts';
import { equityVerbs } from '../../support/equity.ts';
import { type AppPage, openApp, previewed, textOf } from '../../support/example-app.ts';
import { type Json, PARTNER, startService, type TestService } from '../../support/service.ts';
import { marketOf } from '../leverage/support.ts';

const { address: looper } = seededWallet('looper').account;
const { address: speculator } = seededWallet('speculator').account;
const { address: shareholder } = seededWallet('shareholder').account;
const { address: stacker } = seededWallet('stacker').account;

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service?.stop());

const positionOf = async (wallet: string, chainId: number, id: number): Promise<Json> => {
  const { body } = await service.get(`/v1/partner/positions/${wallet}?chainId=${chainId}`, PARTNER);
  return body.positions.find((one: Json) => one.id === id);
};
const plain = (text: string) => text.replace(/\s+/g, ' ');

describe.skipIf(whyNoChromium !== null)('the actions of the example app', () => {
  let browser: Browser;
  let app: AppPage;
  let page: Page;
  beforeAll(async () => {
    browser = await startChromium();
    app = await openApp(browser, service);
    page = app.page;
  });
  afterAll(() => browser?.close());

  /** The cells of a row of the comparison: now and after. */
  const compared = async (name: string): Promise<readonly string[]> => {
    const row = page.locator('.compare tr', { has: page.getByRole('rowheader', { name, exact: true }) });
    return (await row.locator('td').allInnerTexts()).map(plain);
  };
  const act = (action: string, chainId = 1, id = 0, wallet = looper) =>
    app.show(`#/positions/${chainId}/${id}?action=${action}`, wallet);

  /** The wallet signs some transactions, and refuses the others until `window.allow()`. */
  const refuse = (after: number) =>
    page.evaluate(`{
      const { request } = window.ethereum;
      let sent = 0;
      window.ethereum.request = async (args) => {
        if (args.method === 'eth_sendTransaction' && sent++ >= ${after}) throw Object.assign(new Error('User rejected 0xdead'), { code: 4001 });
        return request(args);
      };
      window.allow = () => { window.ethereum.request = request; };
    }`);

  test('add: before and after, a review in words, steps, and the new numbers beside it', async () => {
    await act('add_collateral');
    await page.locator('#preview', { hasText: 'Enter an amount to see what it changes.' }).waitFor();
    const before = await positionOf(looper, 1, 0);
    await page.fill('#amount', '1,000');
    await previewed(page);
    const [now, after] = await compared('LTV');
    expect(now).toBe(plain(ltv(before.ltvPct)));
    expect(Number.parseFloat(after ?? '')).toBeLessThan(Number(before.ltvPct));
    expect((await compared('Collateral'))[0]).toBe(plain(amount(before.amountLeveragedCollateral, 'sUSDe')));
    await app.looksWell('app-add');
    expect(await app.review()).toBe('Adds at least 1,000 sUSDe of collateral to position 0.');
    expect(await page.locator('.steps li').allInnerTexts()).toEqual([
      expect.stringMatching(/Allow exactly 1,000\s+sUSDe/),
      expect.stringContaining('Add the collateral'),
    ]);
    await app.confirm();
    await page.locator('.head-of [data-ltv]', { hasText: after ?? '' }).waitFor();
    expect(plain(ltv((await positionOf(looper, 1, 0)).ltvPct))).toBe(after);
  });

  test('repay: a part, or the whole debt', async () => {
    await act('repay', 1, 3);
    await page.fill('#amount', '100');
    await previewed(page);
    expect(await app.review()).toMatch(/^Repays at least 100 USDT of the debt of position 3/);
    await page.check('#full');
    await previewed(page);
    expect(await compared('Debt')).toEqual([expect.stringContaining('USDT'), '0 USDT']);
    expect(await app.review()).toMatch(/^Repays the whole debt of position 3/);
    await app.confirm();
    expect((await positionOf(looper, 1, 3)).amountLoan).toBe('0');
  });

  test('increase and borrow: within what is safe', async () => {
    await act('increase_leverage');
    await page.fill('#leverage', '6');
    await previewed(page);
    expect((await compared('Leverage'))[1]).toBe('6.0x');
    expect(await app.review()).toMatch(/^Raises the leverage of position 0/);
    await app.confirm();
    await act('borrow');
    await page.locator('#amount-hand', { hasText: 'Safe' }).waitFor();
    await page.locator('button', { hasText: 'Max' }).click();
    await previewed(page);
    expect((await compared('LTV'))[1]).toMatch(/^90\.(4|50)/);
    await page.fill('#amount', '99,999,999');
    const refusal = page.locator('#preview [role=alert]');
    await refusal.waitFor();
    expect(await textOf(refusal)).toMatch(/^At most [\d,.]+ is possible now\. Enter a smaller amount\.$/);
    await page.fill('#amount', '20');
    await previewed(page);
    expect(await app.review()).toMatch(/^Borrows 20 PYUSD against position 0, to your wallet\./);
    await app.confirm();
  });

  test('withdraw: collateral comes out to the wallet', async () => {
    await act('remove_collateral');
    await page.fill('#amount', '10');
    await previewed(page);
    expect(await app.review()).toBe('Takes 10 sUSDe out of position 0, to your wallet.');
    await app.confirm();
  });

  test('lower: the ways with their costs; a sale and its repayment are two parts', async () => {
    await act('lower', 1, 2);
    await page.fill('#leverage', '5');
    await page.locator('.choice').first().waitFor();
    const { body: found } = await service.get(
      `/v1/partner/positions/${looper}/2/deleverage-options?chainId=1&targetLtvPct=80`,
      PARTNER,
    );
    expect(
      await page.locator('.choice').evaluateAll((all) => all.map((one) => one.getAttribute('data-option'))),
    ).toEqual(found.options.map(({ action }: Json) => action));
    for (const { action, steps } of found.options) {
      const [step] = steps;
      expect(plain(await textOf(page.locator(`[data-option=${action}]`)))).toContain(
        plain(amount(step.amount, step.symbol)),
      );
    }
    await page.locator('[data-option=close]').click();
    await previewed(page);
    expect((await compared('Leverage'))[1]).toBe('5.0x');
    await app.looksWell('app-lower');
    expect(await app.review()).toMatch(/^Sells [\d.]+ weETH of position 2/);
    await app.confirm();
    await page.locator('#second').click();
    await page.locator('#execute').waitFor();
    expect(await textOf(page.locator('.proof').last())).toMatch(
      /^Repays at least [\d.]+ WETH of the debt of position 2/,
    );
    await page.locator('#execute').click();
    await expect.poll(() => page.locator('.result .good').count()).toBe(2);
    expect((await positionOf(looper, 1, 2)).currentLeverage).toBe('5.0');
  });

  test('lower is offered first above the safe LTV, and a debt above the value of the collateral is said', async () => {
    const { body } = await service.get(`/v1/partner/positions/${speculator}`, PARTNER);
    const near = body.positions.find(({ ltvHeadroomPct }: Json) => Number(ltvHeadroomPct) <= 2);
    await app.show('#/positions', speculator);
    const card = page.locator(`[data-position="${near.positionId}"]`);
    expect(await textOf(card)).toMatch(
      /(Above the safe LTV|Close to its liquidation): it is liquidated when the price falls by/,
    );
    const message = 'The debt of 110 USDC is above the value of the collateral, 100 USDC.';
    await page.route('**/deleverage-options*', async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), underWater: { message } } });
    });
    await app.show(`#/positions/1/${near.id}`, speculator);
    await page.locator('.tab[aria-pressed=true]', { hasText: 'Lower' }).waitFor();
    await page.locator('[data-under-water]', { hasText: readable(message) }).waitFor();
    await app.looksWell('app-near');
    await page.unroute('**/deleverage-options*');
  });

  test('close: a part on one chain, and all of it on the other', async () => {
    await act('close');
    const before = await positionOf(looper, 1, 0);
    await page.fill('#share', '50');
    await page.locator('output', { hasText: '50 %' }).waitFor();
    await previewed(page);
    expect(await app.review()).toMatch(/^Sells [\d,.]+ sUSDe of position 0 .* repays the same share of its debt/);
    await app.confirm();
    const after = await positionOf(looper, 1, 0);
    expect(Number(after.amountLeveragedCollateral) / Number(before.amountLeveragedCollateral)).toBeCloseTo(0.5, 6);

    await act('close', 4663);
    await page.locator('#preview', { hasText: 'The position ends, and its debt is repaid.' }).waitFor();
    await previewed(page);
    expect(await app.review()).toMatch(/^Closes position 0 for at least [\d,.]+ USDG/);
    await app.confirm();
    await page.locator('.head-of .old', { hasText: 'closed' }).waitFor();
    expect((await positionOf(looper, 4663, 0)).status).toBe('closed');
    expect(await page.locator('.tab').count()).toBe(0);
  });

  test('vault: all of it or a part of its loops is left', async () => {
    await app.show('#/positions', shareholder);
    await page.locator('[data-vault] a', { hasText: 'Exit' }).click();
    await previewed(page);
    expect(await textOf(page.locator('.form [role=status]'))).toBe('Everything is sold and comes back to your wallet.');
    expect(await app.review()).toMatch(/^Closes position 0 .*Sells the whole stock leg of your wallet/);
    await app.looksWell('app-vault');

    await app.show('#/positions', stacker);
    await page.locator('[data-vault] a', { hasText: 'Exit' }).click();
    await previewed(page);
    const loops = page.locator('.form input:enabled');
    await loops.first().uncheck();
    await page.locator('.form [role=status]', { hasText: 'The loops that are not chosen stay open.' }).waitFor();
    await loops.last().uncheck();
    await page.locator('#preview', { hasText: 'Choose at least one loop' }).waitFor();
    await loops.last().check();
    await previewed(page);
    expect(await app.review()).toMatch(/^Closes position 0 (?!.*Closes).*Sells the whole stock leg of your wallet/);
    await app.confirm();
    await page.locator('.head-of', { hasText: 'Nothing is left in this vault.' }).waitFor();
    expect((await positionOf(stacker, 4663, 1)).status).toBe('open');
  });

  test('a step that the user refuses: what happened, and what comes next', async () => {
    await act('add_collateral', 1, 2);
    await page.fill('#amount', '1');
    await previewed(page);
    await app.review();
    await refuse(0);
    await page.locator('#execute').click();
    const refusal = page.locator('.result [role=alert]');
    await refusal.waitFor();
    expect(await textOf(refusal)).toBe(
      'You said no in the wallet. Nothing more is sent. Confirm again when you are ready.',
    );
    expect(await page.locator('.steps [data-state=failed]').count()).toBe(1);
    await app.looksWell('app-refused');
    // Nothing was sent: the same plan may be confirmed, here up to its second step.
    await page.evaluate('window.allow()');
    await refuse(1);
    await page.locator('#execute').click();
    await page.locator('.result [role=alert]', { hasText: 'The steps that are done stay done.' }).waitFor();
    expect(await page.locator('.steps [data-state=done]').count()).toBe(1);
    expect(await page.locator('#execute').count()).toBe(0);
    await page.evaluate('window.allow()');
    await page.locator('.result button', { hasText: 'Review again' }).click();
    await page.locator('#execute').waitFor();
    // What was allowed is not asked for again.
    expect(await page.locator('.steps li').count()).toBe(1);
    await app.confirm();
  });

  test('a batch that fails in between: the right that it has left is said, and taken back', async () => {
    const { id } = equityVerbs(service).vault('SPY');
    await app.show(`#/strategies/${id}?chainId=4663&amount=500&stockLtvPct=30`, looper);
    await previewed(page);
    await app.review();
    await refuse(2);
    await page.locator('#execute').click();
    await page.locator('.result [role=alert]', { hasText: 'The steps that are done stay done.' }).waitFor();
    expect(await page.locator('.steps [data-state=done]').count()).toBe(2);
    expect(await page.locator('.steps [data-state=failed]').count()).toBe(2);
    const left = page.locator('.note.warn', { hasText: 'The vault router may still act' });
    await left.waitFor();
    await app.looksWell('app-left');
    // It is there on the next visit too.
    await app.show('#/positions', looper);
    await left.locator('button').click();
    await page.locator('[role=status]', { hasText: 'The right is taken back.' }).waitFor();
    await app.show('#/positions', looper);
    expect(await left.count()).toBe(0);
  });

  test('a step that the chain refuses is not offered again', async () => {
    await act('add_collateral', 1, 2);
    await page.fill('#amount', '1');
    await previewed(page);
    await app.review();
    await page.route(/./, async (route) => {
      if (!route.request().postData()?.includes('"eth_getTransactionReceipt"')) return route.fallback();
      const answer = await route.fetch();
      return route.fulfill({
        response: answer,
        body: (await answer.text()).replace('"status":"0x1"', '"status":"0x0"'),
      });
    });
    await page.locator('#execute').click();
    const refusal = page.locator('.result [role=alert]');
    await refusal.waitFor();
    expect(await textOf(refusal)).toMatch(/^The chain refused the transaction.* Review it again/);
    expect(await page.locator('#execute').count()).toBe(0);
    await page.unroute(/./);
  });

  test('a payment that no oracle prices is proven by a price of the user', async () => {
    const { id } = marketOf(1, 'sUSDe/PYUSD 91.5');
    const asked = { payToken: `0x${'0'.repeat(40)}`, amount: '0.5', leverage: 2 };
    const { body } = await service.post('/v1/partner/leverage/simulate', { strategyId: id, ...asked }, PARTNER);
    await app.show(`#/strategies/${id}?chainId=1&payToken=${asked.payToken}&amount=0.5&leverage=2`);
    await previewed(page);
    expect(await page.inputValue('#leverage')).toBe('2');
    expect(await textOf(page.locator('.headline'))).toContain(`at ${leverage(2)}`);
    await page.locator('#build').click();
    await page.locator('#worth').fill('1e3');
    await page.keyboard.press('Enter');
    const form = page.locator('[aria-label="Worth of the payment"]');
    await form.locator('[role=alert]', { hasText: 'in digits' }).waitFor();
    expect(await textOf(form)).toContain('Worth of 0.5 ETH in sUSDe');
    await app.looksWell('app-worth');
    const worth = Number(body.positionPreview.amountLeveragedCollateral) / 2;
    await page.locator('#worth').fill(worth.toFixed(6));
    await page.keyboard.press('Enter');
    await page.locator('#execute').waitFor();
    expect(await textOf(page.locator('.review'))).toContain('Your wallet pays at most0.5 ETH');
  });

  test('a chain that does not answer hides only itself, and a service that does not is said', async () => {
    await page.route('**/v1/strategies?chainId=4663', (route) => route.abort());
    await app.show('');
    await page.locator('.note', { hasText: 'Robinhood Chain does not answer now' }).waitFor();
    expect(await page.locator('[data-strategy]').count()).toBeGreaterThan(10);
    await page.route('**/v1/strategies?chainId=1', (route) => route.abort());
    await app.show('');
    const refusal = page.locator('main [role=alert]');
    expect(await textOf(refusal)).toContain('The service does not answer. Check your connection, then try again.');
    await app.looksWell('app-failed');
    await page.unroute('**/v1/strategies?chainId=1');
    await page.unroute('**/v1/strategies?chainId=4663');
    await refusal.locator('button', { hasText: 'Try again' }).click();
    await page.locator('[data-strategy]').first().waitFor();
  });

  test('a connection that is lost says of when the rates are', async () => {
    await page.route('**/graphql', (route) =>
      route.request().postData()?.includes('StrategyChanges') ? route.abort() : route.fallback(),
    );
    await app.show('');
    await page.locator('#live', { hasText: 'Connection lost: the rates are of' }).waitFor();
    expect(await textOf(page.locator('#live'))).toContain(`of ${minute(service.clock.now())}.`);
    expect(await page.locator('[data-strategy]').count()).toBeGreaterThan(10);
    await page.unroute('**/graphql');
  });

  test('what is being read has a place, and a line without a past says so', async () => {
    let answer = () => {};
    const held = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await page.route('**/v1/strategies?chainId=1', async (route) => {
      await held;
      await route.fallback();
    });
    await page.route('**/graphql', (route) =>
      route.request().postData()?.includes('Histories') ? route.abort() : route.fallback(),
    );
    await page.goto('about:blank');
    await page.goto(`${service.url}/app/`);
    await page.locator('.loading').waitFor();
    await app.looksWell('app-loading');
    answer();
    await page.locator('[data-cell=history]', { hasText: 'none yet' }).first().waitFor();
    await page.unroute('**/graphql');
    await page.unroute('**/v1/strategies?chainId=1');
  });

  test('a stale source: the age is visible, and what must not be done with it is said', async () => {
    service.clock.advance(20 * 60_000);
    await app.show('', looper);
    const note = page.locator('[data-stale]');
    expect(await textOf(note)).toMatch(
      /^Rates \d+ minutes old\. A source does not answer; the last good values are shown\./,
    );
    expect(await page.locator('[data-field=age]:visible').first().innerText()).toMatch(/^\d+ minutes old$/);
    await app.looksWell('app-stale');
    await page.locator('[data-strategy] a', { hasText: 'sUSDe / PYUSD' }).click();
    await page.locator('[data-stale]', { hasText: 'minutes old' }).waitFor();
    const refusal = page.locator('#preview [role=alert]');
    await refusal.waitFor();
    expect(await textOf(refusal)).toMatch(/too old to act on\. Try again when they are fresh: nothing was sent\./);
    expect(await page.locator('#build').isDisabled()).toBe(true);
    await app.looksWell('app-stale-strategy');
  });

  test('sends requests to the service and its nodes only', () => {
    const unexpected = app.errors.filter((text) => !/status of (400|422|503)|ERR_FAILED/.test(text));
    expect({ leaving: app.leaving, unexpected }).toEqual({ leaving: [], unexpected: [] });
  });
});
