import { renameSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import openapiTS, { astToString } from 'openapi-typescript';

const root = new URL('../', import.meta.url);

/** Write the types of the client package from the interface document. They are not committed: its compiler alone reads them. */
export async function writeClientTypes(): Promise<void> {
  const types = await openapiTS(new URL('openapi.json', root), {
    immutable: true,
    rootTypes: true,
    rootTypesNoSchemaPrefix: true,
    silent: true,
  });
  const target = fileURLToPath(new URL('packages/client/src/generated/openapi.ts', root));
  // Compilers of other processes never see a part of it.
  const part = `${target}.${process.pid}`;
  writeFileSync(part, astToString(types));
  renameSync(part, target);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await writeClientTypes();
