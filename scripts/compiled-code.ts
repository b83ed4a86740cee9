import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Artifacts, artifactOf, committedFiles, compileContracts } from '../devnet/chain/compile.ts';

interface CompiledCode {
  readonly contract: string;
  readonly constant: string;
  /** Its purpose, completing "the contract that …". */
  readonly does: string;
  /** Creation code, or the code at an address. */
  readonly code: 'creation' | 'runtime';
  /** Path of the generated module. */
  readonly file: string;
}

const generated = (name: string) => fileURLToPath(new URL(`../src/abi/generated/${name}.ts`, import.meta.url));

export const NODE_PROBE: CompiledCode = {
  contract: 'NodeProbe',
  constant: 'NODE_PROBE_CODE',
  does: 'checks whether a node runs code as its chain does',
  code: 'creation',
  file: generated('node-probe'),
};
export const WALLET_EXECUTOR: CompiledCode = {
  contract: 'WalletExecutor',
  constant: 'WALLET_EXECUTOR_CODE',
  does: 'runs calls as a wallet',
  code: 'runtime',
  file: generated('wallet-executor'),
};
/** All contracts compiled into `src`. */
export const COMPILED: readonly CompiledCode[] = [NODE_PROBE, WALLET_EXECUTOR];

/** Write the module with a contract's code, for use without a compiler. */
export function renderCode({ contract, constant, does, code }: CompiledCode, artifacts: Artifacts): string {
  const { bytecode, deployedBytecode } = artifactOf(artifacts, contract);
  return `// Generated from contracts/product/${contract}.sol by \`npm run generate\`.

/** ${code === 'runtime' ? 'Runtime' : 'Creation'} code of the contract that ${does}. */
export const ${constant} =
  '${code === 'runtime' ? deployedBytecode : bytecode}';
`;
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const { file, text } of await committedFiles()) write(file, text);
  const artifacts = await compileContracts();
  for (const code of COMPILED) write(code.file, renderCode(code, artifacts));
}
