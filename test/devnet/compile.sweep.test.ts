import { size } from 'viem';
import { describe, expect, it } from 'vitest';
import { artifactOf, compileContracts, type SolcOutput, toArtifacts } from '../../devnet/chain/compile.ts';

/** EIP-170: the largest code of one contract on a real chain. */
const CODE_SIZE_LIMIT = 24_576;

const code = { bytecode: { object: '6001' }, deployedBytecode: { object: '6002' } };

describe('compileContracts', () => {
  it('default: all contracts compile and fit the size limit of a real chain', async () => {
    const artifacts = await compileContracts();
    for (const name of ['Morpho', 'AdaptiveCurveIrm', 'PublicAllocator', 'Vault', 'FlashLeverage', 'EquityRouter']) {
      expect(size(artifactOf(artifacts, name).bytecode), name).toBeGreaterThan(0);
    }
    for (const [name, { deployedBytecode }] of Object.entries(artifacts)) {
      expect(size(deployedBytecode), name).toBeLessThanOrEqual(CODE_SIZE_LIMIT);
    }
    expect(() => artifactOf(artifacts, 'Nope')).toThrow('Nope');
  });
});

describe('toArtifacts', () => {
  const problem = (severity: 'error' | 'warning', file: string): SolcOutput => ({
    errors: [{ severity, formattedMessage: `${severity} in ${file}`, sourceLocation: { file } }],
    contracts: { 'contracts/A.sol': { A: { abi: [], evm: code } } },
  });

  it('default: leaves out interfaces, which have no code', () => {
    const none = { bytecode: { object: '' }, deployedBytecode: { object: '' } };
    const contracts = { 'contracts/A.sol': { A: { abi: [], evm: code }, IA: { abi: [], evm: none } } };
    expect(Object.keys(toArtifacts({ contracts }))).toEqual(['A']);
  });

  it('error: fails on a warning in our sources, and on any error', () => {
    expect(() => toArtifacts(problem('warning', 'contracts/A.sol'))).toThrow('contracts/A.sol');
    expect(() => toArtifacts(problem('error', '@morpho-org/morpho-blue/src/A.sol'))).toThrow('@morpho-org');
    expect(Object.keys(toArtifacts(problem('warning', '@morpho-org/morpho-blue/src/A.sol')))).toEqual(['A']);
  });

  it('error: two contracts of one name', () => {
    const file = { A: { abi: [], evm: code } };
    expect(() => toArtifacts({ contracts: { 'contracts/A.sol': file, 'contracts/B.sol': file } })).toThrow('A');
  });
});
