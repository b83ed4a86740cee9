import type { Catalog, Chain, Market } from '../catalog/types.ts';
import type { ChainNodes } from '../chain/rpc/nodes.ts';
import { contractOf, isRouterAllowed } from '../domain/deployment/routers.ts';
import type { Address, ChainId } from '../shared/ids.ts';
import type { Timers } from '../shared/timers.ts';
import type { QuotePurpose, SwapQuotePort } from '../upstreams/types.ts';
import { deleverageOptions } from './deleverage/options.ts';
import type { DeleverageRequest } from './deleverage/types.ts';
import { type BuilderDeps, createNodes, type OnSimulated, tokenUsdPrices, type VaultOf } from './deps.ts';
import {
  buildVaultDeposit,
  buildVaultExit,
  type DepositInput,
  type ExitInput,
  previewVaultDeposit,
  type ReadWallet,
} from './equity/index.ts';
import { exitCost } from './exit-cost.ts';
import { requireChainOf } from './guards.ts';
import { buildManagePlan, type ManageInput } from './manage/index.ts';
import { buildOpenPlan, type OpenInput, prepareOpen } from './open/index.ts';
import { withVenues } from './quote/attempts.ts';
import { createQuoter, type Quoter } from './quote/quoter.ts';
import { createQuoteReuse, type QuoteAge } from './quote/reuse.ts';
import type { VenueStatistics } from './quote/statistics.ts';
import { createPositionDirectory } from './read/position.ts';
import { readProxyOwners } from './read/signer.ts';
import { createTokenDirectory } from './read/tokens.ts';

export { buildManualExit } from './build/manual-exit.ts';
export { buildSetAuthorization } from './build/set-authorization.ts';
export { gasOfSteps, gasUsdOf } from './deleverage/gas.ts';
export * from './deleverage/rank.ts';
export type * from './deleverage/types.ts';
export * from './errors.ts';
export type { ExitCost } from './exit-cost.ts';
export { MAX_SLIPPAGE } from './input.ts';
export { type Intent, intentOf, isApproval } from './intent.ts';
export type { ManageInput } from './manage/index.ts';
export { countsIncentive, formatAmount, incentiveNote, swapNote } from './messages.ts';
export { feeNotes, type OpenInput, type PreparedOpen } from './open/index.ts';
export type { Plan } from './plan.ts';
export * from './preview/costs.ts';
export * from './preview/economics.ts';
export { ltvPctOf } from './preview/ltv.ts';
export { leverageOf } from './preview/position.ts';
export * from './preview/rates.ts';
export type { QuoteAge } from './quote/reuse.ts';
export { createVenueStatistics } from './quote/statistics.ts';
export { type PricedAt, pricedAt } from './read/market-state.ts';
export type { ProxyOwner } from './read/signer.ts';
export * from './types.ts';
export { underWaterFact, underWaterOf } from './under-water.ts';

export interface PartnerDeps extends Pick<BuilderDeps, 'facts' | 'composed' | 'budgets' | 'clock'> {
  readonly catalog: Catalog;
  readonly nodes: ReadonlyMap<ChainId, ChainNodes>;
  /** The swap venues. */
  readonly quotes: readonly SwapQuotePort[];
  readonly venueStatistics: VenueStatistics;
  readonly onSimulated?: OnSimulated | undefined;
  readonly timers: Timers;
  readonly feeReceiver?: BuilderDeps['feeReceiver'] | undefined;
  readonly appUrl?: BuilderDeps['appUrl'] | undefined;
  readonly vaultOf?: VaultOf | undefined;
  readonly gasPriceOf: BuilderDeps['gasPriceOf'];
  /** Reads the positions of a wallet, for exits of equity vaults. */
  readonly readWallet: ReadWallet;
}

function quoterFor(deps: PartnerDeps, purpose: QuotePurpose): Quoter {
  return createQuoter({
    venues: deps.quotes,
    purpose,
    timers: deps.timers,
    statistics: deps.venueStatistics,
    isRouterAllowed: (chain, router) => isRouterAllowed(contractOf(deps.facts(chain.chainId))?.value, router),
  });
}

/** Join the parts that all builders share: one quoter, sessions on the chains' nodes, remembered tokens. */
function createBuilderDeps(deps: PartnerDeps): BuilderDeps {
  const { chains } = deps.catalog;
  return {
    chains,
    clock: deps.clock,
    budgets: deps.budgets,
    facts: deps.facts,
    composed: deps.composed,
    quoter: quoterFor(deps, 'build'),
    venueStatistics: deps.venueStatistics,
    tokens: createTokenDirectory(),
    node: createNodes(chains, deps.nodes, deps.clock, deps.onSimulated),
    feeReceiver: deps.feeReceiver,
    appUrl: deps.appUrl,
    vaultOf: deps.vaultOf ?? (async () => null),
    gasPriceOf: deps.gasPriceOf,
  };
}

/** Create the services of the partner surface, the ports of `PartnerServices`. Nothing here signs or sends. */
export function createPartnerServices(deps: PartnerDeps) {
  const builder = createBuilderDeps(deps);
  const previewer = { ...builder, quoter: quoterFor(deps, 'preview') };
  const reuse = createQuoteReuse(previewer.quoter, deps.clock);
  const previewing = ({ maxQuoteAgeSec }: QuoteAge) => ({
    ...previewer,
    previews: true,
    quoter: reuse(maxQuoteAgeSec),
  });
  const positions = createPositionDirectory();
  const chainOf = (chainId: ChainId) => requireChainOf(builder.chains, chainId);
  return {
    leverage: {
      preview: (input: OpenInput, age: QuoteAge) =>
        withVenues(previewing(age), (attempt) => prepareOpen(attempt, input)),
      previewManage: (input: ManageInput, age: QuoteAge) => buildManagePlan(previewing(age), positions, input),
      open: (input: OpenInput, user: Address) => buildOpenPlan(builder, input, user),
      manage: (input: ManageInput) => buildManagePlan(builder, positions, input),
      deleverage: (request: DeleverageRequest) => deleverageOptions(previewer, positions, request),
      exitCost: (chain: Chain, market: Market, collateral: bigint, price: bigint) =>
        exitCost(previewer, chain, market, collateral, price),
      proxyOwners: (chainId: ChainId, addresses: readonly Address[]) =>
        readProxyOwners(builder.node(chainId).reader, chainOf(chainId), addresses),
      usdOf: (chainId: ChainId, token: Address) => tokenUsdPrices(builder, chainOf(chainId))(token),
    },
    equity: {
      preview: (input: DepositInput, age: QuoteAge) => previewVaultDeposit(previewing(age), input),
      previewExit: (input: ExitInput, user: Address, age: QuoteAge) =>
        buildVaultExit({ ...previewing(age), readWallet: deps.readWallet }, input, user),
      deposit: (input: DepositInput, user: Address) => buildVaultDeposit(builder, input, user),
      exit: (input: ExitInput, user: Address) =>
        buildVaultExit({ ...builder, readWallet: deps.readWallet }, input, user),
    },
  };
}
