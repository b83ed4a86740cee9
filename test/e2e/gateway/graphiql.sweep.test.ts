import type { Browser, Page, Request, Response } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { STARTER_QUERIES } from '../../../src/schema/common/starters.ts';
import { EXAMPLES } from '../../../src/schema/examples.ts';
import { LOOKS, look, picture, violationsOf } from '../../support/axe.ts';
import { type OpenedPage, openPage, startChromium, whyNoChromium } from '../../support/chromium.ts';
import { OPS, PARTNER, startService, type TestService } from '../../support/service.ts';

const nameOf = ({ query }: { readonly query: string }) => /(?:query|mutation|subscription) (\w+)/.exec(query)?.[1];

let service: TestService;
let browser: Browser;
let opened: OpenedPage;
let page: Page;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service?.stop());

describe.skipIf(whyNoChromium !== null)(
  `GraphiQL in Chromium${whyNoChromium === null ? '' : ` (${whyNoChromium})`}`,
  () => {
    beforeAll(async () => {
      browser = await startChromium();
      opened = await openPage(browser, service.url);
      page = opened.page;
      await page.goto(`${service.url}/graphql`);
      await page.locator('.graphiql-execute-button').waitFor();
    });
    afterAll(async () => {
      await browser?.close();
    });

    test('opens with a starter in each tab, an answer, the documentation, and no worker', async () => {
      const tabs = await page.locator('.graphiql-tab').allInnerTexts();
      expect(tabs.map((text) => text.trim())).toEqual(STARTER_QUERIES.map(nameOf));
      await expect.poll(() => page.locator('.graphiql-query-editor').innerText()).toContain('strategies');
      await expect.poll(() => page.locator('.result-window').innerText()).toContain('apyPct');
      await expect.poll(() => page.locator('.graphiql-doc-explorer').innerText()).toContain('Query');
      expect(page.workers()).toEqual([]);
    });

    test('every starter answers, and fits a screen', async () => {
      for (const { query, variables, tier } of STARTER_QUERIES) {
        const headers = tier === undefined ? {} : tier === 'ops' ? OPS : PARTNER;
        const { body } = await service.graphql(query, variables, headers);
        expect([nameOf({ query }), body.errors]).toEqual([nameOf({ query }), undefined]);
        expect(Math.max(...query.split('\n').map((line) => line.length))).toBeLessThan(60);
      }
    });

    test('opens every other example from its menu, in a tab of its own, and workers once something is written', async () => {
      const groups = page.locator('#examples optgroup');
      expect(await groups.evaluateAll((all) => all.map((group) => group.getAttribute('label')))).toEqual([
        'Public',
        'Partner',
        'Ops',
      ]);
      const examples = [...EXAMPLES.public, ...EXAMPLES.partner, ...EXAMPLES.ops];
      expect(await groups.locator('option').count()).toBe(examples.length);
      await page.selectOption('#examples', { label: 'plan an open' });
      await page.locator('.graphiql-tab-active', { hasText: 'PlanOpen' }).waitFor();
      const texts = (): Promise<string> =>
        page.evaluate('monaco.editor.getModels().map((model) => model.getValue()).join("\\n")');
      await expect.poll(texts).toContain('mutation PlanOpen');
      expect(await texts()).toContain(PARTNER.authorization);
      await page.locator('.graphiql-query-editor .view-lines').click();
      await expect.poll(() => page.workers().length).toBeGreaterThan(0);
      await page.locator('.graphiql-tab-active .graphiql-tab-close').click();
    });

    test('runs a partner example with the sample key of the local world', async () => {
      const sent: Request[] = [];
      page.on('request', (request) => {
        if (request.url().endsWith('/graphql') && request.postData()?.includes('query Preview')) sent.push(request);
      });
      // One click is enough, also while the tabs still move.
      await page.locator('.graphiql-tab-button', { hasText: 'Preview' }).click();
      await page.locator('.graphiql-tab-active', { hasText: 'Preview' }).waitFor();
      await expect.poll(() => page.locator('.graphiql-query-editor').innerText()).toContain('Preview($input');
      // The editors of variables and headers follow the tab in their own time: until then nothing is sent.
      await expect
        .poll(
          async () => {
            if (sent.length === 0) await page.click('.graphiql-execute-button');
            return sent.length;
          },
          { interval: 500 },
        )
        .toBeGreaterThan(0);
      const request = sent[0] as Request;
      expect(request.headers().authorization).toBe(PARTNER.authorization);
      const response = (await request.response()) as Response;
      const { data, errors } = await response.json();
      expect(errors).toBeUndefined();
      expect(data.preview).toMatchObject({ position: { ltvPct: expect.any(String) } });
    });

    test('is left by keyboard: Tab moves on from an editor, and back', async () => {
      const isIn = (place: string) => page.evaluate(`document.activeElement.closest('${place}') !== null`);
      const text = await page.locator('.graphiql-query-editor').innerText();
      await page.locator('.graphiql-query-editor .view-lines').click();
      await expect.poll(() => isIn('.graphiql-query-editor')).toBe(true);
      await page.keyboard.press('Tab');
      expect(await isIn('.monaco-editor')).toBe(false);
      await page.keyboard.press('Shift+Tab');
      expect(await isIn('.graphiql-query-editor')).toBe(true);
      expect(await page.locator('.graphiql-query-editor').innerText()).toBe(text);
    });

    test('is usable at every width, and axe finds nothing', async () => {
      await page.click('button[aria-label="Hide Documentation Explorer"]');
      for (const one of LOOKS) {
        await look(page, one);
        // The editor takes its colors when it is loaded.
        if (one.width === 1280) {
          await page.reload();
          await page.locator('.mtk1').first().waitFor();
        }
        await picture(page, `graphiql-${one.width}-${one.colorScheme}`);
        expect([one, await violationsOf(page)]).toEqual([one, []]);
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(one.width);
        expect(await page.locator('.graphiql-tab-button[aria-current=true]').count()).toBe(1);
      }
      // On the phone: another tab is chosen, run and read.
      const tab = page.locator('.graphiql-tab-button', { hasText: 'Ages' });
      await tab.click();
      await page.locator('.graphiql-tab-active', { hasText: 'Ages' }).waitFor();
      const statuses: number[] = [];
      page.on('response', (response) => {
        if (response.request().postData()?.includes('query Ages')) statuses.push(response.status());
      });
      // The editors follow the tab in their own time: until then nothing of it is sent.
      await expect
        .poll(
          async () => {
            if (statuses.length === 0) await page.click('.graphiql-execute-button');
            return statuses[0];
          },
          { interval: 500 },
        )
        .toBe(200);
      const result = page.locator('.result-window', { hasText: 'data' });
      await result.scrollIntoViewIfNeeded();
      const box = await result.boundingBox();
      expect(box?.width).toBeGreaterThan(300);
      expect(box?.height).toBeGreaterThan(200);
    }); // four looks of a large page

    test('follows a change of the colour scheme, unless the user has chosen one', async () => {
      await look(page, { width: 1280, colorScheme: 'light' } as (typeof LOOKS)[number]);
      await page.reload();
      await page.locator('.mtk1').first().waitFor();
      const isDark = () => page.locator('.graphiql-query-editor .monaco-editor.vs-dark').count();
      expect(await isDark()).toBe(0);
      await page.emulateMedia({ colorScheme: 'dark' });
      await expect.poll(isDark).toBe(1);
      expect(await violationsOf(page)).toEqual([]);
      await page.emulateMedia({ colorScheme: 'light' });
      await expect.poll(isDark).toBe(0);
      expect(await violationsOf(page)).toEqual([]);
      await page.evaluate("document.body.classList.add('graphiql-light')");
      await page.emulateMedia({ colorScheme: 'dark' });
      expect(await isDark()).toBe(0);
      await page.evaluate("document.body.classList.remove('graphiql-light')");
    });

    test('sends no request to other machines, and none fails', () => {
      expect({ leaving: opened.leaving, errors: opened.errors }).toEqual({ leaving: [], errors: [] });
    });
  },
);

const OPERATIONS = EXAMPLES.public.filter(({ query }) => !/^\s*subscription/m.test(query));
test.each(OPERATIONS.map(({ title, query, variables }) => [title, query, variables] as const))(
  'the example "%s" answers without an error',
  async (_title, query, variables) => {
    const { status, body } = await service.graphql(query, variables ?? {});
    expect(body.errors).toBeUndefined();
    expect(status).toBe(200);
  },
);

test.each(EXAMPLES.partner.map(({ title, query, variables }) => [title, query, variables] as const))(
  'the example "%s" answers with a key and is refused without one',
  async (_title, query, variables) => {
    const { body } = await service.graphql(query, variables ?? {}, PARTNER);
    expect(body.errors).toBeUndefined();
    const [answer] = Object.values<{ __typename?: string } | null>(body.data);
    expect(answer).not.toBeNull();
    expect(answer?.__typename ?? '').not.toMatch(/Refusal$/);
    const { body: refused } = await service.graphql(query, variables ?? {});
    expect(refused.errors?.[0].extensions.code).toBe('unauthorized');
  },
);
