import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Artifacts, artifactOf, compileContracts } from '../devnet/chain/compile.ts';

interface Lens {
  readonly contract: string;
  readonly constant: string;
  /** What it does, as in "the contract that …". */
  readonly does: string;
  /** Which code: that which creates it, which arguments may follow, or that which runs at an address. */
  readonly code: 'creation' | 'creation with arguments' | 'runtime';
  /** Path of the generated module. */
  readonly file: string;
}

const generated = (name: string) => fileURLToPath(new URL(`../src/abi/generated/${name}.ts`, import.meta.url));

export const MARKET_LENS: Lens = {
  contract: 'MarketLens',
  constant: 'MARKET_LENS_CODE',
  does: 'reads markets',
  code: 'creation with arguments',
  file: generated('market-lens'),
};
export const FEED_LENS: Lens = {
  contract: 'FeedLens',
  constant: 'FEED_LENS_CODE',
  does: 'reads the feeds behind oracles',
  code: 'creation with arguments',
  file: generated('feed-lens'),
};

export const NODE_PROBE: Lens = {
  contract: 'NodeProbe',
  constant: 'NODE_PROBE_CODE',
  does: 'tells whether a node runs code as its chain does',
  code: 'creation',
  file: generated('node-probe'),
};
export const WALLET_EXECUTOR: Lens = {
  contract: 'WalletExecutor',
  constant: 'WALLET_EXECUTOR_CODE',
  does: 'runs calls as a wallet',
  code: 'runtime',
  file: generated('wallet-executor'),
};
/** All that is compiled into `src`. */
export const LENSES: readonly Lens[] = [MARKET_LENS, FEED_LENS, NODE_PROBE, WALLET_EXECUTOR];

/** Write the module that carries a lens's creation code to where there is no compiler. */
export function renderLens({ contract, constant, does, code }: Lens, artifacts: Artifacts): string {
  const { bytecode, deployedBytecode } = artifactOf(artifacts, contract);
  const kind = code === 'runtime' ? 'Runtime' : 'Creation';
  const more = code === 'creation with arguments' ? '; its arguments follow it' : '';
  return `// Made from contracts/product/${contract}.sol by \`npm run generate\`.

/** ${kind} code of the contract that ${does}${more}. */
export const ${constant} =
  '${code === 'runtime' ? deployedBytecode : bytecode}';
`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const artifacts = await compileContracts();
  for (const lens of LENSES) {
    mkdirSync(dirname(lens.file), { recursive: true });
    writeFileSync(lens.file, renderLens(lens, artifacts));
  }
}
