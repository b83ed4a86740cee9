import { BYTES_PER_POINT } from '../../limits/points.ts';
import { errorResponse } from '../../rest/envelope.ts';
import { MethodNotAllowedError } from '../../rest/router.ts';
import type { RestRequest, RestResponse } from '../../rest/types.ts';
import { acceptsMarkdown } from '../accepts-markdown.ts';
import type { Compress } from '../compression.ts';
import { chooseBody, compressedBodies, type EncodedBodies, hashOf, plainBody } from '../encoded-body.ts';
import { bytesOf } from '../write.ts';

export interface StaticFile {
  readonly type: string;
  /** Make the content; called once. */
  readonly load: () => Promise<string | Uint8Array> | string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Excludes the file from the CORS policy: pages of other origins cannot read it. */
  readonly isOwn?: boolean | undefined;
  /** For requests without the hash of the content. */
  readonly cacheControl: string;
  /** Path of the file that is answered at this path to a caller that asks for Markdown. */
  readonly markdownAt?: string | undefined;
}

export interface StaticFiles {
  readonly paths: readonly string[];
  /**
   * `undefined` = there is no such file.
   * @throws errors of the charge
   */
  answer(request: RestRequest): Promise<RestResponse> | undefined;
  /** The path of a file with the hash of its content, which may be cached without a time limit. */
  urlOf(path: string): Promise<string>;
}

export interface StaticFilesDeps {
  readonly files: Readonly<Record<string, StaticFile>>;
  readonly compress: Compress;
  /**
   * Charge a request to its address.
   * @returns the headers of its budget
   * @throws RateLimitedError
   */
  readonly charge: (request: RestRequest, points: number) => Promise<Readonly<Record<string, string>>>;
}

const FOREVER = 'public, max-age=31536000, immutable';

/** Answer in the encoding that the caller prefers, or with 304. */
export function encodedResponse(
  bodies: EncodedBodies,
  requestHeaders: RestRequest['headers'],
  headers: Readonly<Record<string, string>>,
): RestResponse {
  const { bytes, etag, encoding, isKnown } = chooseBody(bodies, requestHeaders);
  const common = { ...headers, etag, vary: 'accept-encoding' };
  if (isKnown) {
    const { 'content-type': _type, ...rest } = common as Record<string, string>;
    return { status: 304, headers: rest, body: '' };
  }
  return {
    status: 200,
    headers: encoding === 'identity' ? common : { ...common, 'content-encoding': encoding },
    body: bytes,
  };
}

/** Mark the answer at this path as dependent on the requested media type. */
function varyingWithAccept(response: RestResponse): RestResponse {
  const { vary } = response.headers;
  return { ...response, headers: { ...response.headers, vary: vary === undefined ? 'accept' : `${vary}, accept` } };
}

/** Whether a browser asks for the page of another origin. A request of the own page to read a file has no `Origin`. */
function isOfOtherOrigin({ headers }: RestRequest): boolean {
  const { origin, host, 'sec-fetch-site': site } = headers;
  const isNamed = origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`;
  return isNamed || site === 'cross-site' || site === 'same-site';
}

/** Serve files that change with a deployment only: each is made, hashed and compressed on its first request. */
export function createStaticFiles({ files, compress, charge }: StaticFilesDeps): StaticFiles {
  const made = new Map<string, Promise<EncodedBodies>>();
  const encodedOf = (path: string, { load }: StaticFile): Promise<EncodedBodies> => {
    const known = made.get(path);
    if (known) return known;
    const making = Promise.resolve(load()).then((content) =>
      compressedBodies(plainBody(content), compress, 'thorough'),
    );
    made.set(path, making);
    making.catch(() => made.delete(path));
    return making;
  };
  const find = (path: string) => (Object.hasOwn(files, path) ? files[path] : undefined);

  const respond = async (request: RestRequest, path: string, file: StaticFile): Promise<RestResponse> => {
    const charged = await charge(request, 1);
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      const { code, message, status } = new MethodNotAllowedError(request.method, request.path, ['GET', 'HEAD']);
      return errorResponse({ code, message, status, allow: ['GET', 'HEAD'] }, request.correlationId);
    }
    const encoded = await encodedOf(path, file);
    const cacheControl = request.query === `v=${hashOf(encoded)}` ? FOREVER : file.cacheControl;
    const own = { 'content-type': file.type, 'cache-control': cacheControl, ...file.headers };
    const response = encodedResponse(encoded, request.headers, { ...own, ...charged });
    const more = Math.ceil(bytesOf(response.body) / BYTES_PER_POINT) - 1;
    return more > 0 ? { ...response, headers: { ...response.headers, ...(await charge(request, more)) } } : response;
  };

  return {
    paths: Object.keys(files),
    answer(request) {
      const { path, headers } = request;
      const file = find(path);
      if (file?.isOwn && isOfOtherOrigin(request)) return undefined;
      if (file?.markdownAt === undefined) return file && respond(request, path, file);
      const chosen = acceptsMarkdown(headers.accept) ? file.markdownAt : path;
      return respond(request, chosen, find(chosen) ?? file).then(varyingWithAccept);
    },
    async urlOf(path) {
      const file = find(path);
      if (file === undefined) throw new Error(`no static file at ${path}`);
      return `${path}?v=${hashOf(await encodedOf(path, file))}`;
    },
  };
}
