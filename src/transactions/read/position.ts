import { flashLeverageAbi, userProxyAbi } from '../../abi/flash-leverage.ts';
import { morphoBlueAbi } from '../../abi/morpho-blue.ts';
import type { Chain, Market } from '../../catalog/types.ts';
import type { OracleFeed } from '../../domain/facts.ts';
import { BadRequestError } from '../../shared/errors.ts';
import type { Address, Hex, MarketId } from '../../shared/ids.ts';
import { NotEligibleError } from '../errors.ts';
import type { PayToken, PositionState } from '../types.ts';
import {
  type Deployment,
  type DeploymentAnswers,
  foldDeployment,
  planDeployment,
  requireUnpaused,
} from './deployment.ts';
import { debtOf, foldMarket, type LiveMarket, type MarketAnswers, planMarket } from './market-state.ts';
import { type LatestReader, readOf, required } from './reads.ts';
import { planOwner, requireWallet } from './signer.ts';
import { foldWallet, planWallet, type WalletState } from './wallet.ts';

/** What never changes about a position once its block is final: where it stands. */
export interface PositionBinding {
  readonly market: Market;
  readonly proxy: Address;
}

export interface LivePosition extends PositionState {
  readonly id: number;
  readonly borrowShares: bigint;
  /** Deposit basis, loan base units: what was put in less what was taken out, as the contract counts. */
  readonly basis: bigint;
}

export interface ManagedState {
  readonly position: LivePosition;
  readonly live: LiveMarket;
  readonly deployment: Deployment;
  readonly wallet: WalletState;
  /** Whether FlashLeverage can only add to it and repay it any more; absent = its contract does not tell. */
  readonly manualMode?: boolean | undefined;
}

export interface PositionDirectory {
  /**
   * Find the market and proxy of a position in one request; remembered once the chain cannot take it back.
   * @throws PositionProxyError when the user is itself a proxy; BadRequestError when there is no such position
   */
  bind(reader: LatestReader, chain: Chain, user: Address, id: number): Promise<PositionBinding>;
  /** Forget where a position stands: the chain says otherwise now. */
  forget(chain: Chain, user: Address, id: number): void;
}

const MAX_REMEMBERED = 10_000;

/** Create the directory of positions. Near the head a reorganization can put another position at the same id. */
export function createPositionDirectory(): PositionDirectory {
  const known = new Map<string, PositionBinding>();
  const keyOf = ({ chainId }: Chain, user: Address, id: number) => `${chainId}:${user}:${id}`;
  return {
    forget(chain, user, id) {
      known.delete(keyOf(chain, user, id));
    },
    async bind(reader, chain, user, id) {
      const key = keyOf(chain, user, id);
      const remembered = known.get(key);
      if (remembered) return remembered;
      const { answers, final } = await reader.readSettled([planPosition(chain, user, id), planOwner(user)]);
      const [found, named] = answers;
      if (!found) {
        await requireWallet(reader, chain, user, named);
        throw new BadRequestError(
          `${user} has no position ${id} on chain ${chain.chainId}. Send an id from /v1/partner/positions/${user}?chainId=${chain.chainId}.`,
          { field: 'id', value: String(id) },
        );
      }
      const market = chain.markets.find((candidate) => candidate.id === (found.marketId.toLowerCase() as MarketId));
      if (!market) {
        throw new BadRequestError(`Position ${id} stands on a market that is not served here (${found.marketId}).`, {
          field: 'id',
          value: String(id),
        });
      }
      const binding: PositionBinding = { market, proxy: found.userProxy };
      if (final?.[0] && isAt(final[0], binding)) {
        if (known.size >= MAX_REMEMBERED) known.clear();
        known.set(key, binding);
      }
      return binding;
    },
  };
}

/**
 * Read the position, its market and the wallet at one block, in one request. `undefined` = the position does not stand where
 * it was thought to: the chain was reorganized.
 * @throws NotEligibleError for a closed or liquidated position; ChainReadError
 */
export async function readManaged(
  reader: LatestReader,
  input: {
    readonly chain: Chain;
    readonly user: Address;
    readonly id: number;
    readonly binding: PositionBinding;
    readonly payToken: PayToken | undefined;
    readonly nowMs: number;
    /** Behind the market's oracle, as far as they are known. */
    readonly feeds: readonly OracleFeed[] | undefined;
  },
): Promise<ManagedState | undefined> {
  const { chain, user, id, binding, payToken, nowMs } = input;
  const { market, proxy } = binding;
  const spenders = [chain.contracts.flashLeverage, chain.contracts.flashLeverageRouter];
  const marketPlan = planMarket(chain, market, input.feeds);
  const deploymentPlan = planDeployment(chain, market);
  const { answers, block } = await reader.read([
    planPosition(chain, user, id),
    readOf(chain.contracts.morphoBlue, morphoBlueAbi, 'position', [market.id, proxy]),
    readOf(proxy, userProxyAbi, 's_manualMode', []),
    ...marketPlan,
    ...deploymentPlan,
    ...planWallet(chain, user, payToken, spenders),
  ]);
  const [found, held, manualMode, ...rest] = answers;
  const all: readonly unknown[] = rest;
  if (!found || !isAt(found, binding)) return undefined;
  const marketEnd = marketPlan.length + deploymentPlan.length;
  const deployed = all.slice(marketPlan.length, marketEnd) as unknown as DeploymentAnswers;
  const deployment = foldDeployment(market, deployed);
  requireUnpaused(deployment);
  const { open, amountDepositedInLoanToken: basis } = found;
  const [, borrowShares, collateral] = required(held);
  if (!open || collateral === 0n) {
    throw new NotEligibleError(`Position ${id} was ${open ? 'liquidated' : 'closed'}: there is nothing to manage.`, {
      reason: open ? 'position_liquidated' : 'position_closed',
      pointer: `/v1/partner/positions/${user}?chainId=${chain.chainId}`,
    });
  }
  const live = foldMarket(market, all.slice(0, marketPlan.length) as unknown as MarketAnswers, block, nowMs);
  return {
    position: { id, borrowShares, collateral, debt: debtOf(live, borrowShares), basis },
    live,
    deployment,
    wallet: foldWallet(payToken, spenders, all.slice(marketEnd) as (bigint | undefined)[]),
    manualMode,
  };
}

function isAt(
  { marketId, userProxy }: { readonly marketId: Hex; readonly userProxy: Address },
  { market, proxy }: PositionBinding,
): boolean {
  return marketId.toLowerCase() === market.id && userProxy === proxy;
}

function planPosition({ contracts }: Chain, user: Address, id: number) {
  return readOf(contracts.flashLeverage, flashLeverageAbi, 'getUserLeveragePosition', [user, BigInt(id)]);
}
