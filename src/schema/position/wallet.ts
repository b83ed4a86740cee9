import type { ComposedWallet } from '../../domain/position/wallet.ts';
import {
  askedWallets,
  type LeftAuthorization,
  leftAuthorizations,
  listPositions,
  MAX_WALLETS,
  proxyOwnerOf,
  readWallet,
  readWallets,
  walletGaps,
  withStatus,
} from '../../resolvers/position/positions.ts';
import type { ProxyOwner } from '../../transactions/index.ts';
import { builder } from '../builder.ts';
import { GapRef } from '../common/stamp.ts';
import { EquityPositionRef } from '../equity/equity-position.ts';
import { UnsignedCallRef } from '../transaction/call.ts';
import { PositionRef, PositionStatusRef } from './position.ts';

const ProxyOwnerRef = builder.objectRef<ProxyOwner>('ProxyOwner').implement({
  description: 'Whose position the contract of a position holds.',
  fields: (t) => ({
    owner: t.expose('owner', { type: 'Address', description: 'The wallet that owns the position.' }),
    positionId: t.exposeInt('positionId', { description: "Which of the owner's positions." }),
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

export const WalletRef = builder.objectRef<ComposedWallet>('Wallet').implement({
  description: 'What a wallet holds on one chain, read live at one block. Everything stands in it once.',
  fields: (t) => ({
    address: t.field({ type: 'Address', description: 'The wallet.', resolve: ({ wallet }) => wallet }),
    chainId: t.expose('chainId', { type: 'ChainId', description: 'The chain.' }),
    blockNumber: t.field({
      type: 'BigInteger',
      description: 'Block at which it was read.',
      resolve: ({ block }) => block.number,
    }),
    asOf: t.field({
      type: 'DateTime',
      description: 'Time of that block.',
      resolve: ({ block }) => Number(block.timestamp) * 1_000,
    }),
    positions: t.field({
      type: [PositionRef],
      description: 'Plain positions, newest first; loops that belong to a vault stand in the vault.',
      args: { status: t.arg({ type: [PositionStatusRef], description: 'Only with one of these; all when left out.' }) },
      resolve: ({ positions }, { status }) => withStatus(positions, status),
    }),
    equityPositions: t.expose('equityPositions', {
      type: [EquityPositionRef],
      complexity: { field: 1, multiplier: 3 },
      description: 'Open equity vaults.',
    }),
    leftAuthorizations: t.field({
      type: [LeftAuthorizationRef],
      nullable: true,
      complexity: { field: 1, multiplier: 1 },
      description:
        'Authorizations at the lending protocol that a broken-off batch left behind, with the call that ends each; empty = none, `null` = not known: see `gaps`.',
      resolve: (wallet, _args, ctx) => leftAuthorizations(wallet, ctx),
    }),
    gaps: t.field({
      type: [GapRef],
      complexity: { field: 1, multiplier: 1 },
      description: 'Every field that is not known, and why.',
      resolve: (wallet) => walletGaps(wallet),
    }),
    proxyOf: t.field({
      type: ProxyOwnerRef,
      nullable: true,
      description:
        'Set when the address is no wallet but the contract that holds a position: it has nothing itself, ask for the owner; `null` = it is none.',
      resolve: (wallet, _args, ctx) => proxyOwnerOf(wallet, ctx),
    }),
  }),
});

const ADDRESSES = `1 to ${MAX_WALLETS} wallets. They share a constant number of chain reads.`;

builder.queryFields((t) => ({
  wallet: t.field({
    type: WalletRef,
    nullable: true,
    authScopes: { partner: true },
    description:
      'Positions and equity vaults of a wallet. Needs a key. A wallet that never opened anything has empty lists.',
    args: {
      address: t.arg({ type: 'Address', required: true, description: 'The wallet.' }),
      chainId: t.arg({ type: 'ChainId', required: true, description: 'The chain.' }),
    },
    resolve: (_root, args, ctx) => readWallet(args, ctx),
  }),
  wallets: t.field({
    type: [WalletRef],
    nullable: { list: true, items: true },
    authScopes: { partner: true },
    complexity: (args) => ({ field: 1, multiplier: askedWallets(args) }),
    description:
      'The same of several wallets, in the order asked. One that cannot be read is `null` with its own error. Needs a key.',
    args: {
      addresses: t.arg({ type: ['Address'], required: true, description: ADDRESSES }),
      chainId: t.arg({ type: 'ChainId', required: true, description: 'The chain.' }),
    },
    resolve: (_root, args, ctx) => readWallets(args, ctx),
  }),
  positions: t.field({
    type: [PositionRef],
    nullable: true,
    authScopes: { partner: true },
    complexity: (args) => ({ field: 1, multiplier: 5 * askedWallets(args) }),
    description:
      'Plain positions of several wallets in one list, wallet by wallet, newest first. When one wallet cannot be read the list is `null` with the error: a shorter list would lie. Needs a key.',
    args: {
      addresses: t.arg({ type: ['Address'], required: true, description: ADDRESSES }),
      chainId: t.arg({ type: 'ChainId', required: true, description: 'The chain.' }),
      status: t.arg({ type: [PositionStatusRef], description: 'Only with one of these; all when left out.' }),
    },
    resolve: (_root, args, ctx) => listPositions(args, ctx),
  }),
}));
