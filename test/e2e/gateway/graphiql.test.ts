import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium, type Page, type Request, type Response } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EXAMPLE_QUERIES } from '../../../src/schema/common/examples.ts';
import { OPS_EXAMPLE_QUERIES } from '../../../src/schema/ops/ops-examples.ts';
import { PARTNER_EXAMPLE_QUERIES } from '../../../src/schema/transaction/partner-examples.ts';
import { PARTNER, startService, type TestService } from '../../support/service.ts';

const EXECUTABLE = process.env.CHROMIUM_BIN ?? '/usr/bin/chromium';
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
const installed = existsSync(EXECUTABLE);

let service: TestService;
let browser: Browser;
let page: Page;
const strangers: string[] = [];
const complaints: string[] = [];

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service?.stop());

describe.skipIf(!installed)(
  `GraphiQL in Chromium${installed ? '' : ` (skipped: no ${EXECUTABLE}; set CHROMIUM_BIN)`}`,
  () => {
    beforeAll(async () => {
      browser = await chromium.launch({ executablePath: EXECUTABLE, args: FLAGS, headless: true });
      const context = await browser.newContext({ viewport: { width: 1400, height: 900 } });
      // All requests of the page pass here: those to other machines are recorded and refused.
      await context.route('**/*', async (route) => {
        const { hostname, protocol } = new URL(route.request().url());
        if (protocol === 'data:' || protocol === 'blob:' || hostname === '127.0.0.1') return route.continue();
        strangers.push(route.request().url());
        return route.abort();
      });
      page = await context.newPage();
      page.on('pageerror', (error) => complaints.push(String(error)));
      page.on('requestfailed', (request) => complaints.push(`failed: ${request.url()}`));
      await page.goto(`${service.url}/graphql`, { waitUntil: 'load', timeout: 30_000 });
      await page.waitForSelector('.graphiql-execute-button', { timeout: 30_000 });
    });
    afterAll(async () => {
      await browser?.close();
    });

    test('opens each example query in its own tab', async () => {
      const tabs = await page.locator('.graphiql-tab').allInnerTexts();
      const names = [...EXAMPLE_QUERIES, ...PARTNER_EXAMPLE_QUERIES, ...OPS_EXAMPLE_QUERIES].map(
        ({ query }) => /(?:query|mutation|subscription) (\w+)/.exec(query)?.[1] ?? '',
      );
      expect(tabs.map((text) => text.trim())).toEqual(names);
      await expect.poll(() => page.locator('.graphiql-query-editor').innerText()).toContain('strategies');
    });

    test('runs the first of them and shows its answer', async () => {
      const answered = page.waitForResponse(
        (response) =>
          response.url().endsWith('/graphql') && (response.request().postData()?.includes('BestStrategies') ?? false),
      );
      await page.click('.graphiql-execute-button');
      const response = await answered;
      expect(response.status()).toBe(200);
      const { data, errors } = await response.json();
      expect(errors).toBeUndefined();
      expect(data.strategies.nodes).toHaveLength(20);
      await expect.poll(() => page.locator('.result-window').innerText()).toContain('totalCount');
      await page.screenshot({ path: join(tmpdir(), 'graphiql.png') });
    });

    test('runs a partner example with the sample key of the local world', async () => {
      const sent: Request[] = [];
      page.on('request', (request) => {
        if (request.url().endsWith('/graphql') && request.postData()?.includes('PreviewOpen')) sent.push(request);
      });
      await page.locator('.graphiql-tab-button', { hasText: 'PreviewOpen' }).dispatchEvent('click');
      await expect
        .poll(() => page.locator('.graphiql-query-editor').innerText(), { timeout: 10_000 })
        .toContain('PreviewOpen');
      // The editors of variables and headers follow the tab in their own time: until then nothing is sent.
      await expect
        .poll(
          async () => {
            if (sent.length === 0) await page.click('.graphiql-execute-button');
            return sent.length;
          },
          { timeout: 20_000, interval: 500 },
        )
        .toBeGreaterThan(0);
      const request = sent[0] as Request;
      expect(request.headers().authorization).toBe(PARTNER.authorization);
      const response = (await request.response()) as Response;
      const { data, errors } = await response.json();
      expect(errors).toBeUndefined();
      expect(data.leveragePreview).toMatchObject({ __typename: 'LeveragePreview', path: 'SWAP_AND_LEVERAGE' });
    });

    test('shows the documentation of the schema', async () => {
      await page.click('button[aria-label="Show Documentation Explorer"]');
      await expect
        .poll(() => page.locator('.graphiql-doc-explorer').innerText(), { timeout: 10_000 })
        .toContain('Query');
    });

    test('sends no request to other machines, and none fails', () => {
      expect(strangers).toEqual([]);
      expect(complaints).toEqual([]);
    });
  },
);

const OPERATIONS = EXAMPLE_QUERIES.filter(({ query }) => !/^\s*subscription/m.test(query));
test.each(OPERATIONS.map(({ title, query, variables }) => [title, query, variables] as const))(
  'the example "%s" answers without an error',
  async (_title, query, variables) => {
    const { status, body } = await service.graphql(query, variables ?? {});
    expect(body.errors).toBeUndefined();
    expect(status).toBe(200);
  },
);

test.each(PARTNER_EXAMPLE_QUERIES.map(({ title, query, variables }) => [title, query, variables] as const))(
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
