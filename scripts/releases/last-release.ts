import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Folder of the released interface documents, one folder for each version. */
export const RELEASES = new URL('../../releases', import.meta.url).pathname;

export interface Release {
  readonly version: string;
  readonly openApi: string;
  readonly schema: string;
}

/** The versions with released documents, the latest last. */
export function releasedVersions(): readonly string[] {
  return readdirSync(RELEASES)
    .filter((name) => /^\d+\.\d+\.\d+$/.test(name))
    .sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
}

/** Read the documents of the last release. */
export function lastRelease(): Release {
  const version = releasedVersions().at(-1) ?? '';
  const read = (name: string) => readFileSync(join(RELEASES, version, name), 'utf8');
  return { version, openApi: read('openapi.json'), schema: read('schema.graphql') };
}
