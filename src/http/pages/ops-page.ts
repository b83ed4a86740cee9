import { readFile } from 'node:fs/promises';
import { HTML_SECURITY_HEADERS } from '../headers.ts';
import { loadStyle, placeOf, placeOfPackaged, typeOf } from './page-files.ts';
import type { StaticFile } from './static-files.ts';

/** Revalidated on each request, so that the page always fits the service. */
const CACHE = 'no-cache';
const FOLDER = 'ops';

const OWN_FILES = [
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
  const file = (name: string, load: StaticFile['load']): StaticFile => ({
    type: typeOf(name),
    load,
    cacheControl: CACHE,
    headers: HTML_SECURITY_HEADERS.strict,
  });
  const ownFile = (name: string) => file(name, () => readFile(placeOf(FOLDER, name)));
  return {
    '/ops': ownFile('index.html'),
    '/ops/style.css': file('style.css', () => loadStyle(() => placeOf(FOLDER, 'style.css'))),
    ...Object.fromEntries(OWN_FILES.map((name) => [`/ops/${name}`, ownFile(name)])),
    ...Object.fromEntries(
      UPLOT_FILES.map((name) => [
        `/ops/${name}`,
        file(name, () => readFile(placeOfPackaged(FOLDER, name, 'uplot/dist'))),
      ]),
    ),
  };
}
