import { readdirSync, readFileSync } from 'node:fs';
import { toEventSelector, toFunctionSelector } from 'viem';
import { describe, expect, it } from 'vitest';
import * as clientAbis from '../../packages/client/src/abi/index.ts';
import { CLIENT_ABIS, renderAbi } from '../../scripts/client-abi.ts';
import { renderChains } from '../../scripts/client-chains.ts';
import { createCatalog, curatedChains } from '../../src/catalog/index.ts';

const FOLDER = 'packages/client/src/abi/generated';

describe('ABIs of the client package', () => {
  it('default: are those of the service', () => {
    const files = readdirSync(FOLDER).sort();
    expect(files).toEqual(CLIENT_ABIS.map(({ file }) => `${file}.ts`).sort());
    for (const abi of CLIENT_ABIS) expect(readFileSync(`${FOLDER}/${abi.file}.ts`, 'utf8')).toBe(renderAbi(abi));
    expect(Object.keys(clientAbis).sort()).toEqual(CLIENT_ABIS.map(({ constant }) => constant).sort());
  });

  it('default: are exported with the types that viem infers arguments from', () => {
    const { flashLeverageAbi, morphoBlueAbi } = clientAbis;
    const leverage = flashLeverageAbi.find((item) => item.type === 'function' && item.name === 'leverage');
    const repaid = morphoBlueAbi.find((item) => item.type === 'event' && item.name === 'Repay');
    if (!leverage || !repaid) throw new Error('an item of the ABI is missing');
    expect(toFunctionSelector(leverage)).toBe(
      toFunctionSelector('leverage(address,(bytes32,uint256,uint256,(address,bytes),uint256))'),
    );
    expect(toEventSelector(repaid)).toBe(
      toEventSelector('event Repay(bytes32 indexed, address indexed, address indexed, uint256, uint256)'),
    );
  });
});

describe('trusted chains of the client package', () => {
  it('default: are those of the catalog', () => {
    const { chains } = createCatalog(curatedChains);
    expect(readFileSync('packages/client/src/verify/generated/chains.ts', 'utf8')).toBe(renderChains(chains));
  });
});
