import { createHash } from 'node:crypto';
import { BYTES_PER_POINT } from '../../limits/limits.ts';
import { CODINGS, type Coding, type Compress, chooseCoding, namesTag } from '../../rest/encoding.ts';
import { errorResponse } from '../../rest/envelope.ts';
import { MethodNotAllowedError } from '../../rest/router.ts';
import type { RestRequest, RestResponse } from '../../rest/types.ts';
import { bytesOf } from '../write.ts';

export interface StaticFile {
  readonly type: string;
  /** Make the content; asked for once. */
  readonly load: () => Promise<string | Uint8Array> | string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  /** For requests without the hash of the content. */
  readonly cacheControl: string;
}

export interface StaticFiles {
  readonly paths: readonly string[];
  /** `undefined` = there is no such file. @throws what the charge throws */
  answer(request: RestRequest): Promise<RestResponse> | undefined;
  /** The path of a file with the hash of its content: it may be kept for as long as anybody likes. */
  urlOf(path: string): Promise<string>;
}

export interface StaticFilesDeps {
  readonly files: Readonly<Record<string, StaticFile>>;
  readonly compress: Compress;
  /** Charge a request to its address. @returns the headers of its budget. @throws RateLimitedError */
  readonly charge: (request: RestRequest, points: number) => Promise<Readonly<Record<string, string>>>;
}

interface Variant {
  readonly body: Uint8Array;
  readonly etag: string;
}

/** A content in all codings that make it smaller. */
export interface Encoded {
  readonly hash: string;
  readonly variants: Readonly<Partial<Record<Coding, Variant>>> & { readonly identity: Variant };
}

const FOREVER = 'public, max-age=31536000, immutable';
const HASH_CHARS = 27;
const SUFFIX: Readonly<Record<Coding, string>> = { identity: '', br: '-br', gzip: '-gz' };

export function hashOf(body: Uint8Array): string {
  return createHash('sha256').update(body).digest('base64url').slice(0, HASH_CHARS);
}

/** Compress a content once, off the event loop. */
export async function encode(
  content: string | Uint8Array,
  compress: Compress,
  effort: 'thorough' | 'quick',
): Promise<Encoded> {
  const body = typeof content === 'string' ? Buffer.from(content) : content;
  const hash = hashOf(body);
  const variants: Encoded['variants'] = { identity: { body, etag: `"${hash}"` } };
  const compressed = await compress(Buffer.from(body.buffer, body.byteOffset, body.byteLength), effort);
  const smaller = CODINGS.filter((coding) => compressed[coding].length < body.length);
  const encoded = smaller.map((coding) => [coding, { body: compressed[coding], etag: `"${hash}${SUFFIX[coding]}"` }]);
  return { hash, variants: { ...variants, ...Object.fromEntries(encoded) } };
}

/** Answer with the coding that the caller likes best, or that nothing has changed. */
export function encodedResponse(
  { variants }: Encoded,
  asked: RestRequest['headers'],
  headers: Readonly<Record<string, string>>,
): RestResponse {
  const coding = chooseCoding(asked['accept-encoding'], (name) => variants[name] !== undefined);
  const { body, etag } = variants[coding] ?? variants.identity;
  const common = { ...headers, etag, vary: 'accept-encoding' };
  if (namesTag(asked['if-none-match'], etag)) {
    const { 'content-type': _type, ...kept } = common as Record<string, string>;
    return { status: 304, headers: kept, body: '' };
  }
  return {
    status: 200,
    headers: { ...common, ...(coding === 'identity' ? {} : { 'content-encoding': coding }) },
    body,
  };
}

/** Serve files that change with a deployment only: each is made, hashed and compressed once, when it is first asked for. */
export function createStaticFiles({ files, compress, charge }: StaticFilesDeps): StaticFiles {
  const made = new Map<string, Promise<Encoded>>();
  const encodedOf = (path: string, { load }: StaticFile): Promise<Encoded> => {
    const known = made.get(path);
    if (known) return known;
    const making = Promise.resolve(load()).then((content) => encode(content, compress, 'thorough'));
    made.set(path, making);
    making.catch(() => made.delete(path));
    return making;
  };
  const find = (path: string) => (Object.hasOwn(files, path) ? files[path] : undefined);

  const respond = async (request: RestRequest, file: StaticFile): Promise<RestResponse> => {
    const charged = await charge(request, 1);
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      const { code, message, status } = new MethodNotAllowedError(request.method, request.path, ['GET', 'HEAD']);
      return errorResponse({ code, message, status, allow: ['GET', 'HEAD'] }, request.correlationId);
    }
    const encoded = await encodedOf(request.path, file);
    const cacheControl = request.query === `v=${encoded.hash}` ? FOREVER : file.cacheControl;
    const own = { 'content-type': file.type, 'cache-control': cacheControl, ...file.headers };
    const response = encodedResponse(encoded, request.headers, { ...own, ...charged });
    const more = Math.ceil(bytesOf(response.body) / BYTES_PER_POINT) - 1;
    return more > 0 ? { ...response, headers: { ...response.headers, ...(await charge(request, more)) } } : response;
  };

  return {
    paths: Object.keys(files),
    answer(request) {
      const file = find(request.path);
      return file === undefined ? undefined : respond(request, file);
    },
    async urlOf(path) {
      const file = find(path);
      if (file === undefined) throw new Error(`no static file at ${path}`);
      return `${path}?v=${(await encodedOf(path, file)).hash}`;
    },
  };
}
