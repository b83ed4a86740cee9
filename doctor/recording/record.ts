import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { UpstreamsConfig } from '../../src/upstreams/config.ts';
import type { RecordedExchange } from '../core/recorded-fetch.ts';
import type { Redact } from '../core/safe-text.ts';
import { type Line, linesOf } from '../core/types.ts';
import type { ProviderSurface, SurfaceContext } from '../providers/types.ts';
import { RECORDING_FILE, type RecordedAnswer, type Recording } from './format.ts';

export interface RecorderDeps {
  readonly providers: UpstreamsConfig;
  readonly redact: Redact;
  readonly overlay: unknown;
  readonly context: SurfaceContext;
}

/** Collects answers of providers, and writes them at the end. */
export interface Recorder {
  readonly take: (surface: ProviderSurface, exchanges: readonly RecordedExchange[]) => void;
  /** Write one file per answer into a folder, which is created. Files of the same name are replaced. */
  write(folder: string): Promise<readonly Line[]>;
}

/** Headers with information on the answer, without cookies and names of clients or machines. */
const RECORDED_HEADERS = /^(content-type|date|retry-after|(x-)?rate-?limit[a-z-]*)$/;
/** Parameter names of keys. */
const KEY_PARAMETERS = /^(api[-_]?key|key|token|access[-_]?token|secret|auth)$/i;

/** Create a recorder. Nothing is written before `write` is called. */
export function createRecorder({ providers, redact, overlay, context }: RecorderDeps): Recorder {
  const recordedAt = new Date(context.nowMs).toISOString();
  const files = new Map<string, RecordedAnswer | Recording>();
  const counts = new Map<string, number>();
  const named = new Set<string>();
  return {
    take({ provider, name, chainId }, exchanges) {
      for (const exchange of exchanges) {
        const { answer } = exchange;
        if (answer?.body === undefined) continue;
        named.add(provider);
        const place = [provider, name, ...(chainId === undefined ? [] : [chainId])].join('-');
        const count = (counts.get(place) ?? 0) + 1;
        counts.set(place, count);
        files.set(`${place}-${count}.json`, {
          version: 1,
          recordedAt,
          provider,
          surface: name,
          chainId: chainId ?? null,
          request: requestOf(exchange, providers[provider].baseUrl, redact),
          answer: { status: answer.status, headers: headersOf(answer.headers, redact), ...bodyOf(answer.body, redact) },
        });
      }
    },
    async write(folder) {
      const make = linesOf('doctor', '--record');
      const { feeReceiver = null } = context;
      files.set(RECORDING_FILE, { version: 1, recordedAt, overlay, feeReceiver });
      try {
        await mkdir(folder, { recursive: true });
        for (const [name, content] of files) {
          await writeFile(join(folder, name), `${JSON.stringify(content, null, 1)}\n`);
        }
        return [make.ok('written', `${files.size - 1} answers of ${named.size} providers are stored in ${folder}`)];
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        return [make.failure('written', `the answers cannot be stored: ${why}`, 'Name a writable folder.')];
      }
    },
  };
}

/** The request, relative to the provider's URL, which may contain a key itself. */
function requestOf(
  { method, url, requestBody }: RecordedExchange,
  baseUrl: string,
  redact: Redact,
): RecordedAnswer['request'] {
  const { pathname, searchParams } = new URL(url);
  const base = new URL(baseUrl).pathname.replace(/\/+$/, '');
  const query = [...searchParams].filter(([name, value]) => !KEY_PARAMETERS.test(name) && redact(value) === value);
  return {
    method: method === 'POST' ? 'POST' : 'GET',
    path: redact(decodeURIComponent(pathname.slice(base.length))),
    query: Object.fromEntries(query),
    body: requestBody === undefined ? null : (bodyOf(requestBody, redact).json ?? null),
  };
}

function headersOf(headers: Headers, redact: Redact): Readonly<Record<string, string>> {
  return Object.fromEntries(
    [...headers].filter(([name]) => RECORDED_HEADERS.test(name)).map(([name, value]) => [name, redact(value)]),
  );
}

/** An answer may quote the key of its request. */
function bodyOf(body: string, redact: Redact): { readonly json?: unknown; readonly text?: string | undefined } {
  const clean = redact(body);
  try {
    return { json: JSON.parse(clean) };
  } catch {
    return { text: clean };
  }
}
