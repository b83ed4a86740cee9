import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { createCatalog, curatedChains } from '../../src/catalog/index.ts';
import { createOpenApi } from '../../src/rest/openapi/document.ts';
import { exampleName } from '../../src/rest/openapi/operation.ts';
import { createRoutes } from '../../src/rest/routes/index.ts';
import { INTERFACE_VERSION } from '../../src/rest/types.ts';
import { sharedSchema } from '../../src/schema/index.ts';
import { equityChainIds } from '../../src/transactions/equity/index.ts';
import type { Json } from '../support/service.ts';

const root = new URL('../..', import.meta.url).pathname;
const { chains, chainIds } = createCatalog(curatedChains);
const routes = createRoutes({ schema: sharedSchema(), chainIds, equityChainIds: equityChainIds(chains) });
const document = createOpenApi({ routes, version: INTERFACE_VERSION }) as Json;
const operations = Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
  Object.entries<Json>(methods).map(([method, operation]) => ({ path, method, operation })),
);

describe('openapi.json', () => {
  test('behavior: the committed document equals the generated one (npm run openapi writes it)', () => {
    expect(readFileSync(join(root, 'openapi.json'), 'utf8')).toBe(`${JSON.stringify(document, null, 2)}\n`);
  });

  const run = promisify(execFile);
  // A proxy without a listener: a linter that uses the network fails.
  const env = {
    ...process.env,
    REDOCLY_TELEMETRY: 'off',
    REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
    HTTP_PROXY: 'http://127.0.0.1:1',
    HTTPS_PROXY: 'http://127.0.0.1:1',
  };
  const bin = (name: string) => join(root, 'node_modules/.bin', name);

  test('default: valid for redocly', async () => {
    await expect(run(bin('redocly'), ['lint', 'openapi.json'], { cwd: root, env })).resolves.toBeDefined();
  });

  test('default: valid for spectral', async () => {
    const args = ['lint', 'openapi.json', '--fail-severity=warn'];
    await expect(run(bin('spectral'), args, { cwd: root, env })).resolves.toBeDefined();
  });
});

describe('createOpenApi', () => {
  test('default: every row and the status pages', () => {
    expect(operations.map(({ method, path }) => `${method.toUpperCase()} ${path}`).sort()).toEqual(
      [...routes.map(({ method, path }) => `${method} ${path}`), 'GET /health', 'GET /ready'].sort(),
    );
  });

  test('behavior: every field and parameter is described', () => {
    const silent: string[] = [];
    const says = (it: Json): boolean => it.description || it.$ref || it.anyOf?.some(says) || it.allOf?.some(says);
    const visit = (node: Json, path: string): void => {
      if (typeof node !== 'object' || node === null) return;
      for (const [name, field] of Object.entries<Json>(node.properties ?? {})) {
        if (!says(field)) silent.push(`${path} ${name}`);
      }
      for (const parameter of node.parameters ?? []) if (!says(parameter)) silent.push(`${path} ${parameter.name}`);
      for (const [name, below] of Object.entries<Json>(node)) {
        if (name !== 'example' && name !== 'examples') visit(below, `${path}/${name}`);
      }
    };
    visit(document, '');
    expect(silent).toEqual([]);
  });

  test('behavior: keyed surfaces require the key, others none', () => {
    for (const { operation } of operations) {
      const [tag] = operation.tags;
      expect(operation.security).toEqual(['Partner', 'Ops'].includes(tag) ? [{ apiKey: [] }] : []);
    }
  });

  test('behavior: everything is described', () => {
    for (const { path, operation } of operations) {
      expect([path, operation.summary, operation.description]).toEqual([path, expect.any(String), expect.any(String)]);
      for (const parameter of operation.parameters ?? []) {
        expect([path, parameter.name, parameter.description ?? '']).toEqual([
          path,
          parameter.name,
          expect.stringMatching(/\w+/),
        ]);
        expect(parameter.schema.default === undefined || !parameter.required).toBe(true);
      }
    }
  });

  test('behavior: examples of one row have different names', () => {
    for (const route of routes) {
      const names = route.examples.map(exampleName);
      expect(names.length).toBeGreaterThan(0);
      expect(new Set(names)).toHaveLength(names.length);
    }
  });
});
