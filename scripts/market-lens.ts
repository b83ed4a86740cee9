import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Artifacts, artifactOf, compileContracts } from '../devnet/chain/compile.ts';

export const MARKET_LENS_FILE = fileURLToPath(new URL('../src/abi/generated/market-lens.ts', import.meta.url));

/** Write the module that carries the lens's creation code to where there is no compiler. */
export function renderMarketLens(artifacts: Artifacts): string {
  const { bytecode } = artifactOf(artifacts, 'MarketLens');
  return `// Made from contracts/product/MarketLens.sol by \`npm run generate\`.

/** Creation code of the contract that reads markets; its arguments follow it. */
export const MARKET_LENS_CODE =
  '${bytecode}';
`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  mkdirSync(dirname(MARKET_LENS_FILE), { recursive: true });
  writeFileSync(MARKET_LENS_FILE, renderMarketLens(await compileContracts()));
}
