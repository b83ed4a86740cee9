import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { collectionFiles, type SourceDocument } from './files.ts';

const ROOT = new URL('../..', import.meta.url).pathname;
const FOLDER = join(ROOT, 'collection');

const document = JSON.parse(readFileSync(join(ROOT, 'openapi.json'), 'utf8')) as SourceDocument;
rmSync(FOLDER, { recursive: true, force: true });
for (const [path, text] of collectionFiles(document)) {
  const file = join(FOLDER, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
