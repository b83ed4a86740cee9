import { existsSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { acceptsMarkdown } from '../../src/http/accepts-markdown.ts';
import { readGuides } from '../../src/http/pages/guides.ts';
import { connect } from '../mcp/client.ts';
import { type Front, startTestGateway, UNLIMITED } from './test-gateway.ts';

const guides = readGuides();
const names = ['guides', ...guides.map(({ name }) => name)];

let front: Front;
beforeAll(async () => {
  front = await startTestGateway({ env: UNLIMITED });
});
afterAll(() => front?.stop());

const get = (path: string, accept = 'text/html,application/xhtml+xml,*/*;q=0.8') =>
  front.send(path, { headers: { accept } });

/** Follow the links of a text that is served at a path. */
async function deadLinks(path: string, links: readonly string[]): Promise<readonly string[]> {
  const dead: string[] = [];
  for (const link of links) {
    const url = new URL(link, `${front.url}${path}`);
    if (url.origin !== front.url) continue;
    const { status, text } = await get(`${url.pathname}${url.search}`);
    const hasAnchor = url.hash === '' || url.pathname.endsWith('.md') || text.includes(`id="${url.hash.slice(1)}"`);
    if (status !== 200 || !hasAnchor) dead.push(`${path} links to ${link}`);
  }
  return dead;
}

describe.each(names)('/docs/%s', (name) => {
  test('default: a page for browsers, whose links and anchors exist', async () => {
    const { status, headers, text } = await get(`/docs/${name}`);
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(headers.get('content-security-policy')).toMatch(/default-src 'none'/);
    expect(headers.get('vary')).toMatch(/\baccept\b(?!-)/);
    expect(text).not.toMatch(/<script>|<style|style=|javascript:/);
    expect(text.match(/<script/g)).toHaveLength(1);
    expect(text).toContain(`<li><a href="${name}" aria-current="page">`);
    const links = [...text.matchAll(/href="([^"]+)"/g)].map(([, link = '']) => link);
    expect(links.length).toBeGreaterThan(10);
    expect(await deadLinks(`/docs/${name}`, links)).toEqual([]);
  });

  test('default: the same path is Markdown for a caller that asks for it, and so is the .md path', async () => {
    const negotiated = await get(`/docs/${name}`, 'text/markdown, text/html;q=0.9, */*;q=0.1');
    const named = await get(`/docs/${name}.md`);
    for (const { status, headers } of [negotiated, named]) {
      expect([status, headers.get('content-type')]).toEqual([200, 'text/markdown; charset=utf-8']);
    }
    expect(negotiated.text).toBe(named.text);
    expect(negotiated.headers.get('vary')).toMatch(/\baccept\b(?!-)/);
    const links = [...named.text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
    expect(await deadLinks(`/docs/${name}.md`, links)).toEqual([]);
  });
});

describe('guides', () => {
  test('default: each is the document of the repository, and has a title and a description', () => {
    for (const { name, title, description, markdown } of guides) {
      const place = [`docs/${name}.md`, `${name.toUpperCase()}.md`].find((path) => existsSync(path)) ?? '';
      expect(markdown.split('\n').length).toBe(readFileSync(place, 'utf8').split('\n').length);
      expect([name, title.length > 3, description.length > 20]).toEqual([name, true, true]);
    }
  });

  test('default: no link leads to a file that is not served', () => {
    for (const { markdown } of guides) expect(markdown).not.toMatch(/\]\((\.\.|decisions|docs\/)/);
  });

  test('default: they are resources of /mcp', async () => {
    const client = await connect(front.url);
    const { contents } = await client.readResource({ uri: 'spiral://docs/partners' });
    const { text } = await get('/docs/partners.md');
    expect(contents).toEqual([{ uri: 'spiral://docs/partners', mimeType: 'text/markdown', text }]);
    await client.close();
  });
});

describe('llms.txt', () => {
  test('default: it names every guide and interface by links that exist', async () => {
    const { status, headers, text } = await get('/llms.txt');
    expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
    expect(text).toMatch(/^# spiral-gateway\n\n> .+\n/);
    for (const { name } of guides) expect(text).toContain(`(docs/${name}.md)`);
    const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
    expect(await deadLinks('/llms.txt', links)).toEqual([]);
  });

  test('default: llms-full.txt has every guide', async () => {
    const { text } = await get('/llms-full.txt');
    for (const { markdown } of guides) expect(text).toContain(markdown);
  });

  test('default: the documents for operators are pages, and are not given to agents', async () => {
    expect((await get('/docs/monitoring')).text).toContain('id="notready"');
    expect((await get('/docs/operations')).text).toContain('href="installation"');
    expect((await get('/docs/operations.md')).text).toMatch(/^# Operations\n/);
    for (const path of ['/llms.txt', '/llms-full.txt']) expect((await get(path)).text).not.toContain('## Alarms');
  });

  test.each(['/', '/docs'])('default: %s is the list of guides for a caller that asks for Markdown', async (path) => {
    const { status, text } = await get(path, 'text/markdown');
    expect([status, text]).toEqual([200, expect.stringMatching(/^# spiral-gateway\n/)]);
    expect((await get(path)).text).toMatch(/^<!doctype html>/i);
  });
});

describe('hostile requests', () => {
  test.each([
    '/docs/..%2f..%2fpackage.json',
    '/docs/..%2fpackage.md',
    '/docs/%2e%2e/operations.md',
    '/docs/decisions/mcp.md',
    '/docs/partners.md.md',
    '/docs/constructor',
    '/docs/__proto__.md',
    '/docs/partners%00.md',
    '/llms.txt%2f..',
  ])('error: not_found: %s', async (path) => {
    const { status } = await get(path, 'text/markdown');
    expect(status).toBe(404);
  });

  test('error: method_not_allowed: a guide is only read', async () => {
    expect((await front.send('/docs/partners.md', { method: 'POST', body: 'x' })).status).toBe(405);
  });
});

describe(acceptsMarkdown, () => {
  test.each([
    [undefined, false],
    ['*/*', false],
    ['text/*', false],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', false],
    ['text/markdown', true],
    ['TEXT/Markdown ; Q=0.5', true],
    ['text/markdown;q=0', false],
    ['text/markdown;q=x', false],
    ['text/html, text/markdown;q=0.9', false],
    ['text/html;q=0.8, text/markdown;variant=GFM', true],
    ['text/markdown, text/html, */*', true],
    [`${'a/b,'.repeat(1_000)}text/markdown`, false],
  ])('%s: %s', (accept, expected) => {
    expect(acceptsMarkdown(accept)).toBe(expected);
  });
});
