import type { Catalog } from '../catalog/types.ts';
import type { ChainNodes } from '../chain/rpc/nodes.ts';
import { contractOf, isRouterAllowed } from '../domain/deployment/routers.ts';
import type { PartnerServices } from '../resolvers/transaction/partner-services.ts';
import type { ChainId } from '../shared/ids.ts';
import type { Timers } from '../shared/timers.ts';
import type { SwapQuotePort } from '../upstreams/types.ts';
import { type BuilderDeps, createNodes, type OnSimulated, usdPrices, type VaultOf } from './deps.ts';
import { depositEquity, exitEquity, previewEquity, type ReadWallet } from './equity/index.ts';
import { exitCost } from './exit-cost.ts';
import { requireChainOf } from './guards.ts';
import { managePosition } from './manage/index.ts';
import { openLeverage, prepareOpen } from './open/index.ts';
import { withVenues } from './quote/attempts.ts';
import { createQuoter } from './quote/quoter.ts';
import type { VenueStatistics } from './quote/statistics.ts';
import { createPositionDirectory } from './read/position.ts';
import { readProxyOwners } from './read/signer.ts';
import { createTokenDirectory } from './read/tokens.ts';

export { buildManualExit } from './build/manual-exit.ts';
export { buildSetAuthorization } from './build/set-authorization.ts';
export type { BuilderDeps, VaultOf } from './deps.ts';
export * from './errors.ts';
export type { ExitCost } from './exit-cost.ts';
export { type Intent, intentOf } from './intent.ts';
export type { ManageInput } from './manage/index.ts';
export { countsIncentive, incentiveNote, slippageNote, swapNote } from './messages.ts';
export { feeNotes, type OpenInput, type PreparedOpen } from './open/index.ts';
export type { Plan } from './plan.ts';
export * from './preview/costs.ts';
export * from './preview/economics.ts';
export { ltvPctOf } from './preview/ltv.ts';
export { leverageOf } from './preview/position.ts';
export * from './preview/rates.ts';
export { worstOutput } from './quote/planned.ts';
export { createVenueStatistics, type VenueCounts, type VenueStatistics } from './quote/statistics.ts';
export { type PricedAt, pricedAt } from './read/market-state.ts';
export type { ProxyOwner } from './read/signer.ts';
export * from './types.ts';

export interface PartnerDeps extends Pick<BuilderDeps, 'facts' | 'composed' | 'budgets' | 'clock'> {
  readonly catalog: Catalog;
  readonly nodes: ReadonlyMap<ChainId, ChainNodes>;
  /** The swap venues. */
  readonly quotes: readonly SwapQuotePort[];
  readonly venueStatistics: VenueStatistics;
  readonly onSimulated?: OnSimulated;
  readonly timers: Timers;
  readonly feeReceiver?: BuilderDeps['feeReceiver'];
  readonly appUrl?: BuilderDeps['appUrl'];
  readonly vaultOf?: VaultOf;
  /** Reads what a wallet holds: exits of equity vaults go by it. */
  readonly readWallet: ReadWallet;
}

/** Join what all builders share: one quoter, sessions on the chains' nodes, remembered tokens. */
export function createBuilderDeps(deps: PartnerDeps): BuilderDeps {
  const { chains } = deps.catalog;
  return {
    chains,
    clock: deps.clock,
    budgets: deps.budgets,
    facts: deps.facts,
    composed: deps.composed,
    quoter: createQuoter({
      venues: deps.quotes,
      timers: deps.timers,
      statistics: deps.venueStatistics,
      isRouterAllowed: (chain, router) => isRouterAllowed(contractOf(deps.facts(chain.chainId))?.value, router),
    }),
    venueStatistics: deps.venueStatistics,
    tokens: createTokenDirectory(),
    node: createNodes(chains, deps.nodes, deps.clock, deps.onSimulated),
    feeReceiver: deps.feeReceiver,
    appUrl: deps.appUrl,
    vaultOf: deps.vaultOf ?? (async () => null),
  };
}

/** Create the services of the partner surface. Nothing here signs or sends. */
export function createPartnerServices(deps: PartnerDeps): PartnerServices {
  const builder = createBuilderDeps(deps);
  const positions = createPositionDirectory();
  return {
    leverage: {
      preview: (input) => withVenues(builder, (attempt) => prepareOpen(attempt, input)),
      open: (input, user) => openLeverage(builder, input, user),
      manage: (input) => managePosition(builder, positions, input),
      exitCost: (chain, market, collateral, price) => exitCost(builder, chain, market, collateral, price),
      proxyOwners: (chainId, addresses) =>
        readProxyOwners(builder.node(chainId).reader, requireChainOf(builder.chains, chainId), addresses),
      usdOf: (chainId, token) => usdPrices(builder, requireChainOf(builder.chains, chainId))(token),
    },
    equity: {
      preview: (input) => previewEquity(builder, input),
      deposit: (input, user) => depositEquity(builder, input, user),
      exit: (input, user) => exitEquity({ ...builder, readWallet: deps.readWallet }, input, user),
    },
  };
}
