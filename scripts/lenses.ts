import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Artifacts, artifactOf, compileContracts } from '../devnet/chain/compile.ts';

interface Lens {
  readonly contract: string;
  readonly constant: string;
  readonly reads: string;
  /** Path of the generated module. */
  readonly file: string;
}

const generated = (name: string) => fileURLToPath(new URL(`../src/abi/generated/${name}.ts`, import.meta.url));

export const MARKET_LENS: Lens = {
  contract: 'MarketLens',
  constant: 'MARKET_LENS_CODE',
  reads: 'markets',
  file: generated('market-lens'),
};
export const FEED_LENS: Lens = {
  contract: 'FeedLens',
  constant: 'FEED_LENS_CODE',
  reads: 'the feeds behind oracles',
  file: generated('feed-lens'),
};

/** Write the module that carries a lens's creation code to where there is no compiler. */
export function renderLens({ contract, constant, reads }: Lens, artifacts: Artifacts): string {
  const { bytecode } = artifactOf(artifacts, contract);
  return `// Made from contracts/product/${contract}.sol by \`npm run generate\`.

/** Creation code of the contract that reads ${reads}; its arguments follow it. */
export const ${constant} =
  '${bytecode}';
`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const artifacts = await compileContracts();
  for (const lens of [MARKET_LENS, FEED_LENS]) {
    mkdirSync(dirname(lens.file), { recursive: true });
    writeFileSync(lens.file, renderLens(lens, artifacts));
  }
}
