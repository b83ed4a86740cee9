import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Abi } from 'viem';
import { equityRouterAbi } from '../src/abi/equity-router.ts';
import { erc20Abi } from '../src/abi/erc20.ts';
import { flashLeverageAbi, userProxyAbi } from '../src/abi/flash-leverage.ts';
import { flashLeverageRouterAbi } from '../src/abi/flash-leverage-router.ts';
import { morphoBlueAbi } from '../src/abi/morpho-blue.ts';
import { writeChains } from './client-chains.ts';
import { writeDescriptors } from './client-erc7730.ts';

interface ClientAbi {
  /** Of the module, without its extension. */
  readonly file: string;
  readonly constant: string;
  readonly of: string;
  readonly abi: Abi;
}

/** The ABIs that the client package carries: it imports nothing of the service. */
export const CLIENT_ABIS: readonly ClientAbi[] = [
  { file: 'erc20', constant: 'erc20Abi', of: 'the ERC-20 functions that plans call and previews read', abi: erc20Abi },
  { file: 'flash-leverage', constant: 'flashLeverageAbi', of: 'FlashLeverage', abi: flashLeverageAbi },
  {
    file: 'flash-leverage-router',
    constant: 'flashLeverageRouterAbi',
    of: 'FlashLeverageRouter',
    abi: flashLeverageRouterAbi,
  },
  { file: 'equity-router', constant: 'equityRouterAbi', of: 'the equity router', abi: equityRouterAbi },
  {
    file: 'morpho-blue',
    constant: 'morphoBlueAbi',
    of: 'Morpho Blue: the functions that plans call or previews read, and the decoded events',
    abi: morphoBlueAbi,
  },
  {
    file: 'user-proxy',
    constant: 'userProxyAbi',
    of: 'the contract that holds one position of FlashLeverage',
    abi: userProxyAbi,
  },
];

/** Write the module of an ABI: one item a line, with the types that viem infers from it. */
export function renderAbi({ constant, of, abi }: ClientAbi): string {
  const items = abi.map((item) => `  ${JSON.stringify(item)},`);
  return `// Generated from src/abi by \`npm run generate\`.

/** ABI of ${of}. */
export const ${constant} = [
${items.join('\n')}
] as const;
`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = new URL('../packages/client/src/abi/generated/', import.meta.url);
  mkdirSync(folder, { recursive: true });
  for (const abi of CLIENT_ABIS) writeFileSync(new URL(`${abi.file}.ts`, folder), renderAbi(abi));
  writeChains();
  writeDescriptors();
}
