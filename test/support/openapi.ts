import { Ajv2020 } from 'ajv/dist/2020.js';
import type { HttpMessage } from '../../devnet/http.ts';
import type { Answer, Json } from './service.ts';

/** One operation of the document. */
export interface DocumentedOperation {
  readonly method: string;
  readonly path: string;
  readonly operation: Json;
}

export interface Conformance {
  readonly operations: readonly DocumentedOperation[];
  /** Violation of the document by an answer; `null` = none. */
  violation(operation: DocumentedOperation, answer: Answer): string | null;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

/** Check answers against an OpenAPI document. */
export function conformanceTo(document: Json): Conformance {
  // A format that is not checked here is an error, and not a line that nobody reads.
  const fail = (message: string) => {
    throw new Error(message);
  };
  const logger = { log: fail, warn: fail, error: fail };
  // Most schemas check few answers: compiling them takes longer than checking, and twice as long with inlined parts.
  const ajv = new Ajv2020({ strict: false, allErrors: false, inlineRefs: false, code: { optimize: false }, logger });
  ajv.addFormat('uuid', UUID);
  ajv.addFormat('date-time', DATE_TIME);
  ajv.addFormat('date', /^\d{4}-\d\d-\d\d$/);
  ajv.addFormat('uri', (text) => URL.canParse(text));
  ajv.addFormat('int32', { type: 'number', validate: (value) => Math.abs(value) < 2 ** 31 });
  ajv.addFormat('int64', { type: 'number', validate: Number.isSafeInteger });
  ajv.addSchema(closed(document) as Json, 'openapi');
  const valid = new Set<string>();
  const operations = Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
    Object.entries<Json>(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
  const pointer = (...parts: string[]) =>
    `openapi#/${parts.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')}`;
  return {
    operations,
    violation({ method, path, operation }, { status, headers, text, body }) {
      const documented = operation.responses[status];
      if (!documented) return `status ${status} is not documented: ${text.slice(0, 300)}`;
      if (status === 304) return text === '' ? null : 'a body with 304';
      const type = headers.get('content-type');
      if (type !== 'application/json; charset=utf-8') return `content-type ${type}`;
      if (headers.get('x-correlation-id') === null) return 'no x-correlation-id';
      const observed = `${path} ${method} ${status} ${text}`;
      if (valid.has(observed)) return null;
      const ref = pointer(
        'paths',
        path,
        method.toLowerCase(),
        'responses',
        String(status),
        'content',
        'application/json',
        'schema',
      );
      const validate = ajv.getSchema(ref);
      if (!validate) return `no schema at ${ref}`;
      if (!validate(body)) return `${status}: ${ajv.errorsText(validate.errors)} in ${text.slice(0, 300)}`;
      const code = body.error?.code;
      if (code !== undefined && !documented.description.includes(`\`${code}\``))
        return `${status} with the code ${code}`;
      valid.add(observed);
      return null;
    },
  };
}

/** Close the records of the document, which are open to later versions: this version sends the documented fields only. */
function closed(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(closed);
  if (typeof node !== 'object' || node === null) return node;
  const copy: Record<string, unknown> = {};
  for (const [name, part] of Object.entries(node)) copy[name] = closed(part);
  const isRecord = copy.type === 'object' && copy.properties !== undefined;
  return isRecord && copy.additionalProperties === undefined ? { ...copy, additionalProperties: false } : copy;
}

/** Requests of an operation's examples, assembled from all parameters by name. */
export function examplesOf({ method, path, operation }: DocumentedOperation): {
  readonly name: string;
  readonly url: string;
  readonly init: HttpMessage;
}[] {
  const parameters: Json[] = operation.parameters ?? [];
  const bodies: Record<string, Json> = operation.requestBody?.content['application/json'].examples ?? {};
  const names = new Set([...parameters.flatMap(({ examples }) => Object.keys(examples ?? {})), ...Object.keys(bodies)]);
  return [...(names.size === 0 ? ['without any'] : names)].map((name) => {
    const query = new URLSearchParams();
    let url = path;
    for (const { name: parameter, in: place, examples } of parameters) {
      const value = examples?.[name]?.value;
      if (value === undefined) continue;
      if (place === 'path') url = url.replace(`{${parameter}}`, encodeURIComponent(String(value)));
      else query.set(parameter, String(value));
    }
    const body = bodies[name]?.value;
    return {
      name,
      url: query.size === 0 ? url : `${url}?${query}`,
      init: {
        method,
        body: body === undefined ? undefined : JSON.stringify(body),
        headers: body === undefined ? {} : { 'content-type': 'application/json' },
      },
    };
  });
}
