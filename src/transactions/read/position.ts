import { flashLeverageAbi, userProxyAbi } from '../../abi/flash-leverage.ts';
import { morphoBlueAbi } from '../../abi/morpho-blue.ts';
import type { Chain, Market } from '../../catalog/types.ts';
import type { OracleFeed } from '../../domain/facts.ts';
import { BadRequestError } from '../../shared/errors.ts';
import type { Address, Hex, MarketId } from '../../shared/ids.ts';
import { NAMES } from '../../shared/names.ts';
import { NotEligibleError } from '../errors.ts';
import type { PayToken, PositionState } from '../types.ts';
import { type Deployment, planDeployment } from './deployment.ts';
import { debtOf, type LiveMarket, planMarket } from './market-state.ts';
import { type LatestReader, planOne, readOf, readPlans, required } from './reads.ts';
import { planOwner, requireWallet } from './signer.ts';
import { planWallet, type WalletState } from './wallet.ts';

/** The market and the contract of a position: they never change once its block is final. */
export interface PositionBinding {
  readonly market: Market;
  readonly proxy: Address;
}

export interface LivePosition extends PositionState {
  readonly id: number;
  readonly borrowShares: bigint;
  /** Deposit basis, loan base units: deposits less withdrawals, as the contract counts them. */
  readonly basis: bigint;
}

export interface ManagedState {
  readonly position: LivePosition;
  readonly live: LiveMarket;
  readonly deployment: Deployment;
  readonly wallet: WalletState;
  /** Whether FlashLeverage can only add to it and repay it; absent = its contract does not answer. */
  readonly manualMode?: boolean | undefined;
}

export interface PositionDirectory {
  /**
   * Find the market and proxy of a position in one request; remembered once the chain cannot take it back.
   * @throws PositionProxyError when the user is itself a proxy; BadRequestError when there is no such position
   */
  bind(reader: LatestReader, chain: Chain, user: Address, id: number): Promise<PositionBinding>;
  /** Forget the binding of a position that the chain contradicts. */
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
          `${user} has no position ${id} on chain ${chain.chainId}. Send an id from ${NAMES.places.positions(user, chain.chainId)}.`,
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
  const { chain, user, id, binding, payToken, nowMs, feeds } = input;
  const { market, proxy } = binding;
  const { flashLeverage, flashLeverageRouter, morphoBlue } = chain.contracts;
  const read = await readPlans(reader, {
    found: planOne(planPosition(chain, user, id)),
    held: planOne(readOf(morphoBlue, morphoBlueAbi, 'position', [market.id, proxy])),
    manualMode: planOne(readOf(proxy, userProxyAbi, 's_manualMode', [])),
    live: planMarket(chain, market, feeds, nowMs),
    deployment: planDeployment(chain, market),
    wallet: planWallet(chain, user, payToken, [flashLeverage, flashLeverageRouter]),
  });
  const found = read.found();
  if (!found || !isAt(found, binding)) return undefined;
  const deployment = read.deployment();
  const { open, amountDepositedInLoanToken: basis } = found;
  const [, borrowShares, collateral] = required(read.held());
  if (!open || collateral === 0n) {
    throw new NotEligibleError(`Position ${id} was ${open ? 'liquidated' : 'closed'}: there is nothing to manage.`, {
      reason: open ? 'position_liquidated' : 'position_closed',
      pointer: NAMES.places.positions(user, chain.chainId),
    });
  }
  const live = read.live();
  const position = { id, borrowShares, collateral, debt: debtOf(live, borrowShares), basis };
  return { position, live, deployment, wallet: read.wallet(), manualMode: read.manualMode() };
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
