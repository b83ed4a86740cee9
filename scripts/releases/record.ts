import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { RELEASES } from './last-release.ts';

/** Record the interface documents as those of the version in package.json. */
const ROOT = new URL('../..', import.meta.url).pathname;
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
const folder = join(RELEASES, version);
mkdirSync(folder, { recursive: true });
for (const name of ['openapi.json', 'schema.graphql']) copyFileSync(join(ROOT, name), join(folder, name));
console.log(`Recorded the interface of ${version} in releases/${version}.`);
