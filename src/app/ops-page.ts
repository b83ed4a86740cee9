import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { errorResponse } from '../rest/envelope.ts';
import { MethodNotAllowedError } from '../rest/router.ts';
import type { RestRequest, RestResponse } from '../rest/types.ts';

export interface OpsPage {
  readonly paths: readonly string[];
  /** `undefined` = not a file of this page. */
  answer(request: RestRequest): RestResponse | undefined;
}

/** The page is asked for again every time: it fits the service that serves it. */
const CACHE = 'no-cache';
const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
};
/** Only files from here and requests to here; nothing inline, nothing framed, no form sent anywhere. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const OWN_FILES = [
  'style.css',
  'main.js',
  'api.js',
  'charts.js',
  'format.js',
  'queries.js',
  'sections.js',
  'dom.js',
  'favicon.svg',
];
const UPLOT_FILES = ['uPlot.iife.min.js', 'uPlot.min.css'];

/** Serve the ops page: static files that hold no data; what they show is asked for with the key of whoever looks. */
export function createOpsPage(): OpsPage {
  // Beside this file in the sources, and beside the bundle in a build.
  const own = fileURLToPath(new URL('./ops-page/', import.meta.url));
  const uplot = () => dirname(createRequire(import.meta.url).resolve('uplot/dist/uPlot.min.css'));
  const files: Readonly<Record<string, () => string>> = {
    '/ops': () => join(own, 'index.html'),
    ...Object.fromEntries(OWN_FILES.map((name) => [`/ops/${name}`, () => join(own, name)])),
    ...Object.fromEntries(UPLOT_FILES.map((name) => [`/ops/${name}`, () => join(uplot(), name)])),
  };
  const read = new Map<string, RestResponse>();
  const responseOf = (path: string, file: string): RestResponse => {
    const known = read.get(path);
    if (known) return known;
    const type = TYPES[file.slice(file.lastIndexOf('.') + 1)] ?? 'application/octet-stream';
    const headers = { 'content-type': type, 'cache-control': CACHE, 'content-security-policy': POLICY };
    const response = { status: 200, headers, body: readFileSync(file) };
    read.set(path, response);
    return response;
  };
  return {
    paths: Object.keys(files),
    answer(request) {
      const file = Object.hasOwn(files, request.path) ? files[request.path] : undefined;
      if (!file) return undefined;
      if (request.method !== 'GET' && request.method !== 'HEAD') {
        const { code, message, status } = new MethodNotAllowedError(request.method, request.path, ['GET', 'HEAD']);
        return errorResponse({ code, message, status, allow: ['GET', 'HEAD'] }, request.correlationId);
      }
      return responseOf(request.path, file());
    },
  };
}
