import { noteSubject } from '../../resolvers/common/context.ts';
import { type WalletChange, watchWallet } from '../../resolvers/position/wallet-changes.ts';
import { builder } from '../builder.ts';
import { ChainRef } from '../common/chain.ts';
import { CHAINS, MissingChainRef } from '../common/page.ts';
import { WalletRef } from './wallet.ts';

const WalletChangeRef = builder.objectRef<WalletChange>('WalletChange').implement({
  description: 'Holdings of a wallet on one chain as they read now, or the notice that they cannot be read.',
  fields: (t) => ({
    chain: t.expose('chain', { type: ChainRef, description: 'The chain.' }),
    version: t.exposeInt('version', {
      description: 'Version of the facts that the holdings are valued with, as in `strategyChanged`.',
    }),
    asOf: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Time of the block of the latest reading; `null` = there was none yet.',
      resolve: ({ asOfMs }) => asOfMs,
    }),
    stale: t.boolean({
      description: 'Whether the wallet cannot be read now: `reading` is the last one, see `missingChain`.',
      resolve: ({ missing }) => missing !== null,
    }),
    missingChain: t.expose('missing', {
      type: MissingChainRef,
      nullable: true,
      description: 'Reason for which the wallet cannot be read now; `null` = it was read.',
    }),
    reading: t.expose('wallet', {
      type: WalletRef,
      nullable: true,
      description: 'The wallet on this chain alone; `null` = it was not read yet.',
    }),
  }),
});

builder.subscriptionFields((t) => ({
  walletChanged: t.field({
    type: WalletChangeRef,
    authScopes: { partner: true },
    description:
      'Holdings of a wallet, chain by chain: at first, whenever they read differently after a refresh of market state, and when they cannot be read or can be read again. Needs a key.',
    args: {
      address: t.arg({ type: 'Address', required: true, description: 'The address.' }),
      chainIds: t.arg({ type: ['ChainId'], description: CHAINS }),
    },
    subscribe: (_root, args, ctx) => watchWallet(args, ctx),
    resolve: (change, _args, ctx) => {
      noteSubject(ctx, { chainId: change.chain.chainId, version: change.version });
      return change;
    },
  }),
}));
