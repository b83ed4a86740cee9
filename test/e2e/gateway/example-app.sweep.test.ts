import type { Browser, Page } from 'playwright-core';
import { type Address, encodeFunctionData, erc20Abi, maxUint256 } from 'viem';
import type { HDAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { untouchedAccounts } from '../../../devnet/seed/accounts.ts';
import { day, percent, usd } from '../../../examples/app/src/copy/index.ts';
import type { Timers } from '../../../src/shared/timers.ts';
import { look } from '../../support/axe.ts';
import { startChromium, whyNoChromium } from '../../support/chromium.ts';
import { equityVerbs } from '../../support/equity.ts';
import { type AppPage, loaded, openApp, previewed, textOf } from '../../support/example-app.ts';
import { type Json, PARTNER, startService, type TestService } from '../../support/service.ts';
import { drain, marketOf, partnerOn } from '../leverage/support.ts';

const MARKET = marketOf(1, 'sUSDe/PYUSD 91.5');
const [account] = untouchedAccounts as [HDAccount];

let service: TestService;
let browser: Browser;
beforeAll(async () => {
  // The service gathers changes for a moment before it sends them; no other timer fires.
  const timers: Timers = {
    setTimeout: (callback, ms) => (ms > 200 ? null : setTimeout(callback, ms)),
    clearTimeout: (handle) => clearTimeout(handle as NodeJS.Timeout),
  };
  service = await startService({ env: { APP_URL: 'http://app.example/app/#' }, timers });
});
afterAll(() => service?.stop());

/** Calldata of an approval of everything. */
const approvalOf = (spender: string) =>
  encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [spender as Address, maxUint256] });

const world = async () => (await service.get('/app/world.json')).body;

describe('GET /app/', () => {
  test('is a page of the local world, which the home page names', async () => {
    const { status, headers } = await service.get('/app/');
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    const { chains } = await world();
    const { origin } = new URL(chains[0].rpcUrl);
    expect(headers.get('content-security-policy')).toContain(`connect-src 'self' ${origin};`);
    expect(headers.get('content-security-policy')).not.toContain('unsafe');
    expect((await service.get('/')).text).toContain('href="app/"');
    expect((await service.get('/app/uplot.css')).headers.get('content-type')).toBe('text/css; charset=utf-8');
    const moved = await service.get('/app?x=1');
    expect([moved.status, moved.headers.get('location')]).toEqual([308, './app/?x=1']);
  });

  test('its wallet reaches the nodes from pages of this machine only, and with few methods', async () => {
    const { chains } = await world();
    const ask = (method: string, origin: string) =>
      fetch(chains[0].rpcUrl, {
        method: 'POST',
        headers: origin === '' ? {} : { origin },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [] }),
      });
    const answer = await ask('eth_chainId', service.url);
    expect(await answer.json()).toMatchObject({ result: '0x1' });
    expect(answer.headers.get('access-control-allow-origin')).toBe(service.url);
    for (const origin of ['', 'https://evil.example', 'http://127.0.0.1.evil.example', 'null']) {
      const refused = await ask('eth_chainId', origin);
      expect([origin, refused.status]).toEqual([origin, 403]);
      expect(refused.headers.get('access-control-allow-origin')).toBeNull();
    }
    for (const method of ['anvil_setBalance', 'evm_mine', 'eth_sign', 'personal_sign']) {
      expect([method, (await ask(method, service.url)).status]).toEqual([method, 403]);
    }
  });
});

describe('GET /app/world.json', () => {
  test('is read by pages of the service only', async () => {
    const { host } = new URL(service.url);
    for (const headers of [
      { origin: 'http://127.0.0.1:3000' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'cross-site' },
    ]) {
      expect((await service.get('/app/world.json', headers)).status).toBe(404);
    }
    for (const headers of [{}, { origin: `http://${host}` }, { 'sec-fetch-site': 'same-origin' }]) {
      expect((await service.get('/app/world.json', headers)).status).toBe(200);
    }
  });
});

describe.skipIf(whyNoChromium !== null)(`example app${whyNoChromium === null ? '' : ` (${whyNoChromium})`}`, () => {
  let app: AppPage;
  let page: Page;
  beforeAll(async () => {
    browser = await startChromium();
    app = await openApp(browser, service);
    page = app.page;
  });
  afterAll(() => browser?.close());

  const rows = () => page.locator('[data-strategy]:visible');
  const rowOf = (id: string) => page.locator(`[data-strategy="${id}"]`);

  test('lists the strategies of both chains as a table with live rates and a past of 30 days', async () => {
    await page.locator('#live', { hasText: 'Live rates' }).waitFor();
    const { body: one } = await service.get('/v1/strategies?chainId=1');
    const { body: other } = await service.get('/v1/strategies?chainId=4663');
    expect(await rows().count()).toBe(one.count + other.count);
    const before = one.strategies.find(({ id }: Json) => id === MARKET.id);
    const { leverageApyPct, leverage } = before.defaultLeverage;
    expect(await textOf(rowOf(MARKET.id).locator('[data-cell=apy]'))).toBe(
      `up to ${Number(leverageApyPct).toFixed(1)} % at ${leverage}x`,
    );
    await rowOf(MARKET.id).locator('polyline').waitFor();
    const lines = await page
      .locator('[data-strategy] polyline')
      .evaluateAll((all) => all.map((line) => line.getAttribute('points')));
    // A past of its own for each, not one shape for all.
    expect(new Set(lines).size).toBeGreaterThan(lines.length / 2);
    expect(lines[0]?.split(' ').length).toBeGreaterThanOrEqual(28);
    await app.looksWell('app-strategies');
  });

  test('searches, filters and sorts the table', async () => {
    const all = await rows().count();
    await page.fill('#search', 'susde pyusd');
    expect(await rows().evaluateAll((found) => found.map((row) => row.getAttribute('data-strategy')))).toEqual([
      MARKET.id,
    ]);
    await page.fill('#search', 'nothing has this name');
    await page.locator('.empty', { hasText: 'No strategy fits' }).waitFor();
    await page.fill('#search', '');
    await page.selectOption('#chain', '4663');
    const { body: other } = await service.get('/v1/strategies?chainId=4663');
    expect(await rows().count()).toBe(other.count);
    await page.selectOption('#category', 'Stocks');
    expect(await rows().count()).toBe(
      other.strategies.filter(({ collateral }: Json) => collateral.category === 'stocks').length,
    );
    await page.selectOption('#category', '');
    await page.selectOption('#chain', '');
    const negative = await page.locator('[data-field=apy].down').count();
    expect(negative).toBeGreaterThan(0);
    await page.check('#positive');
    expect(await rows().count()).toBe(all - negative);
    expect(await textOf(page.locator('#count'))).toBe(`${all - negative} of ${all} strategies`);
    await page.selectOption('#order', 'borrow');
    const rates = await page.locator('[data-field=borrow]').allInnerTexts();
    const numbers = rates.map((rate) => Number(rate.replace('−', '-').split(/\s/)[0]));
    expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
    await page.uncheck('#positive');
    await page.selectOption('#order', 'apy');
  });

  test('one leverage leads headline, form, bad days and past; by keyboard, on a phone', async () => {
    await look(page, { colorScheme: 'dark', width: 390 });
    await page.selectOption('#account', account.address);
    await loaded(page);
    await app.tabTo(`[data-strategy="${MARKET.id}"] a`);
    await page.keyboard.press('Enter');
    await previewed(page);
    await page.locator('[data-stress]', { hasText: 'at 3.0x' }).waitFor();
    await app.tabTo('#leverage');
    // The form may repeat its request and drop the first one: the service is sent an equal request, and the page is checked by
    // its content.
    const simulated = page.waitForRequest((request) => request.url().endsWith('/v1/partner/leverage/simulate'));
    await page.keyboard.press('ArrowRight');
    const { body } = await service.post('/v1/partner/leverage/simulate', (await simulated).postDataJSON(), PARTNER);
    const { positionPreview } = body;
    const rate = `${Number(positionPreview.expectedLeverageApy).toFixed(1)} %`;
    await page.locator('#preview', { hasText: `${positionPreview.effectiveLtv} %` }).waitFor();
    await page.locator('[data-stress]', { hasText: 'at 3.1x' }).waitFor();
    await page.locator('.key', { hasText: 'Net APY at 3.1x' }).waitFor();
    expect(await textOf(page.locator('.headline'))).toBe(`${rate} net APY at 3.1x`);
    const drop = `${Number(positionPreview.liquidation.dropPct).toFixed(1)} %`;
    expect(await textOf(page.locator('#preview'))).toContain(drop);
    expect(await textOf(page.locator('[data-stress]'))).toContain(`falls by ${drop}.`);

    // Every scenario but today's is in one group, with right-aligned numbers on request.
    const { stress } = (await service.get(`/v1/strategies/${MARKET.id}/stress?leverage=3.1`)).body;
    const groups = page.locator('.stress details');
    expect(await groups.locator('tbody tr').count()).toBe(stress.rows.length - 1);
    await groups.first().locator('summary').click();
    expect(await page.evaluate("getComputedStyle(document.querySelector('.numbers td')).textAlign")).toBe('right');
    await groups.first().locator('summary').click();

    // The value of a day by the arrow keys.
    const readout = page.locator('.readout');
    const last = await textOf(readout);
    await page.locator('.chart').focus();
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    expect(await textOf(readout)).not.toBe(last);
    // And of the first day under the pointer.
    await page.locator('.u-over').hover({ position: { x: 1, y: 40 } });
    const first = (await service.get(`/v1/strategies/${MARKET.id}/leveraged-apy-history?leverage=3.1&days=90`)).body;
    const [{ ts, apy }] = first.history;
    await expect.poll(() => textOf(readout)).toBe(`${day(ts)}Net APY at 3.1x ${percent(apy).replace(/\s/, ' ')}`);
    await app.looksWell('app-strategy');
  });

  test('reads amounts as people write them', async () => {
    const fault = page.locator('#amount-fault');
    await page.fill('#amount', '1,000');
    const request = page.waitForRequest((one) => one.url().endsWith('/v1/partner/leverage/simulate'));
    await page.locator('#amount').press('End');
    await page.locator('#amount').pressSequentially('.5');
    expect((await request).postDataJSON().amount).toMatch(/^1000(\.5)?$/);
    await page.fill('#amount', '1,5');
    expect(await textOf(fault)).toBe('It is not clear what 1,5 means: write 1.5 or 15.');
    expect(await page.locator('#build').isDisabled()).toBe(true);
    await app.looksWell('app-amount');
    await page.fill('#amount', '');
    expect(await textOf(fault)).toBe('');
    await page.locator('#preview', { hasText: 'Enter an amount' }).waitFor();
    await page.fill('#amount', '999,999,999');
    await page.locator('#amount-fault', { hasText: 'Your balance is' }).waitFor();
    await page.fill('#amount', '1,000');
    await previewed(page);
  });

  test('previews, builds, proves and executes a position by keyboard', async () => {
    // A plan that no longer fits the form is gone.
    await app.review();
    await page.locator('#leverage').focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowLeft');
    expect(await page.locator('#execute').count()).toBe(0);
    await previewed(page);
    await page.locator('#leverage').focus();
    await app.tabTo('#build');
    await page.keyboard.press('Enter');
    await page.locator('#execute').waitFor();
    expect(await textOf(page.locator('.proof'))).toMatch(/Opens a position with 1,000 PYUSD: it borrows [\d,.]+ PYUSD/);
    const review = await textOf(page.locator('.review'));
    expect(review).toContain('Your wallet pays at most1,000 PYUSD');
    // Names, not addresses.
    expect(review).toContain('The leverage router may take 1,000 PYUSD: it ends with step 2.');
    expect(review).not.toMatch(/0x[0-9a-fA-F]{6}/);
    expect(await page.locator('.steps li').allInnerTexts()).toEqual([
      expect.stringContaining('Allow exactly 1,000'),
      expect.stringContaining('Open the position'),
    ]);
    await app.looksWell('app-review');
    await app.tabTo('#execute');
    await page.keyboard.press('Enter');
    await page.locator('.result .good', { hasText: 'Done.' }).waitFor();
    expect(await page.locator('.steps [data-state=done]').count()).toBe(2);
    const position = await partnerOn(service, 1, account).position(MARKET, 0);
    expect(position.open).toBe(true);
    await page.locator('.result a').click();
    await page.locator('#value').waitFor();
  });

  test('shows the position with its health, and closes it', async () => {
    await app.tabTo('a[href="#/positions"]');
    await page.keyboard.press('Enter');
    await page.locator('[data-position]').waitFor();
    await page.locator('#live', { hasText: /^Live$/ }).waitFor();
    const { body } = await service.get(`/v1/partner/positions/${account.address}`, PARTNER);
    const [shown] = body.positions;
    const card = await textOf(page.locator('[data-position]'));
    expect(card).toContain(`LTV ${shown.ltvPct} %`);
    expect(card).toContain(`Liquidation ${shown.liquidationLtvPct} %`);
    expect(card).toMatch(/Safe: it is liquidated when the price falls by [\d.]+ %\./);
    await app.looksWell('app-positions');

    await page.locator('[data-position] a', { hasText: 'Close' }).focus();
    await page.keyboard.press('Enter');
    expect(await app.review()).toMatch(/Closes position 0 for at least [\d,.]+ PYUSD/);
    await app.looksWell('app-close');
    await app.confirm();
    expect((await partnerOn(service, 1, account).position(MARKET, 0)).open).toBe(false);
    await page.locator('.result a').click();
    await page.locator('.empty', { hasText: 'no open position' }).waitFor();
    await app.looksWell('app-empty');
  });

  /** Build the plan of a link, and execute it. Returns its proof. */
  const runLink = async (request: Readonly<Record<string, string | number>>): Promise<string> => {
    const query = Object.entries({ userAddress: account.address, ...request }).map(
      ([name, value]) => `${name}=${value}`,
    );
    await app.show(`#/sign?${query.join('&')}`);
    const proof = await app.review();
    await app.confirm();
    return proof;
  };
  const [loan, collateral] = [MARKET.loan.address, MARKET.collateral.address];

  test('proves and executes every other action, and a deposit into a vault with its exit', async () => {
    const partner = partnerOn(service, 1, account);
    const id = await partner.nextId();
    const open = { strategyId: MARKET.id, payToken: collateral, amount: '1000', leverage: 3 };
    await partner.send(await partner.build('/v1/partner/leverage/build', { ...open, userAddress: account.address }));
    const of = { chainId: 1, id };
    for (const [request, sentence] of [
      [{ action: 'increase_leverage', leverage: 4 }, /Raises the leverage of position/],
      [{ action: 'add_collateral', payToken: collateral, amount: '10' }, /Adds at least [\d.]+ sUSDe/],
      [{ action: 'remove_collateral', amount: '10' }, /Takes 10 sUSDe out of position/],
      [{ action: 'borrow', amount: '20' }, /Borrows 20 PYUSD against position/],
      [{ action: 'repay', payToken: loan, amount: '25' }, /Repays at least 25 PYUSD of the debt/],
      [{ action: 'repay', payToken: loan, full: 'true' }, /Repays the whole debt of position/],
      [{ action: 'close' }, /Closes position/],
    ] as const) {
      expect(await runLink({ ...of, ...request })).toMatch(sentence);
    }
    expect((await partner.position(MARKET, id)).open).toBe(false);
    const vault = equityVerbs(service).vault('SPY');
    await equityVerbs(service).fund(account.address, vault, 1_000_000_000n);
    const deposit = { chainId: 4663, action: 'equity_deposit', strategyId: vault.id, amount: 500, stockLtvPct: 30 };
    expect(await runLink(deposit)).toMatch(/Deposits 500 USDG into a vault/);
    const exit = { chainId: 4663, action: 'equity_exit', strategyId: vault.id };
    expect(await runLink(exit)).toMatch(/Sells the whole stock leg/);
  });

  test('refuses a plan that was changed on its way, and does not offer to execute it', async () => {
    const partner = partnerOn(service, 1, account);
    const id = await partner.nextId();
    const open = { strategyId: MARKET.id, payToken: collateral, amount: '500', leverage: 3 };
    await partner.send(await partner.build('/v1/partner/leverage/build', { ...open, userAddress: account.address }));
    const stranger = untouchedAccounts[1]?.address ?? '';
    const lies: readonly (readonly [string, (plan: Json) => Json])[] = [
      [
        'calldata',
        ({ tx, ...plan }) => ({ ...plan, tx: { ...tx, data: `${tx.data.slice(0, 73)}9${tx.data.slice(74)}` } }),
      ],
      ['recipient', ({ tx, ...plan }) => ({ ...plan, tx: { ...tx, to: stranger } })],
      ['value', ({ tx, ...plan }) => ({ ...plan, tx: { ...tx, value: '1000000000000000000' } })],
      ['chain', (plan) => ({ ...plan, chainId: 4663 })],
      [
        'one more call',
        (plan) => ({ ...plan, approvals: [...plan.approvals, { to: loan, data: approvalOf(stranger), value: '0' }] }),
      ],
    ];
    for (const [what, change] of lies) {
      await page.route('**/v1/partner/manage/build', async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, json: change(await response.json()) });
      });
      await app.show(`#/sign?chainId=1&action=close&id=${id}&userAddress=${account.address}`);
      await page.locator('#build:not([disabled])').click();
      const refusal = page.locator('#plan [role=alert]');
      await refusal.waitFor();
      // A sentence and a next step, without the words of programs.
      expect(await textOf(refusal)).toMatch(
        /^(This plan is not proven|Your wallet is on the wrong chain|The service sent a plan|There is no contract).*\./,
      );
      expect(await textOf(refusal)).not.toMatch(/0x|calldata|Error/);
      expect([what, await page.locator('#execute').count()]).toEqual([what, 0]);
      await page.unroute('**/v1/partner/manage/build');
    }
    expect((await partner.position(MARKET, id)).open).toBe(true);
  });

  test('opens the link of a plan with the same request', async () => {
    const open = { strategyId: MARKET.id, payToken: loan, amount: '250', leverage: 2.55 };
    const limits = { slippage: 0.003, maxSwapLossPct: 1, minAmountOut: '150' };
    const body = { ...open, ...limits, userAddress: account.address };
    const { body: bundle } = await service.post('/v1/partner/leverage/build', body, PARTNER);
    const link = new URL(bundle.meta.signingUrl);
    expect(link.origin + link.pathname).toBe('http://app.example/app/');
    await app.show(link.hash);
    await previewed(page);
    expect(await textOf(page.locator('form.form'))).toContain('The link asks for a slippage of at most 0.3 %');
    expect(await page.inputValue('#amount')).toBe('250');
    expect(await page.inputValue('#leverage')).toBe('2.55');
    const built = page.waitForRequest((request) => request.url().endsWith('/v1/partner/leverage/build'));
    await page.click('#build');
    expect((await built).postDataJSON()).toMatchObject(body);
    await page.locator('#execute').waitFor();
  });

  test('names the fault of a link, and shows markup in hostile names as text', async () => {
    await app.show('#/sign?action=close&userAddress=0x1');
    await page.locator('[role=alert]', { hasText: 'not in the local world' }).waitFor();
    await app.show('#/nowhere');
    await page.locator('[role=alert]', { hasText: 'no page at /nowhere' }).waitFor();
    await app.looksWell('app-nowhere');
    await app.show(`#/strategies/${encodeURIComponent('<img src=x onerror=alert(1)>')}`);
    await page.locator('[role=alert]', { hasText: 'There is no such strategy.' }).waitFor();
    expect(await page.locator('main img').count()).toBe(0);
  });

  test('shows a change that the service pushes, without a reload', async () => {
    // Changes are gathered by the clock.
    service.clock.release();
    await app.show('');
    await page.locator('#live', { hasText: 'Live rates' }).waitFor();
    const field = page.locator(`[data-strategy="${MARKET.id}"] [data-field=liquidity]`);
    const before = await field.innerText();
    await drain(service, MARKET, '1000000');
    await service.refresh('lending-state:1');
    // The clock runs, so the figure of the service may go on while the page is looked at.
    const figures = async () => {
      const { body } = await service.get(`/v1/strategies/${MARKET.id}`);
      const [served, shown] = [usd(body.liquidityUsd), await field.innerText()];
      return { isNew: shown !== before, isServed: shown === served };
    };
    await expect.poll(figures).toEqual({ isNew: true, isServed: true });
  });

  test('sends requests to the service and its nodes only', () => {
    const unexpected = app.errors.filter((text) => !/status of 4(00|04|22)/.test(text));
    expect({ leaving: app.leaving, unexpected }).toEqual({ leaving: [], unexpected: [] });
  });
});
