import type { Browser, Page } from 'playwright-core';
import { type Address, encodeFunctionData, erc20Abi, maxUint256 } from 'viem';
import type { HDAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { untouchedAccounts } from '../../../devnet/seed/accounts.ts';
import type { Timers } from '../../../src/shared/timers.ts';
import { LOOKS, look, picture, violationsOf } from '../../support/axe.ts';
import { type OpenedPage, openPage, startChromium, whyNoChromium } from '../../support/chromium.ts';
import { equityVerbs } from '../../support/equity.ts';
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
  let opened: OpenedPage;
  let page: Page;
  beforeAll(async () => {
    browser = await startChromium();
    const { chains } = await world();
    opened = await openPage(browser, service.url, [new URL(chains[0].rpcUrl).origin]);
    page = opened.page;
    await page.clock.setFixedTime(service.clock.now());
  });
  afterAll(() => browser?.close());

  const looksWell = async (name: string) => {
    for (const one of LOOKS) {
      await look(page, one);
      await picture(page, `${name}-${one.width}-${one.colorScheme}`);
      expect([one, await violationsOf(page)]).toEqual([one, []]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(one.width);
    }
  };
  /** Press Tab until an element has the focus. */
  const tabTo = async (selector: string) => {
    for (let step = 0; step < 80; step += 1) {
      await page.keyboard.press('Tab');
      if (await page.evaluate(`document.activeElement.matches(${JSON.stringify(selector)})`)) return;
    }
    throw new Error(`Tab does not reach ${selector}`);
  };
  const loaded = () => page.waitForSelector('main:not([aria-busy])');

  /** Below the form: groups with the end of the deposit in words, with right-aligned numbers on request. */
  const showsStress = async () => {
    const groups = page.locator('.stress details');
    await groups.first().waitFor();
    const { body } = await service.get(`/v1/strategies/${MARKET.id}/stress`);
    const { rows, dropToLiquidationPct, recordedMoves } = body.stress;
    const text = await page.locator('.stress > p').innerText();
    expect(text).toContain(`Liquidated after a price fall of ${dropToLiquidationPct} %.`);
    expect(text).toContain(`raised an LTV by ${recordedMoves[2].worstLtvRisePct} %, which it would survive`);
    // Every scenario but today's is in one group.
    expect(await groups.locator('tbody tr').count()).toBe(rows.length - 1);
    const ended = rows.find(
      ({ scenario, endsBy }: Json) => scenario === 'COLLATERAL_PRICE' && endsBy === 'LIQUIDATION',
    );
    const [falls] = await groups.locator('summary').all();
    expect(await falls?.innerText()).toContain(`liquidation from −${-Number(ended.changePct)} % on`);
    await falls?.click();
    expect(await page.evaluate("getComputedStyle(document.querySelector('.numbers td')).textAlign")).toBe('right');
    const top = (selector: string) =>
      page.evaluate(`document.querySelector('${selector}').getBoundingClientRect().top`);
    expect(Number(await top('#build'))).toBeLessThan(Number(await top('.stress')));
  };

  test('lists the strategies of both chains, with live rates', async () => {
    await page.goto(`${service.url}/app/`);
    await page.locator('[role=status]', { hasText: 'Live rates.' }).waitFor();
    const { body: one } = await service.get('/v1/strategies?chainId=1');
    const { body: other } = await service.get('/v1/strategies?chainId=4663');
    expect(await page.locator('.card').count()).toBe(one.count + other.count);
    const card = page.locator(`[data-strategy="${MARKET.id}"]`);
    const before = one.strategies.find(({ id }: { id: string }) => id === MARKET.id);
    expect(await card.locator('[data-field=apy]').innerText()).toBe(`${before.defaultLeverage.leverageApyPct} %`);
    await looksWell('app-strategies');
  });

  test('previews, builds, proves and executes a position by keyboard, on a phone', async () => {
    await look(page, { colorScheme: 'dark', width: 390 });
    await page.selectOption('#account', account.address);
    await loaded();
    await tabTo(`[data-strategy="${MARKET.id}"] a`);
    await page.keyboard.press('Enter');
    await page.waitForSelector('#preview:not([aria-busy])');
    await page.locator('.chart polyline').nth(1).waitFor();
    expect(await page.locator('.legend li').allInnerTexts()).toHaveLength(2);
    await showsStress();
    const before = await page.locator('#preview').innerText();
    await tabTo('#leverage');
    // The form may repeat its request and drop the first one: the service is sent an equal request, and the page is checked by
    // its content.
    const simulated = page.waitForRequest((request) => request.url().endsWith('/v1/partner/leverage/simulate'));
    await page.keyboard.press('ArrowRight');
    const { body } = await service.post('/v1/partner/leverage/simulate', (await simulated).postDataJSON(), PARTNER);
    const { positionPreview } = body;
    await page.locator('#preview', { hasText: positionPreview.expectedLeverageApy }).waitFor();
    expect(await page.locator('#preview').innerText()).not.toBe(before);

    // A plan that no longer fits the form is gone.
    await page.click('#build');
    await page.locator('#execute').waitFor();
    await page.locator('#leverage').focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowLeft');
    expect(await page.locator('#execute').count()).toBe(0);
    await tabTo('#build');
    await page.keyboard.press('Enter');
    await page.locator('#execute').waitFor();
    const proof = await page.locator('#proof').innerText();
    expect(proof).toMatch(/Opens a position of 0x[0-9a-fA-F]{40} with 1000 PYUSD/);
    expect(proof).toContain('spends at most 1000 PYUSD');
    await looksWell('app-open');
    await tabTo('#execute');
    await page.keyboard.press('Enter');
    await page.locator('#progress', { hasText: 'Done.' }).waitFor();

    const position = await partnerOn(service, 1, account).position(MARKET, 0);
    expect(position.open).toBe(true);
    expect(position.ltvPct.toNumber()).toBeCloseTo(Number(positionPreview.effectiveLtv), 1);
  });

  test('shows the position with its health, reads it again when it changes, and closes it', async () => {
    await tabTo('a[href="#/positions"]');
    await page.keyboard.press('Enter');
    await page.locator('[data-position]').waitFor();
    await page.locator('[role=status]', { hasText: 'Live.' }).waitFor();
    const { body } = await service.get(`/v1/partner/positions/${account.address}`, PARTNER);
    const [shown] = body.positions;
    expect(await page.locator('.health').innerText()).toContain(
      `LTV ${shown.ltvPct} %, liquidated at ${shown.liquidationLtvPct} %: safe.`,
    );
    await looksWell('app-positions');

    await page.locator('[data-position] a', { hasText: 'Close' }).focus();
    await page.keyboard.press('Enter');
    await page.locator('#build').click();
    await page.locator('#execute').waitFor();
    expect(await page.locator('#proof').innerText()).toMatch(/Closes/);
    await looksWell('app-close');
    await page.locator('#execute').click();
    await page.locator('#progress', { hasText: 'Done.' }).waitFor();
    expect((await partnerOn(service, 1, account).position(MARKET, 0)).open).toBe(false);
    await page.locator('a', { hasText: 'To the positions' }).click();
    await page.locator('#positions', { hasText: 'no open position' }).waitFor();
  });

  /** Build the plan of a link, and execute it. Returns its proof. */
  const runLink = async (request: Readonly<Record<string, string | number>>): Promise<string> => {
    const query = Object.entries({ userAddress: account.address, ...request }).map(
      ([name, value]) => `${name}=${value}`,
    );
    await page.goto(`${service.url}/app/#/sign?${query.join('&')}`);
    await page.locator('#build').click();
    await page.locator('#execute').waitFor();
    const proof = await page.locator('#proof').innerText();
    await page.locator('#execute').click();
    await page.locator('#progress', { hasText: 'Done.' }).waitFor();
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
      [{ action: 'add_collateral', payToken: collateral, amount: '10' }, /Adds at least 10 sUSDe/],
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
      await page.goto(`${service.url}/app/#/sign?chainId=1&action=close&id=${id}&userAddress=${account.address}`);
      await page.reload();
      await page.locator('#build').click();
      await page.locator('.plan [role=alert]', { hasText: /not proven|wrong|chain/ }).waitFor();
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
    await page.goto(`${service.url}/app/${link.hash}`);
    await page.waitForSelector('#preview:not([aria-busy])');
    expect(await page.inputValue('#amount')).toBe('250');
    expect(await page.inputValue('#leverage')).toBe('2.55');
    const built = page.waitForRequest((request) => request.url().endsWith('/v1/partner/leverage/build'));
    await page.click('#build');
    expect((await built).postDataJSON()).toMatchObject(body);
    await page.locator('#execute').waitFor();
  });

  test('names the fault of a link, and shows markup in hostile names as text', async () => {
    await page.goto(`${service.url}/app/#/sign?action=close&userAddress=0x1`);
    await page.locator('[role=alert]', { hasText: 'not in the local world' }).waitFor();
    await page.goto(`${service.url}/app/#/nowhere`);
    await page.locator('[role=alert]', { hasText: 'no view at /nowhere' }).waitFor();
    await page.goto(`${service.url}/app/#/strategies/${encodeURIComponent('<img src=x onerror=alert(1)>')}`);
    await page.locator('[role=alert]').waitFor();
    expect(await page.locator('main img').count()).toBe(0);
  });

  test('shows a change that the service pushes, without a reload', async () => {
    // Changes are gathered by the clock.
    service.clock.release();
    await page.goto(`${service.url}/app/`);
    await page.locator('[role=status]', { hasText: 'Live rates.' }).waitFor();
    const field = page.locator(`[data-strategy="${MARKET.id}"] [data-field=liquidity]`);
    const before = await field.innerText();
    await drain(service, MARKET, '1000000');
    await service.refresh('lending-state:1');
    const dollars = new Intl.NumberFormat('en', { style: 'currency', currency: 'USD', maximumFractionDigits: 0 });
    // The clock runs, so the figure of the service may go on while the page is looked at.
    const figures = async () => {
      const { body } = await service.get(`/v1/strategies/${MARKET.id}`);
      const [served, shown] = [dollars.format(Number(body.liquidityUsd)), await field.innerText()];
      return { isNew: shown !== before, isServed: shown === served };
    };
    await expect.poll(figures).toEqual({ isNew: true, isServed: true });
  });

  test('sends requests to the service and its nodes only', () => {
    const unexpected = opened.errors.filter((text) => !/status of 40[04]/.test(text));
    expect({ leaving: opened.leaving, unexpected }).toEqual({ leaving: [], unexpected: [] });
  });
});
