import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A request as a guide shows it, and the answer printed under it when there is one. */
export interface DocExample {
  readonly file: string;
  readonly line: number;
  readonly method: string;
  /** Which of the two listens there: the service, or the control endpoint of the local world. */
  readonly at: 'service' | 'control';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly answer?: unknown;
}

/** Where the guides say that they listen: the defaults. */
const ORIGINS = { service: 'http://127.0.0.1:8787', control: 'http://127.0.0.1:8788' } as const;

/** The guides: README and everything under docs/. */
export function guideFiles(): string[] {
  const docs = readdirSync('docs', { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'));
  return ['README.md', ...docs.map((name) => join('docs', name))];
}

/** Find every `curl` in the shell blocks of a guide, with the JSON block that directly follows it. */
export function examplesOf(file: string): DocExample[] {
  const text = readFileSync(file, 'utf8');
  const fence = /^```(\w*)\n([\s\S]*?)^```$/gm;
  const blocks = [...text.matchAll(fence)].map((match) => ({
    language: match[1] ?? '',
    content: match[2] ?? '',
    start: match.index,
    end: match.index + match[0].length,
  }));
  return blocks.flatMap((block, i) => {
    if (block.language !== 'sh') return [];
    const commands = block.content
      .replaceAll(/\\\n\s*/g, ' ')
      .split('\n')
      .filter((line) => line.startsWith('curl '));
    const next = blocks[i + 1];
    const follows = next?.language === 'json' && /^\s*$/.test(text.slice(block.end, next.start));
    return commands.map((command, n) => ({
      file,
      line: text.slice(0, block.start).split('\n').length,
      ...parseCurl(command),
      answer: follows && n === commands.length - 1 ? (JSON.parse(next.content) as unknown) : undefined,
    }));
  });
}

function parseCurl(command: string): Pick<DocExample, 'method' | 'at' | 'path' | 'headers' | 'body'> {
  const words = [...command.matchAll(/'((?:[^']|'\\'')*)'|(\S+)/g)].map((match) => match[1] ?? match[2] ?? '');
  const headers: Record<string, string> = {};
  let body: string | undefined;
  let method: string | undefined;
  let url = '';
  for (let i = 1; i < words.length; i += 1) {
    const word = words[i] ?? '';
    if (word === '-s' || word === '-i') continue;
    if (word === '-H' || word === '-d' || word === '-X') {
      i += 1;
      const value = words[i] ?? '';
      if (word === '-d') body = value;
      else if (word === '-X') method = value;
      else headers[value.slice(0, value.indexOf(':')).toLowerCase()] = value.slice(value.indexOf(':') + 1).trim();
    } else if (word.startsWith('http')) url = word;
    else throw new Error(`the guide uses curl with "${word}", which the test does not know: ${command}`);
  }
  const at = url.startsWith(`${ORIGINS.control}/`) ? 'control' : 'service';
  if (!url.startsWith(`${ORIGINS[at]}/`)) throw new Error(`the guide calls ${url}, where nothing of ours listens`);
  return {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    at,
    path: url.slice(ORIGINS[at].length),
    headers,
    body,
  };
}

/** Values that change between runs: numbers, ids, times, addresses, calldata. Only their kinds are compared. */
const LIVE = [/^-?\d+(\.\d+)?$/, /^(equity-)?0x[0-9a-fA-F]*…?$/, /^\d{4}-\d\d-\d\dT/, /^[0-9a-f]{8}-[0-9a-f]{4}-/];

/**
 * Compare a printed answer with the real one: every printed field has to exist with the same kind; text has to be equal.
 * A list may end in "…". Returns where they differ.
 */
export function differences(shown: unknown, actual: unknown, path = '$'): string[] {
  if (Array.isArray(shown)) {
    if (!Array.isArray(actual)) return [`${path}: shown as a list, is ${kind(actual)}`];
    const cut = shown.at(-1) === '…';
    const items = cut ? shown.slice(0, -1) : shown;
    if (cut ? actual.length < items.length : actual.length !== items.length) {
      return [`${path}: shown with ${items.length} entries, has ${actual.length}`];
    }
    return items.flatMap((item, i) => differences(item, actual[i], `${path}[${i}]`));
  }
  if (shown !== null && typeof shown === 'object') {
    if (actual === null || typeof actual !== 'object' || Array.isArray(actual))
      return [`${path}: shown as an object, is ${kind(actual)}`];
    const fields = Object.entries(shown).filter(([name]) => name !== '…');
    const missing =
      '…' in shown
        ? []
        : Object.keys(actual)
            .filter((name) => !(name in shown))
            .map((name) => `${path}.${name}: not shown`);
    return [
      ...missing,
      ...fields.flatMap(([name, value]) =>
        differences(value, (actual as Record<string, unknown>)[name], `${path}.${name}`),
      ),
    ];
  }
  if (shown === '…' && typeof actual === 'string') return [];
  if (kind(shown) !== kind(actual)) return [`${path}: shown as ${kind(shown)}, is ${kind(actual)}`];
  if (typeof shown !== 'string' || shown === actual) return [];
  const live = LIVE.find((pattern) => pattern.test(shown));
  return live?.test(String(actual)) ? [] : [`${path}: shown as "${shown}", is "${String(actual)}"`];
}

function kind(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'list' : typeof value;
}
