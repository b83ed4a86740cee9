import { encodeAbiParameters, type Hex, hexToBigInt, keccak256, numberToHex, pad } from 'viem';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { LocalChain } from '../../../devnet/chain/index.ts';
import type { Market } from '../../../src/catalog/index.ts';
import { answering } from '../../support/answering.ts';
import { type Json, noSleep, startService, type TestService } from '../../support/service.ts';
import { marketOf } from '../leverage/support.ts';

const OTHER = '0x00000000000000000000000000000000000000A1';

let service: TestService;
beforeAll(async () => {
  service = await startService({ sleep: noSleep, env: { METRICS_PORT: '0' } });
});
afterAll(() => service?.stop());

const states: { chainId: number; id: Hex }[] = [];
beforeEach(async () => {
  for (const { chainId, id } of states.splice(0)) await service.world.chains.on(chainId).revert(id);
  for (const chainId of [1, 4663]) {
    states.push({ chainId, id: await service.world.chains.on(chainId).snapshot() });
    await service.refresh(`deployment:${chainId}`);
  }
});

const word = (value: bigint): Hex => numberToHex(value, { size: 32 });
const text = (value: string): Hex => encodeAbiParameters([{ type: 'string' }], [value]);
const disagreements = async (chainId: number): Promise<readonly Json[]> =>
  (await service.get('/health')).body.chains.find((chain: Json) => chain.chainId === chainId).disagreements;
const counted = async (chainId: number, effect: string): Promise<number> => {
  const printed = await (await fetch(`${service.app.metricsUrl}/metrics`)).text();
  const series = `spiral_catalog_disagreements{chain_id="${chainId}",effect="${effect}"} `;
  return Number(
    printed
      .split('\n')
      .find((line) => line.startsWith(series))
      ?.slice(series.length),
  );
};

/** Of `idToMarketParams`, the ninth thing that Morpho Blue stores. */
const PARAMS_SLOT = 8n;
const FIELDS = ['loanToken', 'collateralToken', 'oracle', 'irm', 'lltv'] as const;
async function storeParam({ client, chain }: LocalChain, { id }: Market, field: (typeof FIELDS)[number], value: Hex) {
  const base = keccak256(encodeAbiParameters([{ type: 'bytes32' }, { type: 'uint256' }], [id, PARAMS_SLOT]));
  await client.setStorageAt({
    address: chain.contracts.morphoBlue,
    index: word(hexToBigInt(base) + BigInt(FIELDS.indexOf(field))),
    value: pad(value, { size: 32 }),
  });
}

interface Planted {
  readonly kind: string;
  readonly effect: string;
  readonly key: (chain: LocalChain, market: Market) => string;
  readonly plant: (chain: LocalChain, market: Market) => Promise<void>;
  readonly says: readonly [catalog: string | RegExp, chain: string | RegExp];
  /** It is the same of everything that the contract is asked about. */
  readonly ofMany?: boolean;
}

const collateral = (_chain: LocalChain, market: Market): string => market.collateral.address;
const ofMarket = (_chain: LocalChain, { id }: Market): string => id;

const PLANTED: readonly Planted[] = [
  {
    kind: 'decimals',
    effect: 'no_builds',
    key: collateral,
    plant: (chain, market) => answering(chain, market.collateral.address, { 'decimals()': word(255n) }),
    says: [/^\d+$/, '255'],
  },
  {
    kind: 'symbol',
    effect: 'warning',
    key: collateral,
    plant: (chain, market) => answering(chain, market.collateral.address, { 'symbol()': text('X'.repeat(10_000)) }),
    says: [/./, `${'X'.repeat(32)}...`],
  },
  {
    kind: 'no_code',
    effect: 'no_builds',
    key: collateral,
    plant: ({ client }, market) => client.setCode({ address: market.collateral.address, bytecode: '0x' }),
    says: ['a contract', 'no code'],
  },
  {
    kind: 'not_created',
    effect: 'no_builds',
    key: ofMarket,
    plant: async (chain, market) => {
      for (const field of FIELDS) await storeParam(chain, market, field, '0x00');
    },
    says: [/^0x/, 'no such market'],
  },
  {
    kind: 'parameters',
    effect: 'no_builds',
    key: ofMarket,
    plant: (chain, market) => storeParam(chain, market, 'lltv', '0x01'),
    says: [/^lltv \d{18}$/, 'lltv 1'],
  },
  {
    kind: 'oracle',
    effect: 'no_builds',
    key: ofMarket,
    plant: (chain, market) => storeParam(chain, market, 'oracle', OTHER),
    says: [/^0x/, OTHER],
  },
  {
    kind: 'correlated',
    effect: 'no_new_risk',
    key: ofMarket,
    plant: (chain) => answering(chain, chain.chain.contracts.flashLeverage, { 's_isCorrelated(bytes32)': word(0n) }),
    says: ['correlated', 'uncorrelated'],
    ofMany: true,
  },
  {
    kind: 'no_code',
    effect: 'warning',
    key: ({ chain }) => chain.contracts.flashLeverageRouter,
    plant: ({ client, chain }) => client.setCode({ address: chain.contracts.flashLeverageRouter, bytecode: '0x' }),
    says: ['a contract', 'no code'],
  },
  {
    kind: 'contract',
    effect: 'no_builds',
    key: ({ chain }) => chain.contracts.flashLeverage,
    plant: (chain) => answering(chain, chain.chain.contracts.flashLeverage, { 'i_morpho()': pad(OTHER, { size: 32 }) }),
    says: [/^morphoBlue 0x/, `morphoBlue ${OTHER}`],
  },
];

describe('catalog and chain', () => {
  it('default: they agree', async () => {
    for (const chainId of [1, 4663]) {
      expect(await disagreements(chainId)).toEqual([]);
      expect(await counted(chainId, 'no_builds')).toBe(0);
    }
  });

  describe.each([
    [1, 'sUSDe/PYUSD 91.5'],
    [4663, 'syrupUSDG/USDG 91.5'],
  ])('on chain %i', (chainId, name) => {
    it.each(PLANTED.map((planted) => [`${planted.kind} (${planted.effect})`, planted] as const))(
      'error: the warmer finds %s and reports both sides, source and age',
      async (_name, { kind, effect, key, plant, says, ofMany }) => {
        const chain = service.world.chains.on(chainId);
        const market = marketOf(chainId, name);
        await plant(chain, market);
        await service.refresh(`deployment:${chainId}`);
        const found = await disagreements(chainId);
        const { timestamp } = await chain.client.getBlock();
        expect(found.find((one) => one.key === key(chain, market))).toEqual({
          kind,
          effect,
          key: key(chain, market),
          name: expect.any(String),
          catalog: expect.stringMatching(says[0]),
          chain: typeof says[1] === 'string' ? says[1] : expect.stringMatching(says[1]),
          source: 'chain',
          asOf: new Date(Number(timestamp) * 1_000).toISOString(),
        });
        expect(new Set(found.map((one) => one.kind))).toEqual(new Set([kind]));
        if (!ofMany) expect(found).toHaveLength(1);
        expect(await counted(chainId, effect)).toBe(found.length);
      },
    );
  });
});
