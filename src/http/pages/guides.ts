import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { besideBundle } from './page-files.ts';

/** A document for the users of the service. */
export interface GuideText {
  /** Name in paths: `/docs/<name>` and `/docs/<name>.md`. */
  readonly name: string;
  readonly title: string;
  /** First sentence of the document. */
  readonly description: string;
  /** Links lead to other guides, or out of the service. */
  readonly markdown: string;
}

/** The documents for users. Contributors have the repository. */
const NAMES = [
  'quickstarts',
  'partners',
  'positions',
  'vaults',
  'builds',
  'mcp',
  'graphql',
  'client',
  'verify',
  'alerts',
  'errors',
  'glossary',
  'deprecation',
  'changelog',
];
/** The documents for operators, to which alarms lead: pages, and no part of what agents are given. */
const RUNBOOKS = [
  'operations',
  'installation',
  'settings',
  'stores',
  'upstreams',
  'monitoring',
  'ops',
  'reliability',
  'growth',
];
/** Documents at the root of the repository. */
const AT_ROOT: Readonly<Record<string, string>> = { changelog: 'CHANGELOG.md' };

/** Introduction above the list of guides. */
const ABOUT = `> Leveraged yield strategies on Morpho Blue (chains 1 and 4663): rates, risk, positions, previews and unsigned transactions over REST, GraphQL and the Model Context Protocol.

Reads need no key. Previews, positions and builds need an API key, sent as "Authorization: Bearer <API_KEY>". The service never signs and never sends: a person checks and signs each transaction. Numbers in quotes are exact decimals, percentages are in percent, and a missing field is unknown, never zero.`;

/** Read the guides: from beside the bundle in a build, and from the repository in the sources. */
export function readGuides(): readonly GuideText[] {
  return NAMES.map(readGuide);
}

/** Read the documents for operators. */
export function readRunbooks(): readonly GuideText[] {
  return RUNBOOKS.map(readGuide);
}

function readGuide(name: string): GuideText {
  const text = readFileSync(placeOfGuide(name), 'utf8');
  const [, title = name, paragraph = ''] = /^# (.+)\n+(.+)\n/.exec(text) ?? [];
  return { name, title, description: plainText(firstSentence(paragraph)), markdown: servedMarkdown(text) };
}

function placeOfGuide(name: string): string {
  const file = AT_ROOT[name] ?? `${name}.md`;
  const built = besideBundle(join('guides', file));
  if (existsSync(built)) return built;
  return fileURLToPath(new URL(join('../../..', name in AT_ROOT ? '' : 'docs', file), import.meta.url));
}

function firstSentence(paragraph: string): string {
  return /^.+?\.(?= |$)/.exec(paragraph)?.[0] ?? paragraph;
}

/** Text without links and code marks. */
function plainText(markdown: string): string {
  return markdown.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1').replaceAll(/[`*]/g, '');
}

const LINK = /\[((?:[^[\]]|\[[^\]]*\])+)\]\(([^)\s]+)\)/g;

/** Keep the links to guides, and show the text of links to other files of the repository. */
function servedMarkdown(text: string): string {
  return text.replaceAll(LINK, (link, label: string, target: string) => {
    const [path = '', anchor] = target.split('#');
    if (path === '' || /^[a-z]+:/.test(path)) return link;
    const name = path
      .replace(/^(\.\.\/|docs\/)/, '')
      .replace(/\.md$/, '')
      .toLowerCase();
    if (!path.endsWith('.md') || ![...NAMES, ...RUNBOOKS].includes(name)) return label;
    return `[${label}](${name}.md${anchor === undefined ? '' : `#${anchor}`})`;
  });
}

/** The list of guides and interfaces, for readers at `base`: a path relative to the root of the service. */
export function guideIndex(
  guides: readonly GuideText[],
  base: { readonly docs: string; readonly root: string },
): string {
  const guideLines = guides.map(
    ({ name, title, description }) => `- [${title}](${base.docs}${name}.md): ${description}`,
  );
  return [
    '# spiral-gateway',
    ABOUT,
    '## Guides',
    guideLines.join('\n'),
    '## Interfaces',
    [
      `- [REST](${base.root}openapi.json): the OpenAPI description of /v1`,
      `- [GraphQL](${base.docs}graphql.md): one schema at /graphql, with introspection where it is allowed`,
      `- [Tools](${base.docs}mcp.md): the Model Context Protocol at /mcp, a tool for each row of /v1`,
    ].join('\n'),
    '## Optional',
    `- [All guides in one text](${base.root}llms-full.txt)\n`,
  ].join('\n\n');
}
