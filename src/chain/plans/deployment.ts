import { type DecodeFunctionResultReturnType, decodeFunctionResult, encodeFunctionData } from 'viem';
import { flashLeverageAbi } from '../../abi/flash-leverage.ts';
import type { Chain } from '../../catalog/types.ts';
import { type ContractDeployment, DEPLOYMENT_KEY, type FailureReason, type MarketSupport } from '../../domain/facts.ts';
import type { Address, MarketId } from '../../shared/ids.ts';
import type { Call, CallResult, Readings } from '../types.ts';

export interface DeploymentReadings {
  readonly deployment: Readings<typeof DEPLOYMENT_KEY, ContractDeployment>;
  readonly marketSupport: Readings<MarketId, MarketSupport>;
}

type View = keyof typeof VIEWS;
/** What is asked of the contract itself, and how its answer is read. */
const VIEWS = {
  LIQUIDATION_BUFFER: share,
  s_yieldFee: share,
  s_depositFee: share,
  s_treasury: (answer: unknown) => answer as Address,
  paused: (answer: unknown) => answer as boolean,
} as const;
const VIEW_NAMES = Object.keys(VIEWS) as View[];
const WAD = 10n ** 18n;

/** The routers of the catalog's venues, each once. */
const venueRouters = ({ swapRouters }: Chain): readonly Address[] => [
  ...new Set(Object.values(swapRouters).flatMap((routers) => routers ?? [])),
];

/** Our own contracts that act for users. */
const operators = ({ contracts: { flashLeverageRouter, equityRouter } }: Chain): readonly Address[] =>
  equityRouter === undefined ? [flashLeverageRouter] : [flashLeverageRouter, equityRouter];

/** Plan what the deployed contract says of itself and of every market. */
export function planDeploymentFacts(chain: Chain): readonly Call[] {
  const to = chain.contracts.flashLeverage;
  const of = (functionName: MarketView, id: MarketId): Call => ({
    to,
    data: encodeFunctionData({ abi: flashLeverageAbi, functionName, args: [id] }),
  });
  const about = (functionName: AddressView, address: Address): Call => ({
    to,
    data: encodeFunctionData({ abi: flashLeverageAbi, functionName, args: [address] }),
  });
  return [
    ...VIEW_NAMES.map((functionName) => ({ to, data: encodeFunctionData({ abi: flashLeverageAbi, functionName }) })),
    ...venueRouters(chain).map((router) => about('isValidSwapRouter', router)),
    ...operators(chain).map((operator) => about('s_approvedOperators', operator)),
    ...chain.markets.flatMap(({ id }) => [of('isSupportedMarket', id), of('s_isCorrelated', id)]),
  ];
}

type MarketView = 'isSupportedMarket' | 's_isCorrelated';
type AddressView = 'isValidSwapRouter' | 's_approvedOperators';

/**
 * Fold the answers, in the order of `planDeploymentFacts`. A view that the deployment lacks is left out; one that could not
 * be asked fails the item that it belongs to, so that what was known of it stays.
 */
export function foldDeploymentFacts(
  chain: Chain,
  results: readonly CallResult[],
  hasCode: boolean | undefined,
): DeploymentReadings {
  let next = 0;
  const take = (): CallResult => results[next++] ?? { ok: false, reason: 'malformed' };
  const views = VIEW_NAMES.map((name) => [name, take()] as const);
  const routers = venueRouters(chain).map((address) => [address, take()] as const);
  const approvals = operators(chain).map((address) => [address, take()] as const);
  const asked = [...views, ...routers, ...approvals].map(([, result]) => result);
  const failed = unasked(asked);
  const answers = new Map(views);
  const read = <V extends View>(name: V) => {
    const answer = decodeView(name, answers.get(name));
    return answer === undefined ? undefined : (VIEWS[name](answer) as ReturnType<(typeof VIEWS)[V]>);
  };
  const contract: ContractDeployment = {
    hasCode,
    liquidationBuffer: read('LIQUIDATION_BUFFER'),
    yieldFee: read('s_yieldFee'),
    depositFee: read('s_depositFee'),
    treasury: read('s_treasury'),
    isPaused: read('paused'),
    swapRouters: allowed('isValidSwapRouter', routers),
    operators: allowed('s_approvedOperators', approvals),
  };
  const values = new Map<MarketId, MarketSupport>();
  const failures = new Map<MarketId, FailureReason>();
  for (const { id } of chain.markets) {
    const [supported, correlated] = [take(), take()];
    const reason = unasked([supported, correlated]);
    if (reason === undefined) {
      values.set(id, {
        isSupported: decodeView('isSupportedMarket', supported),
        isCorrelated: decodeView('s_isCorrelated', correlated),
      });
    } else failures.set(id, reason);
  }
  return {
    deployment: failed
      ? { values: new Map(), failures: new Map([[DEPLOYMENT_KEY, failed]]) }
      : { values: new Map([[DEPLOYMENT_KEY, contract]]), failures: new Map() },
    marketSupport: { values, failures },
  };
}

/** A share of more than everything is no share. */
function share(answer: unknown): bigint | undefined {
  return typeof answer === 'bigint' && answer < WAD ? answer : undefined;
}

function allowed(view: AddressView, results: readonly (readonly [Address, CallResult])[]) {
  return results.flatMap(([address, result]) => {
    const isAllowed = decodeView(view, result);
    return isAllowed === undefined ? [] : [{ address, isAllowed }];
  });
}

/** Why a question was not answered, other than that the contract does not know it. */
function unasked(results: readonly CallResult[]): FailureReason | undefined {
  for (const result of results) if (!result.ok && result.reason !== 'reverted') return result.reason;
  return undefined;
}

function decodeView<V extends View | MarketView | AddressView>(
  functionName: V,
  result: CallResult | undefined,
): DecodeFunctionResultReturnType<typeof flashLeverageAbi, V> | undefined {
  if (!result?.ok) return undefined;
  try {
    return decodeFunctionResult({ abi: flashLeverageAbi, functionName, data: result.data } as never) as never;
  } catch {
    return undefined;
  }
}
