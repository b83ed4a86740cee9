import { withoutUndefined } from '../../src/shared/without-undefined.ts';
import { type BruRequest, bruLanguage } from './bru.ts';

/** The parts of `openapi.json` that make a collection. */
export interface SourceDocument {
  readonly info: { readonly title: string };
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, SourceOperation>>>>;
}

type Examples = Readonly<Record<string, { readonly summary: string; readonly value: unknown }>>;

interface SourceOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: 'path' | 'query';
    readonly examples?: Examples;
  }[];
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly examples?: Examples } } };
}

/** Keys of a local development server by tag: variables of the environment. */
const KEYS: Readonly<Record<string, string>> = { Partner: 'partnerKey', Ops: 'opsKey' };
const LOCAL_KEYS = { partnerKey: 'local-partner', opsKey: 'local-ops' };

/** The files of the Bruno collection by path: a request for each example of each operation, or one without input. */
export function collectionFiles({ info, servers, paths }: SourceDocument): ReadonlyMap<string, string> {
  const manifest = { version: '1', name: info.title, type: 'collection', ignore: [] };
  const variables = Object.entries({ baseUrl: servers.at(-1)?.url ?? '', ...LOCAL_KEYS }).map(([name, value]) => {
    return { name, value, enabled: true, secret: false };
  });
  const files = new Map([
    ['bruno.json', `${JSON.stringify(manifest, null, 2)}\n`],
    ['environments/local.bru', bruLanguage.envJsonToBruV2({ variables })],
  ]);
  let seq = 0;
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      for (const { name, summary, request } of requestsOf(path, method, operation)) {
        seq += 1;
        const meta = { name: `${operation.summary}: ${summary}`, type: 'http', seq } as const;
        const file = `${operation.tags[0]}/${operation.operationId}-${name}.bru`;
        files.set(file, bruLanguage.jsonToBruV2({ meta, ...request, docs: operation.description }));
      }
    }
  }
  return files;
}

interface NamedRequest {
  readonly name: string;
  readonly summary: string;
  readonly request: Omit<BruRequest, 'meta' | 'docs'>;
}

function requestsOf(path: string, method: string, operation: SourceOperation): readonly NamedRequest[] {
  const { parameters = [], requestBody, tags } = operation;
  const bodies = requestBody?.content['application/json'].examples ?? {};
  const summaries = new Map(
    [bodies, ...parameters.map(({ examples = {} }) => examples)].flatMap((examples) =>
      Object.entries(examples).map(([name, { summary }]) => [name, summary] as const),
    ),
  );
  if (summaries.size === 0) summaries.set('default', 'without parameters');
  const key = KEYS[tags[0] ?? ''];
  return [...summaries].map(([name, summary]) => {
    const params = parameters.flatMap(({ name: parameter, in: type, examples }) => {
      const value = examples?.[name]?.value;
      return value === undefined ? [] : [{ name: parameter, value: String(value), enabled: true, type }];
    });
    const query = new URLSearchParams(
      params.filter(({ type }) => type === 'query').map(({ name, value }) => [name, value]),
    );
    const body = bodies[name]?.value;
    const request = withoutUndefined({
      http: {
        method,
        url: `{{baseUrl}}${path.replaceAll(/\{(\w+)\}/g, ':$1')}${query.size === 0 ? '' : `?${query}`}`,
        body: body === undefined ? ('none' as const) : ('json' as const),
        auth: key === undefined ? ('none' as const) : ('bearer' as const),
      },
      params,
      auth: key === undefined ? undefined : { bearer: { token: `{{${key}}}` } },
      body: body === undefined ? undefined : { json: JSON.stringify(body, null, 2) },
      assertions: [{ name: 'res.status', value: 'eq 200', enabled: true }],
    });
    return { name, summary, request };
  });
}
