import { existsSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';
import { withoutUndefined } from '../../src/shared/without-undefined.ts';

/** The browser without windows comes first: a page takes a sixth of the CPU time. */
const EXECUTABLES = [
  process.env.CHROMIUM_BIN,
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
];
const executablePath = EXECUTABLES.find((path) => path !== undefined && existsSync(path));

/** Reason for a missing browser, or `null`. */
export const whyNoChromium =
  executablePath === undefined ? 'skipped: neither CHROMIUM_BIN is set nor is there a /usr/bin/chromium' : null;

export function startChromium(): Promise<Browser> {
  return chromium.launch({
    ...withoutUndefined({ executablePath }),
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      // Without routes of every request, which would cost as much as loading them.
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
    ],
  });
}

export interface OpenedPage {
  readonly page: Page;
  /** Requests to other origins; they are recorded, and other hosts are not found. */
  readonly leaving: readonly string[];
  /** Errors of scripts and of the content security policy. */
  readonly errors: readonly string[];
}

/** Open a page that may send requests only to its own origin, and to `others`. */
export async function openPage(browser: Browser, origin: string, others: readonly string[] = []): Promise<OpenedPage> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 1400 } });
  const leaving: string[] = [];
  const errors: string[] = [];
  const own = [...[origin, ...others].map((one) => `${one}/`), 'data:', 'blob:'];
  page.on('request', (request) => {
    const url = request.url();
    if (!own.some((prefix) => url.startsWith(prefix))) leaving.push(url);
  });
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
  return { page, leaving, errors };
}
