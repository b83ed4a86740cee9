import type { Plugin } from 'vitest/config';

/** The constants of `src/abi/generated`, with the part of the compiler's output that they hold. */
const COMPILED_INTO_SRC: Readonly<Record<string, string>> = {
  'node-probe': 'NodeProbe?.bytecode',
  'wallet-executor': 'WalletExecutor?.deployedBytecode',
};

/** Serve the compiler of the tests with the contracts of the active mutant in place of the unchanged ones. */
export function compiledMutants(): Plugin {
  return {
    name: 'mutants-of-contracts',
    enforce: 'pre',
    transform(code, id) {
      const path = id.split('?')[0] ?? id;
      if (path.endsWith('/devnet/chain/compile.ts')) {
        const changed =
          'export async function compileContracts() { return { ...(await compileUnchanged()), ...__mutants.compiled() }; }';
        return code.replace('export async function compileContracts', `${changed}\nasync function compileUnchanged`);
      }
      // Chains that are kept for later tests have the contracts of one mutant.
      if (path.endsWith('/test/support/chain-pool.ts'))
        return code.replace('deployment],', 'deployment, __mutants.active],');
      const name = /\/src\/abi\/generated\/([a-z-]+)\.ts$/.exec(path)?.[1] ?? '';
      const part = COMPILED_INTO_SRC[name];
      return part === undefined ? undefined : code.replace(/=\s*'0x/, `= __mutants.compiled().${part} ?? '0x`);
    },
  };
}
