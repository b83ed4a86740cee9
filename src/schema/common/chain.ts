import type { Chain, ChainContracts } from '../../catalog/types.ts';
import { formatFees } from '../../domain/market/fees.ts';
import { secondOf } from '../../resolvers/common/age.ts';
import { listChains, requireChain } from '../../resolvers/market/chains.ts';
import { readDeployment } from '../../resolvers/market/deployment.ts';
import { builder } from '../builder.ts';
import { FeesRef } from '../market/fees.ts';
import { TokenRef } from '../refs.ts';
import { ChainDeploymentRef } from './deployment.ts';
import { gapsOf } from './gaps.ts';
import { defineNode } from './node.ts';

const ContractsRef = builder.objectRef<ChainContracts>('ChainContracts').implement({
  description: 'The contracts of one chain that the product reads and addresses.',
  fields: (t) => ({
    morphoBlue: t.expose('morphoBlue', { type: 'Address', description: 'The lending protocol: Morpho Blue.' }),
    adaptiveCurveIrm: t.expose('adaptiveCurveIrm', {
      type: 'Address',
      description: 'The interest-rate model of its markets.',
    }),
    multicall3: t.expose('multicall3', { type: 'Address', description: 'The contract that batches reads.' }),
    flashLeverage: t.expose('flashLeverage', {
      type: 'Address',
      description: 'Opens and manages leveraged positions.',
    }),
    flashLeverageRouter: t.expose('flashLeverageRouter', {
      type: 'Address',
      description: 'The same with a swap or a reallocation of liquidity before.',
    }),
    publicAllocator: t.expose('publicAllocator', {
      type: 'Address',
      nullable: true,
      description:
        'Moves vault liquidity between markets; `null` where the protocol has none and reallocation is unavailable.',
    }),
    equityRouter: t.expose('equityRouter', {
      type: 'Address',
      nullable: true,
      description: 'Entry and exit of equity vaults; `null` where they are not offered.',
    }),
  }),
});

export const ChainRef = builder.objectRef<Chain>('Chain');
defineNode(ChainRef, {
  key: ['chainId'],
  keyOf: ({ chainId }) => [chainId],
  load: ([chainId], ctx) => requireChain(ctx, chainId),
});

ChainRef.implement({
  description: 'One served EVM chain.',
  fields: (t) => ({
    chainId: t.expose('chainId', { type: 'ChainId', description: 'EVM chain id.' }),
    name: t.exposeString('name', { description: 'Name as people know it.' }),
    contracts: t.expose('contracts', { type: ContractsRef, description: 'Contract addresses.' }),
    stable: t.expose('stable', { type: TokenRef, description: 'The stablecoin in which exits are quoted.' }),
    native: t.expose('native', { type: TokenRef, description: 'The native token, at the zero address.' }),
    tokens: t.expose('tokens', {
      type: [TokenRef],
      complexity: { field: 1, multiplier: 50 },
      description: 'All curated tokens, in catalog order.',
    }),
    deployment: t.field({
      type: ChainDeploymentRef,
      description: 'What the contract that holds positions says of itself.',
      resolve: (chain, _args, ctx) => readDeployment(chain, ctx),
    }),
    version: t.int({
      description: 'Version of the facts that answers are made from; grows by one with every refresh.',
      resolve: (chain, _args, ctx) => ctx.loaders.facts(chain.chainId).version,
    }),
    fees: t.field({
      type: FeesRef,
      description:
        'What the contract that holds positions takes: the yield fee on correlated markets, the deposit fee on all others.',
      resolve: (chain, _args, ctx) => formatFees(ctx.loaders.composed(chain.chainId).fees),
    }),
    gaps: t.field(
      gapsOf(
        (chain: Chain, ctx) => ctx.loaders.composed(chain.chainId).fees.gaps,
        'Every field of `fees` that is `null` or carries a documented rate',
      ),
    ),
    ready: t.boolean({
      description: 'Whether market state and oracle values are measured and not far past their budgets.',
      resolve: (chain, _args, ctx) => ctx.services.health.readiness(chain.chainId, secondOf(ctx)).ready,
    }),
  }),
});

builder.queryFields((t) => ({
  chains: t.field({
    type: [ChainRef],
    complexity: { field: 1, multiplier: 2 },
    description: 'All served chains.',
    resolve: (_root, _args, ctx) => listChains(ctx),
  }),
  chain: t.field({
    type: ChainRef,
    nullable: true,
    description: 'One served chain; an id that is not served is refused with the list of those that are.',
    args: { chainId: t.arg({ type: 'ChainId', required: true, description: 'EVM chain id.' }) },
    resolve: (_root, { chainId }, ctx) => requireChain(ctx, chainId),
  }),
}));
