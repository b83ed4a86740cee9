import { type Abi, type DecodeFunctionResultReturnType, decodeFunctionResult, size, zeroAddress } from 'viem';
import { encodeFunctionData } from '../../abi/calldata.ts';
import { flashLeverageAbi } from '../../abi/flash-leverage.ts';
import { flashLeverageRouterAbi } from '../../abi/flash-leverage-router.ts';
import { morphoBlueAbi } from '../../abi/morpho-blue.ts';
import type { Chain } from '../../catalog/types.ts';
import { operatorsOf } from '../../domain/deployment/routers.ts';
import type {
  ChainMarketParams,
  ContractDeployment,
  ContractLink,
  MarketSupport,
} from '../../domain/deployment/types.ts';
import { DEPLOYMENT_KEY, type FailureReason } from '../../domain/facts.ts';
import type { Address, MarketId } from '../../shared/ids.ts';
import type { Call, CallResult, Readings } from '../types.ts';

export interface DeploymentReadings {
  readonly deployment: Readings<typeof DEPLOYMENT_KEY, ContractDeployment>;
  readonly marketSupport: Readings<MarketId, MarketSupport>;
}

/** Whether there is code at an address; an address that could not be read is missing. */
export type CodeAnswers = ReadonlyMap<Address, boolean>;

type View = keyof typeof VIEWS;
/** Views of the contract: the field of each, and how its answer is decoded. */
const VIEWS = {
  LIQUIDATION_BUFFER: { field: 'liquidationBuffer', read: share },
  s_yieldFee: { field: 'yieldFee', read: share },
  s_depositFee: { field: 'depositFee', read: share },
  s_treasury: { field: 'treasury', read: (answer: unknown) => answer as Address },
  paused: { field: 'isPaused', read: (answer: unknown) => answer as boolean },
} as const;
const VIEW_NAMES = Object.keys(VIEWS) as View[];
const WAD = 10n ** 18n;

/** The routers of the catalog's venues, without repeats. */
const venueRouters = ({ swapRouters }: Chain): readonly Address[] => [
  ...new Set(Object.values(swapRouters).flatMap((routers) => routers ?? [])),
];

/** The contracts that link to others, with the views of the deployed ABIs. */
const links = ({ contracts: { flashLeverage, flashLeverageRouter } }: Chain) =>
  [
    { address: flashLeverage, to: 'morphoBlue', abi: flashLeverageAbi, functionName: 'i_morpho' },
    { address: flashLeverageRouter, to: 'morphoBlue', abi: flashLeverageRouterAbi, functionName: 'i_morpho' },
    { address: flashLeverageRouter, to: 'flashLeverage', abi: flashLeverageRouterAbi, functionName: 'i_flashLeverage' },
    {
      address: flashLeverageRouter,
      to: 'publicAllocator',
      abi: flashLeverageRouterAbi,
      functionName: 'i_publicAllocator',
    },
  ] as const satisfies readonly (Omit<ContractLink, 'target'> & { abi: Abi; functionName: string })[];

/** Every address of the catalog that has to have code. The contract that holds positions comes first. */
export function codeAddresses(chain: Chain): readonly Address[] {
  return [chain.contracts.flashLeverage, ...operatorsOf(chain), ...venueRouters(chain)];
}

/**
 * Plan the reads of the deployed contract's own values and of its terms for every market, and of the markets in the lending
 * protocol.
 */
export function planDeploymentFacts(chain: Chain): readonly Call[] {
  const { flashLeverage: to, morphoBlue } = chain.contracts;
  const of = (functionName: MarketView, id: MarketId): Call => ({
    to,
    data: encodeFunctionData({ abi: flashLeverageAbi, functionName, args: [id] }),
  });
  const about = (functionName: AddressView, address: Address): Call => ({
    to,
    data: encodeFunctionData({ abi: flashLeverageAbi, functionName, args: [address] }),
  });
  const paramsOf = (id: MarketId): Call => ({
    to: morphoBlue,
    data: encodeFunctionData({ abi: morphoBlueAbi, functionName: 'idToMarketParams', args: [id] }),
  });
  return [
    ...VIEW_NAMES.map((functionName) => ({ to, data: encodeFunctionData({ abi: flashLeverageAbi, functionName }) })),
    ...venueRouters(chain).map((router) => about('isValidSwapRouter', router)),
    ...operatorsOf(chain).map((operator) => about('s_approvedOperators', operator)),
    ...links(chain).map(({ address, abi, functionName }) => ({
      to: address,
      data: encodeFunctionData({ abi: abi as Abi, functionName }),
    })),
    ...chain.markets.flatMap(({ id }) => [of('isSupportedMarket', id), of('s_isCorrelated', id), paramsOf(id)]),
  ].map((call) => ({ ...call, mayBeAbsent: true }));
}

type MarketView = 'isSupportedMarket' | 's_isCorrelated';
type AddressView = 'isValidSwapRouter' | 's_approvedOperators';

/**
 * Fold the answers, in the order of `planDeploymentFacts`. A view that the deployment lacks is left out. A view that could not
 * be read fails its item, so that the last-good value stays.
 */
export function foldDeploymentFacts(
  chain: Chain,
  results: readonly CallResult[],
  code: CodeAnswers,
): DeploymentReadings {
  let next = 0;
  const take = (): CallResult => results[next++] ?? { ok: false, reason: 'malformed' };
  const views = VIEW_NAMES.map((name) => [name, take()] as const);
  const routers = venueRouters(chain).map((address) => [address, take()] as const);
  const approvals = operatorsOf(chain).map((address) => [address, take()] as const);
  const linked = links(chain).map((link) => [link, take()] as const);
  const failed = unasked([...views, ...routers, ...approvals, ...linked].map(([, result]) => result));
  const values = new Map<MarketId, MarketSupport>();
  const failures = new Map<MarketId, FailureReason>();
  for (const { id } of chain.markets) {
    const [supported, correlated, params] = [take(), take(), take()];
    const reason = unasked([supported, correlated, params]);
    if (reason === undefined) {
      values.set(id, {
        isSupported: decodeView('isSupportedMarket', supported),
        isCorrelated: decodeView('s_isCorrelated', correlated),
        params: marketParams(params),
      });
    } else failures.set(id, reason);
  }
  const contract = (): ContractDeployment => ({
    ...foldViews(chain, views, code),
    swapRouters: allowed('isValidSwapRouter', routers),
    operators: allowed('s_approvedOperators', approvals),
    code: codeAddresses(chain)
      .slice(1)
      .flatMap((address) => {
        const hasCode = code.get(address);
        return hasCode === undefined ? [] : [{ address, hasCode }];
      }),
    links: linked.flatMap(([{ address, to, abi, functionName }, result]) => {
      const target = decodeResult<Address>({ abi, functionName }, result);
      return target === undefined ? [] : [{ address, to, target }];
    }),
  });
  return {
    deployment: failed
      ? { values: new Map(), failures: new Map([[DEPLOYMENT_KEY, failed]]) }
      : { values: new Map([[DEPLOYMENT_KEY, contract()]]), failures: new Map() },
    marketSupport: { values, failures },
  };
}

function foldViews(
  { contracts }: Chain,
  views: readonly (readonly [View, CallResult])[],
  code: CodeAnswers,
): Omit<ContractDeployment, 'swapRouters' | 'operators'> {
  const values: Record<string, unknown> = {};
  const implausible: string[] = [];
  for (const [name, result] of views) {
    const { field, read } = VIEWS[name];
    const answer = decodeView(name, result);
    const value = answer === undefined ? undefined : read(answer);
    values[field] = value;
    // A missing view reverts, or returns nothing. Any other answer that cannot be decoded is implausible.
    if (value === undefined && result.ok && size(result.data) > 0) implausible.push(field);
  }
  return {
    hasCode: code.get(contracts.flashLeverage),
    ...(values as Pick<ContractDeployment, (typeof VIEWS)[View]['field']>),
    implausible: implausible.length === 0 ? undefined : implausible,
  };
}

/** A share above 100 % is implausible. */
function share(answer: unknown): bigint | undefined {
  return typeof answer === 'bigint' && answer < WAD ? answer : undefined;
}

function allowed(view: AddressView, results: readonly (readonly [Address, CallResult])[]) {
  return results.flatMap(([address, result]) => {
    const isAllowed = decodeView(view, result);
    return isAllowed === undefined ? [] : [{ address, isAllowed }];
  });
}

/** A market that was never created has zero in all parameters. */
function marketParams(result: CallResult): ChainMarketParams | null | undefined {
  const params = decodeResult<readonly [Address, Address, Address, Address, bigint]>(
    { abi: morphoBlueAbi, functionName: 'idToMarketParams' },
    result,
  );
  if (params === undefined) return undefined;
  const [loanToken, collateralToken, oracle, irm, lltv] = params;
  const isNone = lltv === 0n && [loanToken, collateralToken, oracle, irm].every((address) => address === zeroAddress);
  return isNone ? null : { loanToken, collateralToken, oracle, irm, lltv };
}

/** Failure reason of a read, unless the contract lacks the view. */
function unasked(results: readonly CallResult[]): FailureReason | undefined {
  for (const result of results) if (!result.ok && result.reason !== 'reverted') return result.reason;
  return undefined;
}

function decodeView<V extends View | MarketView | AddressView>(
  functionName: V,
  result: CallResult,
): DecodeFunctionResultReturnType<typeof flashLeverageAbi, V> | undefined {
  return decodeResult({ abi: flashLeverageAbi, functionName }, result);
}

function decodeResult<T>(
  view: { readonly abi: Abi; readonly functionName: string },
  result: CallResult,
): T | undefined {
  if (!result.ok) return undefined;
  try {
    return decodeFunctionResult({ ...view, data: result.data }) as T;
  } catch {
    return undefined;
  }
}
