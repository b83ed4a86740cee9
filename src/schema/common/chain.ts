import type { Chain, ChainContracts } from '../../catalog/types.ts';
import { secondOf } from '../../resolvers/common/age.ts';
import { requireChain, selectChains } from '../../resolvers/market/chains.ts';
import { readDeployment } from '../../resolvers/market/deployment.ts';
import { MAX_CHAINS, MAX_TOKENS } from '../../shared/contract/list-bounds.ts';
import { builder } from '../builder.ts';
import { FeesRef } from '../market/fees.ts';
import { TokenRef } from '../refs.ts';
import { ChainDeploymentRef } from './deployment.ts';
import { gapsOf } from './gaps.ts';
import { defineNode } from './node.ts';

const ContractsRef = builder.objectRef<ChainContracts>('ChainContracts').implement({
  description: 'Contracts of one chain that the product reads and addresses.',
  fields: (t) => ({
    morphoBlue: t.expose('morphoBlue', { type: 'Address', description: 'Lending protocol: Morpho Blue.' }),
    adaptiveCurveIrm: t.expose('adaptiveCurveIrm', {
      type: 'Address',
      description: 'Interest-rate model of the markets of Morpho Blue.',
    }),
    multicall3: t.expose('multicall3', { type: 'Address', description: 'Contract that batches reads.' }),
    flashLeverage: t.expose('flashLeverage', {
      type: 'Address',
      description: 'Contract that opens and manages leveraged positions.',
    }),
    flashLeverageRouter: t.expose('flashLeverageRouter', {
      type: 'Address',
      description: 'Contract that opens leveraged positions after a swap or a reallocation of liquidity.',
    }),
    publicAllocator: t.expose('publicAllocator', {
      type: 'Address',
      nullable: true,
      description:
        'Contract that moves vault liquidity between markets; `null` = the protocol has none there, and no liquidity is reallocated.',
    }),
    equityRouter: t.expose('equityRouter', {
      type: 'Address',
      nullable: true,
      description: 'Contract for entry and exit of equity vaults; `null` = no vaults are offered there.',
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
    explorerUrl: t.expose('explorerUrl', {
      type: 'URL',
      nullable: true,
      description:
        'Block explorer, an https URL without a slash at its end, to which `/address/…` and `/block/…` are appended; `null` = none is known.',
    }),
    contracts: t.expose('contracts', { type: ContractsRef, description: 'Addresses of the contracts.' }),
    stable: t.expose('stable', { type: TokenRef, description: 'Stablecoin in which exits are quoted.' }),
    native: t.expose('native', { type: TokenRef, description: 'Native token, at the zero address.' }),
    tokens: t.expose('tokens', {
      type: [TokenRef],
      complexity: { field: 1, multiplier: 50 },
      description: `All curated tokens, at most ${MAX_TOKENS}, in catalog order.`,
    }),
    deployment: t.field({
      type: ChainDeploymentRef,
      description: 'Terms of the contract that holds positions, read from it.',
      resolve: (chain, _args, ctx) => readDeployment(chain, ctx),
    }),
    version: t.int({
      description:
        'Version of the facts that this process answers from. It grows with every change; processes that share their facts may differ by a few versions.',
      resolve: (chain, _args, ctx) => ctx.loaders.facts(chain.chainId).version,
    }),
    fees: t.field({
      type: FeesRef,
      description:
        'Fees of the contract that holds positions: the yield fee on correlated markets, the deposit fee on all others.',
      resolve: (chain, _args, ctx) => ctx.loaders.composed(chain.chainId).fees.formatted,
    }),
    gaps: t.field(
      gapsOf(
        (chain: Chain, ctx) => ctx.loaders.composed(chain.chainId).fees.gaps,
        'Fields of `fees` that are `null` or carry a documented rate',
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
    nullable: true,
    complexity: { field: 1, multiplier: 2 },
    description: `Served chains, at most ${MAX_CHAINS}, in the order of the catalog.`,
    args: { chainIds: t.arg({ type: ['ChainId'], description: 'Only these chains; all when left out.' }) },
    resolve: (_root, { chainIds }, ctx) => selectChains(ctx, chainIds),
  }),
  chain: t.field({
    type: ChainRef,
    nullable: true,
    description: 'One served chain; an id that is not served is refused with the list of the served ones.',
    args: { chainId: t.arg({ type: 'ChainId', required: true, description: 'EVM chain id.' }) },
    resolve: (_root, { chainId }, ctx) => requireChain(ctx, chainId),
  }),
}));
