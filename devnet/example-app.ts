import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Catalog } from '../src/catalog/index.ts';
import type { ExampleApp, WorldOverrides } from '../src/config/config.ts';
import { projectRoot } from './root.ts';
import { accounts } from './seed/accounts.ts';

export interface ExampleAppOptions {
  readonly catalog: Catalog;
  /** Where its wallet reaches the nodes. */
  readonly relayUrl: string;
  readonly sampleKeys: WorldOverrides['sampleKeys'];
}

/** The example app, which the service has at `/app/` in the local world only. It is bundled on its first request. */
export function exampleApp({ catalog, relayUrl, sampleKeys }: ExampleAppOptions): ExampleApp {
  const read = (name: string) => () => readFile(join(projectRoot(), 'examples/app', name), 'utf8');
  const [apiKey] = [...sampleKeys].find(([, { tier }]) => tier === 'partner') ?? [];
  const world = {
    apiKey,
    // Their keys are public, and the local nodes sign for them.
    accounts: accounts.map(({ address }) => address),
    chains: catalog.chains.map(({ chainId, name }) => ({ chainId, name, rpcUrl: `${relayUrl}/${chainId}` })),
  };
  return {
    connectsTo: [new URL(relayUrl).origin],
    files: {
      'index.html': read('index.html'),
      'style.css': read('style.css'),
      // Of the package that draws the charts.
      'uplot.css': () => readFile(createRequire(import.meta.url).resolve('uplot/dist/uPlot.min.css'), 'utf8'),
      'main.js': bundle,
      'world.json': () => JSON.stringify(world),
    },
  };
}

async function bundle(): Promise<string> {
  // A development dependency, needed here only.
  const { build } = await import('esbuild');
  const { outputFiles } = await build({
    entryPoints: [join(projectRoot(), 'examples/app/src/main.ts')],
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    minify: true,
    write: false,
    legalComments: 'none',
  });
  const [script] = outputFiles;
  if (script === undefined) throw new Error('The example app has no bundle.');
  return script.text;
}
