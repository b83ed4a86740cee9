import { readAtOf } from '../../domain/position/types.ts';
import type { ComposedWallet } from '../../domain/position/wallet.ts';
import { type PageArgs, requestedPageSize } from '../../resolvers/common/page.ts';
import {
  type LeftAuthorization,
  leftAuthorizations,
  MAX_WALLETS,
  proxyOwnerOf,
  readPosition,
  requestedWallets,
  walletGaps,
} from '../../resolvers/position/positions.ts';
import { totalsOf, totalsOnChain } from '../../resolvers/position/wallet-totals.ts';
import {
  chainsKey,
  findWallet,
  freshWallet,
  freshWallets,
  netValueUsdOf,
  positionsOf,
  type WalletView,
} from '../../resolvers/position/wallets.ts';
import { MAX_CHAINS, MAX_VAULTS } from '../../shared/contract/list-bounds.ts';
import type { ProxyOwner } from '../../transactions/index.ts';
import { builder } from '../builder.ts';
import { freshArgs } from '../common/fresh-args.ts';
import { gapsOf } from '../common/gaps.ts';
import { defineNode } from '../common/node.ts';
import { CHAINS, MissingChainRef, measuredFields, pageArgs } from '../common/page.ts';
import { ReadAtRef } from '../common/stamp.ts';
import { EquityPositionRef } from '../equity/equity-position.ts';
import { UnsignedCallRef } from '../transaction/call.ts';
import { PositionRef, PositionStatusRef } from './position.ts';
import { WalletTotalsRef } from './wallet-totals.ts';

const ProxyOwnerRef = builder.objectRef<ProxyOwner>('ProxyOwner').implement({
  description: 'The owner of a position, named by the contract that holds it.',
  fields: (t) => ({
    owner: t.expose('owner', { type: 'Address', description: 'The wallet that owns the position.' }),
    positionIndex: t.exposeInt('positionId', {
      description: 'Index of the position among those of the owner.',
    }),
  }),
});

const LeftAuthorizationRef = builder.objectRef<LeftAuthorization>('LeftAuthorization').implement({
  description:
    "A router that may act on the wallet's own lending positions, because the batch that let it was broken off before its last call.",
  fields: (t) => ({
    authorized: t.expose('authorized', { type: 'Address', description: 'The router.' }),
    call: t.expose('call', { type: UnsignedCallRef, description: 'The unsigned call that takes it back.' }),
  }),
});

const WalletOnChainRef = builder.objectRef<ComposedWallet>('WalletOnChain').implement({
  description: 'The reading of a wallet on one chain.',
  fields: (t) => ({
    chainId: t.expose('chainId', { type: 'ChainId', description: 'The chain.' }),
    readAt: t.field({
      type: ReadAtRef,
      description: 'Block of the reading.',
      resolve: ({ block }) => readAtOf(block),
    }),
    leftAuthorizations: t.field({
      type: [LeftAuthorizationRef],
      nullable: true,
      complexity: { field: 1, multiplier: 1 },
      description: `Authorizations at the lending protocol that a broken-off batch left behind, with the call that ends each; one per router, at most 1.`,
      resolve: (wallet, _args, ctx) => leftAuthorizations(wallet, ctx),
    }),
    proxyOf: t.field({
      type: ProxyOwnerRef,
      nullable: true,
      description:
        'Owner of the position that the address holds, where it is no wallet but the contract of a position: such an address has nothing itself, ask for the owner. `null` = the address is no such contract.',
      resolve: (wallet, _args, ctx) => proxyOwnerOf(wallet, ctx),
    }),
    totals: t.field({
      type: WalletTotalsRef,
      complexity: 5,
      description: 'Sums over what the wallet has on the chain.',
      resolve: (wallet, _args, ctx) => totalsOnChain(wallet, ctx),
    }),
    gaps: t.field(
      gapsOf<ComposedWallet>((wallet) => walletGaps(wallet), 'Every field that is `null` because it is not known'),
    ),
  }),
});

export const WalletRef = builder.objectRef<WalletView>('Wallet');
defineNode(WalletRef, {
  key: ['word', 'address'],
  keyOf: (wallet) => [chainsKey(wallet), wallet.address],
  load: ([chains, address], ctx) => findWallet(chains, address, ctx),
  scope: 'partner',
});

const PositionConnectionRef = builder.connectionObject(
  {
    type: PositionRef,
    name: 'PositionConnection',
    description: 'A page of positions.',
    fields: (t) => ({
      asOf: t.field(measuredFields.asOf),
      missingChains: t.field(measuredFields.missingChains),
    }),
  },
  { name: 'PositionEdge', description: 'A position and its place in the list.' },
);

/** Expected positions of a wallet, for the cost: far fewer than the page limit. */
const EXPECTED_POSITIONS = 10;
const expectedPositions = (args: PageArgs): number =>
  args.first == null && args.last == null ? EXPECTED_POSITIONS : requestedPageSize(args);

WalletRef.implement({
  description:
    'Holdings of one address on the requested chains, read live, each chain at one block. Everything is in it once. The requested chains are part of its identity.',
  fields: (t) => ({
    address: t.expose('address', { type: 'Address', description: 'The address.' }),
    chainIds: t.field({
      type: ['ChainId'],
      description: `The requested chains, at most ${MAX_CHAINS}.`,
      resolve: ({ chainIds }) => [...chainIds],
    }),
    onChains: t.field({
      type: [WalletOnChainRef],
      complexity: { field: 1, multiplier: 2 },
      description: `The reading of each chain, one entry per requested chain, at most ${MAX_CHAINS}.`,
      resolve: ({ readings }) => [...readings],
    }),
    missingChains: t.field({
      type: [MissingChainRef],
      complexity: { field: 1, multiplier: 1 },
      description: `Requested chains on which the wallet cannot be read now, one entry per chain, at most ${MAX_CHAINS}. A wallet that can be read on no requested chain is answered with an error instead.`,
      resolve: ({ missingChains }) => [...missingChains],
    }),
    totals: t.field({
      type: WalletTotalsRef,
      complexity: 5,
      description: 'Sums over all requested chains; unknown, with a reason, while one of them is in `missingChains`.',
      resolve: (wallet, _args, ctx) => totalsOf(wallet, ctx),
    }),
    netValueUsd: t.field({
      type: 'Decimal',
      nullable: true,
      description:
        'Net value of all open positions and vaults, those under water as negative amounts; `totals.equityUsd` counts them as 0. USD with 2 places; `null` = the value of one of them, or what is on a requested chain, is not known.',
      resolve: (wallet) => netValueUsdOf(wallet),
    }),
    positions: t.field({
      type: PositionConnectionRef,
      complexity: (args) => ({ field: 1, multiplier: expectedPositions(args) }),
      description:
        'Plain positions, chain by chain, newest first; loops that belong to a vault are in `equityPositions`.',
      args: {
        ...pageArgs(t.arg),
        statuses: t.arg({
          type: [PositionStatusRef],
          description: 'Only positions with one of these; all when left out.',
        }),
      },
      resolve: (wallet, args, ctx) => positionsOf(wallet, args, ctx),
    }),
    equityPositions: t.field({
      type: [EquityPositionRef],
      complexity: { field: 1, multiplier: 3 },
      description: `Open equity vaults, one entry per chain and vault of the catalog, at most ${MAX_CHAINS * MAX_VAULTS}: those with a debt on their stock market, or with collateral there worth at least 0.01 USD, because anybody may supply collateral on behalf of a wallet.`,
      resolve: ({ readings }) => readings.flatMap(({ equityPositions }) => equityPositions),
    }),
  }),
});

const ADDRESSES = `Addresses, 1 to ${MAX_WALLETS}. They share a constant number of chain reads.`;

builder.queryFields((t) => ({
  position: t.field({
    type: PositionRef,
    nullable: true,
    authScopes: { partner: true },
    description:
      'One position of a wallet, a loop of a vault too; `null` = the wallet has none of that index. Needs a key.',
    args: {
      id: t.arg({ type: 'PositionId', required: true, description: 'Id of the position, with its chain.' }),
      wallet: t.arg({
        type: 'Address',
        description: 'The owner; may be left out with a global id, which names it. Another one is refused.',
      }),
    },
    resolve: (_root, args, ctx) => readPosition(args, ctx),
  }),
  wallet: t.field({
    type: WalletRef,
    nullable: true,
    authScopes: { partner: true },
    description:
      'Positions and equity vaults of a wallet. Needs a key. An address that never opened anything has empty lists.',
    args: {
      address: t.arg({ type: 'Address', required: true, description: 'The address.' }),
      chainIds: t.arg({ type: ['ChainId'], description: CHAINS }),
      ...freshArgs(t.arg),
    },
    resolve: (_root, args, ctx, info) => freshWallet(args, ctx, info),
  }),
  wallets: t.field({
    type: [WalletRef],
    nullable: { list: true, items: true },
    authScopes: { partner: true },
    complexity: (args) => ({ field: 1, multiplier: requestedWallets(args) }),
    description: `Positions and equity vaults of several wallets, exactly one entry per address in the requested order, at most ${MAX_WALLETS}. A wallet that cannot be read on any requested chain is \`null\` with an error of its own. Needs a key.`,
    args: {
      addresses: t.arg({ type: ['Address'], required: true, description: ADDRESSES }),
      chainIds: t.arg({ type: ['ChainId'], description: CHAINS }),
      ...freshArgs(t.arg),
    },
    resolve: (_root, args, ctx, info) => freshWallets(args, ctx, info),
  }),
}));
