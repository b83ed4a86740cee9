import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { StaticFile } from './static-files.ts';

const HOUR = 'public, max-age=3600';
const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
  ico: 'image/x-icon',
  json: 'application/json; charset=utf-8',
};

/** A file beside the bundle, in a build. */
export const besideBundle = (name: string): string => fileURLToPath(new URL(`./${name}`, import.meta.url));

/** Front-end code: of the repository, or beside the bundle in a build. */
const CONSOLE = [besideBundle('console'), fileURLToPath(new URL('../../../console', import.meta.url))].find(existsSync);

/** A file of a page, from `console/`. */
export function placeOf(folder: string, name: string): string {
  return join(CONSOLE ?? '', folder, name);
}

/** The same of a file of a package. A build has it beside the page; the sources take it from the package, which only development needs. */
export function placeOfPackaged(folder: string, name: string, packageFolder: string): string {
  const built = placeOf(folder, name);
  if (existsSync(built)) return built;
  const [scope = '', ...path] = packageFolder.split('/');
  return join(dirname(createRequire(import.meta.url).resolve(`${scope}/package.json`)), ...path, name);
}

/** The media type of a file by its name. */
export function typeOf(name: string): string {
  return TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream';
}

/** A file that is served unchanged. Pages name it by its hash, so that browsers keep it. */
export function plainFile(place: () => string, name: string): StaticFile {
  return {
    type: typeOf(name),
    load: () => readFile(place()),
    cacheControl: HOUR,
  };
}

/** The style sheet of a page, after the colors and basics of all pages. */
export async function loadStyle(place: () => string): Promise<string> {
  const sheets = await Promise.all([readFile(placeOf('style', 'base.css'), 'utf8'), readFile(place(), 'utf8')]);
  return sheets.join('\n');
}

/** A style sheet that is served after the colors and basics of all pages. */
export function styleFile(place: () => string): StaticFile {
  return { type: typeOf('style.css'), load: () => loadStyle(place), cacheControl: HOUR };
}

export interface PageOptions {
  readonly place: () => string;
  /** The content of each `<!--name-->` of the page. */
  readonly slots: Readonly<Record<string, string>>;
  /** Paths of the files that the page names, relative as it names them. */
  readonly files: readonly string[];
  readonly urlOf: (path: string) => Promise<string>;
  readonly policy: Readonly<Record<string, string>>;
  /** Path of its content as Markdown. */
  readonly markdownAt?: string | undefined;
}

/** A page with its slots filled, whose files are named by their hashes. URLs stay relative: a proxy may add a path prefix. */
export function htmlPage({ place, slots, files, urlOf, policy, markdownAt }: PageOptions): StaticFile {
  return {
    type: 'text/html; charset=utf-8',
    async load() {
      let page = await readFile(place(), 'utf8');
      for (const [name, content] of Object.entries(slots)) page = page.replaceAll(`<!--${name}-->`, content);
      for (const file of files) page = page.replaceAll(`="${file}"`, `="${(await urlOf(`/${file}`)).slice(1)}"`);
      return page;
    },
    // The page itself is small, and names the files of its deployment.
    cacheControl: 'no-cache',
    headers: policy,
    markdownAt,
  };
}
