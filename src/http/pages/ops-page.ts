import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { HTML_SECURITY_HEADERS } from '../headers.ts';
import type { StaticFile } from './static-files.ts';

/** Revalidated on each request, so that the page always fits the service. */
const CACHE = 'no-cache';
const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
};

const OWN_FILES = [
  'style.css',
  'main.js',
  'address.js',
  'advice.js',
  'alert-jobs.js',
  'items.js',
  'links.js',
  'api.js',
  'charts.js',
  'drift.js',
  'export.js',
  'file-columns.js',
  'format.js',
  'queries.js',
  'history.js',
  'stress.js',
  'sections.js',
  'dom.js',
  'table-file.js',
];
const UPLOT_FILES = ['uPlot.iife.min.js', 'uPlot.min.css'];

/** The ops page: static files without data. The page requests its data with the user's key. */
export function opsPageFiles(): Readonly<Record<string, StaticFile>> {
  // Next to this file in the sources, and next to the bundle in a build.
  const own = fileURLToPath(new URL('./ops-page/', import.meta.url));
  const uplot = () => dirname(createRequire(import.meta.url).resolve('uplot/dist/uPlot.min.css'));
  const file = (name: string, place: () => string): StaticFile => ({
    type: TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream',
    load: () => readFile(place()),
    cacheControl: CACHE,
    headers: HTML_SECURITY_HEADERS.strict,
  });
  return {
    '/ops': file('index.html', () => join(own, 'index.html')),
    ...Object.fromEntries(OWN_FILES.map((name) => [`/ops/${name}`, file(name, () => join(own, name))])),
    ...Object.fromEntries(UPLOT_FILES.map((name) => [`/ops/${name}`, file(name, () => join(uplot(), name))])),
  };
}
