import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Artifacts, artifactOf, compileContracts } from '../devnet/chain/compile.ts';

interface Lens {
  readonly contract: string;
  readonly constant: string;
  /** What it does, as in "the contract that …". */
  readonly does: string;
  /** Whether arguments follow the code. */
  readonly takesArguments: boolean;
  /** Path of the generated module. */
  readonly file: string;
}

const generated = (name: string) => fileURLToPath(new URL(`../src/abi/generated/${name}.ts`, import.meta.url));

export const MARKET_LENS: Lens = {
  contract: 'MarketLens',
  constant: 'MARKET_LENS_CODE',
  does: 'reads markets',
  takesArguments: true,
  file: generated('market-lens'),
};
export const FEED_LENS: Lens = {
  contract: 'FeedLens',
  constant: 'FEED_LENS_CODE',
  does: 'reads the feeds behind oracles',
  takesArguments: true,
  file: generated('feed-lens'),
};

export const NODE_PROBE: Lens = {
  contract: 'NodeProbe',
  constant: 'NODE_PROBE_CODE',
  does: 'tells whether a node runs code as its chain does',
  takesArguments: false,
  file: generated('node-probe'),
};
/** All that is compiled into `src`. */
export const LENSES: readonly Lens[] = [MARKET_LENS, FEED_LENS, NODE_PROBE];

/** Write the module that carries a lens's creation code to where there is no compiler. */
export function renderLens({ contract, constant, does, takesArguments }: Lens, artifacts: Artifacts): string {
  const { bytecode } = artifactOf(artifacts, contract);
  return `// Made from contracts/product/${contract}.sol by \`npm run generate\`.

/** Creation code of the contract that ${does}${takesArguments ? '; its arguments follow it' : ''}. */
export const ${constant} =
  '${bytecode}';
`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const artifacts = await compileContracts();
  for (const lens of LENSES) {
    mkdirSync(dirname(lens.file), { recursive: true });
    writeFileSync(lens.file, renderLens(lens, artifacts));
  }
}
