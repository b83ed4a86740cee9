import { type ExecutionResult, graphql } from 'graphql';
import { describe, expect, it } from 'vitest';
import { ChainReadError } from '../../src/chain/rpc/errors.ts';
import type { AppContext } from '../../src/resolvers/common/context.ts';
import type { PositionsPort, WalletReading } from '../../src/resolvers/position/position-services.ts';
import { MAX_WALLETS, readWallet } from '../../src/resolvers/position/positions.ts';
import { showWallets } from '../../src/resolvers/position/wallets.ts';
import { appErrorBehind } from '../../src/schema/common/input-errors.ts';
import { buildSchema } from '../../src/schema/index.ts';
import { BadRequestError, NotReadyError } from '../../src/shared/errors.ts';
import type { Address } from '../../src/shared/ids.ts';
import { walletOf } from '../chain/position-world.ts';
import { BLOCK, held } from '../domain/position/position-world.ts';
import { chainOf, completeFacts } from '../domain/world.ts';
import { CHAIN_IDS, contextOf, halfContext, servicesOf } from './world.ts';

const [market] = chainOf(1).markets;
if (!market) throw new Error('a market expected');
const broken = walletOf(13);

/** Every wallet has an open position, a closed one and a liquidated one; one wallet cannot be read. */
function world(caller: AppContext['caller'] = { kind: 'key', keyId: 'k', tier: 'partner' }) {
  const reads: (readonly Address[])[] = [];
  const positions: PositionsPort = {
    registered: async (_chainId, wallets) => new Map(wallets.map((wallet) => [wallet, []])),
    read: async (chainId, wallets) => {
      reads.push(wallets);
      return new Map<Address, WalletReading | Error>(
        wallets.map((wallet) => {
          if (wallet === broken) return [wallet, new ChainReadError('reverted')];
          const array = [
            held(market?.id as never, { id: 0, open: false }),
            held(market?.id as never, { id: 1, collateral: 10n ** 21n, borrowShares: 7n * 10n ** 14n }),
            held(market?.id as never, { id: 2 }),
          ];
          return [
            wallet,
            { holdings: { chainId, wallet, block: BLOCK, positions: array, stocks: [] }, tags: new Map() },
          ];
        }),
      );
    },
    vaultOf: async () => null,
    page: async () => ({ wallets: [], unreadable: [], totalCount: 0, next: null }),
  };
  const services = servicesOf(
    CHAIN_IDS.map((chainId) => completeFacts(chainOf(chainId))),
    { positions },
  );
  return { reads, ctx: { ...contextOf(services), caller } };
}

const schema = buildSchema();
const run = (source: string, contextValue: AppContext, variableValues: Record<string, unknown> = {}) =>
  graphql({ schema, source, variableValues, contextValue });
const codeOf = (result: ExecutionResult) => {
  const error = result.errors?.[0];
  return error && appErrorBehind(error)?.code;
};

describe('readWallet', () => {
  it('default: newest first', async () => {
    const { ctx } = world();
    const found = await readWallet({ address: walletOf(1), chainId: 1 }, ctx);
    expect(found.positions.map(({ id, status }) => `${id} ${status}`)).toEqual(['2 liquidated', '1 open', '0 closed']);
    expect(found).toMatchObject({ wallet: walletOf(1), block: BLOCK, equityPositions: [] });
  });

  it('error: BadRequestError, NotReadyError, ChainReadError', async () => {
    const { ctx } = world();
    await expect(readWallet({ address: walletOf(1), chainId: 2 }, ctx)).rejects.toThrow(BadRequestError);
    await expect(readWallet({ address: broken, chainId: 1 }, ctx)).rejects.toThrow(ChainReadError);
    await expect(readWallet({ address: walletOf(1), chainId: 4663 }, halfContext())).rejects.toThrow(NotReadyError);
  });
});

describe('showWallets', () => {
  it.each([0, MAX_WALLETS + 1])('error: BadRequestError for %i addresses', (count) => {
    const addresses = Array.from({ length: count }, (_, i) => walletOf(i));
    expect(() => showWallets({ addresses, chainIds: [1] }, world().ctx)).toThrow(BadRequestError);
  });
});

describe('wallet, wallets', () => {
  const addresses = Array.from({ length: 20 }, (_, i) => walletOf(i));

  it('behavior: all wallets of a document are one read per chain', async () => {
    const { ctx, reads } = world();
    const query = `query($a: [Address!]!, $one: Address!) {
      wallets(addresses: $a, chainIds: [1]) { address positions(statuses: [OPEN]) { nodes { positionIndex strategy { id: strategyId } collateralToken { symbol } } } }
      again: wallets(addresses: $a, chainIds: [1]) { onChains { readAt { blockNumber } } }
      wallet(address: $one, chainIds: [1]) { equityPositions { strategyId } }
      elsewhere: wallet(address: $one, chainIds: [4663]) { address }
    }`;
    const given = addresses.filter((address) => address !== broken);
    const { data, errors } = await run(query, ctx, { a: given, one: walletOf(99) });
    expect(errors).toBeUndefined();
    expect(reads.map((wallets) => wallets.length)).toEqual([given.length + 1, 1]);
    expect(data?.wallets).toHaveProperty('0', {
      address: given[0],
      positions: {
        nodes: [
          { positionIndex: 1, strategy: { id: market.id }, collateralToken: { symbol: market.collateral.symbol } },
        ],
      },
    });
  });

  it('behavior: a wallet that cannot be read is null with its error; the others answer', async () => {
    const result = await run(
      'query($a: [Address!]!) { wallets(addresses: $a, chainIds: [1]) { address } }',
      world().ctx,
      {
        a: [walletOf(1), broken, walletOf(2)],
      },
    );
    expect(result.data?.wallets).toEqual([{ address: walletOf(1) }, null, { address: walletOf(2) }]);
    expect(result.errors?.map(({ path }) => path)).toEqual([['wallets', 1]]);
    expect(codeOf(result)).toBe('upstream_unavailable');
  });

  it.each(['wallet(address: $a, chainIds: [1]) { address }', 'wallets(addresses: [$a], chainIds: [1]) { address }'])(
    'error: unauthorized without a key: %s',
    async (field) => {
      const { ctx, reads } = world({ kind: 'anonymous' });
      const result = await run(`query($a: Address!) { ${field} chains { chainId } }`, ctx, { a: walletOf(1) });
      expect(codeOf(result)).toBe('unauthorized');
      expect(result.data).toMatchObject({ chains: [{ chainId: 1 }, { chainId: 4663 }] });
      expect(reads).toEqual([]);
    },
  );

  it('behavior: a field that does not apply is null with its reason', async () => {
    const { data } = await run(
      'query($a: Address!) { wallet(address: $a, chainIds: [1]) { positions(statuses: [CLOSED]) { nodes { ltvPct gaps { field reason } } } } }',
      world().ctx,
      { a: walletOf(1) },
    );
    const gaps = expect.arrayContaining([{ field: 'ltvPct', reason: 'NOT_APPLICABLE' }]);
    expect(data?.wallet).toEqual({ positions: { nodes: [{ ltvPct: null, gaps }] } });
  });

  it('behavior: reports a chain that cannot be read, and answers for the others', async () => {
    const { ctx } = world();
    const partner = { kind: 'key', keyId: 'k', tier: 'partner' } as const;
    const half = { ...halfContext(), caller: partner, live: ctx.live, loaders: ctx.loaders };
    const { data, errors } = await run(
      'query($a: Address!) { wallet(address: $a) { chainIds onChains { chainId } missingChains { chainId reason } positions { missingChains { chainId } } } }',
      { ...half, services: { ...half.services, health: halfContext().services.health } },
      { a: walletOf(1) },
    );
    expect(errors).toBeUndefined();
    expect(data?.wallet).toEqual({
      chainIds: [1, 4663],
      onChains: [{ chainId: 1 }],
      missingChains: [{ chainId: 4663, reason: 'NOT_READY' }],
      positions: { missingChains: [{ chainId: 4663 }] },
    });
  });

  it('behavior: pages in both directions, and a position is found by its global id', async () => {
    const { ctx } = world();
    const page = async (args: string) => {
      const query = `query($a: Address!) { wallet(address: $a, chainIds: [1]) { positions(${args}) {
        totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor } nodes { id positionIndex } } } }`;
      const { data, errors } = await run(query, ctx, { a: walletOf(1) });
      expect(errors).toBeUndefined();
      return (data as { wallet: { positions: Record<string, never> } }).wallet.positions as never as {
        totalCount: number;
        pageInfo: Record<string, unknown>;
        nodes: { id: string; positionIndex: number }[];
      };
    };
    const first = await page('first: 2');
    expect(first).toMatchObject({ totalCount: 3, pageInfo: { hasNextPage: true, hasPreviousPage: false } });
    expect(first.nodes.map(({ positionIndex }) => positionIndex)).toEqual([2, 1]);
    const next = await page(`first: 2, after: "${first.pageInfo.endCursor}"`);
    expect(next.nodes.map(({ positionIndex }) => positionIndex)).toEqual([0]);
    const back = await page(`last: 1, before: "${next.pageInfo.startCursor}"`);
    expect(back.nodes.map(({ positionIndex }) => positionIndex)).toEqual([1]);
    const { data } = await run(
      'query($id: ID!) { node(id: $id) { id ... on Position { wallet positionIndex } } }',
      ctx,
      {
        id: back.nodes[0]?.id,
      },
    );
    expect(data?.node).toEqual({ id: back.nodes[0]?.id, wallet: walletOf(1), positionIndex: 1 });
  });
});
