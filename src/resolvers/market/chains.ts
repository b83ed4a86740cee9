import type { Chain } from '../../catalog/types.ts';
import { FACT_GROUPS, type FactGroup } from '../../domain/facts.ts';
import type { ComposedChain } from '../../domain/market/types.ts';
import { BadRequestError, NotReadyError } from '../../shared/errors.ts';
import type { ChainId, MarketId, StrategyId } from '../../shared/ids.ts';
import { momentOf, secondOf } from '../common/age.ts';
import type { AppContext } from '../common/context.ts';

/** Look a served chain up. @throws BadRequestError naming the served ids. */
export function requireChain(ctx: AppContext, chainId: ChainId, field = 'chainId'): Chain {
  const { catalog } = ctx.services;
  const chain = catalog.chain(chainId);
  if (chain) return chain;
  throw new BadRequestError(`${field} ${chainId} is not served. Send one of ${catalog.chainIds.join(', ')}.`, {
    field,
    value: String(chainId),
    limit: { oneOf: catalog.chainIds },
  });
}

/**
 * The requested chains without repetition, in catalog order; all when the list is left out.
 * @throws BadRequestError for a chain that is not served, and for an empty list, whose answer would say that there is nothing
 */
export function selectChains(
  ctx: AppContext,
  chainIds: readonly ChainId[] | null | undefined,
  field = 'chainIds',
): readonly Chain[] {
  if (chainIds == null) return ctx.services.catalog.chains;
  if (chainIds.length === 0) {
    throw new BadRequestError(`${field} names no chain. Send at least one, or leave it out for all served chains.`, {
      field,
      value: '[]',
      limit: { minEntries: 1, oneOf: ctx.services.catalog.chainIds },
    });
  }
  const selected = new Set(chainIds.map((chainId) => requireChain(ctx, chainId, field).chainId));
  return ctx.services.catalog.chains.filter((chain) => selected.has(chain.chainId));
}

/**
 * Find the chain that a domain id names: the one that has the object. `undefined` = no served chain has it.
 * @param at path of the arguments, with its dot
 * @throws BadRequestError for a `chainId` beside it that is not served or is another one, naming the right one
 */
export function chainOfId(
  ctx: AppContext,
  name: string,
  args: { readonly chainId?: ChainId | null | undefined },
  hasObject: (chain: Chain) => boolean,
  at = '',
): Chain | undefined {
  const field = `${at}chainId`;
  const named = args.chainId == null ? undefined : requireChain(ctx, args.chainId, field);
  if (named && hasObject(named)) return named;
  const chain = ctx.services.catalog.chains.find(hasObject);
  if (chain === undefined || named === undefined) return chain;
  throw new BadRequestError(
    `chainId ${named.chainId} contradicts the ${name}, which is on chain ${chain.chainId}. Send chainId ${chain.chainId}.`,
    { field, value: String(named.chainId), limit: { oneOf: [chain.chainId] } },
  );
}

/** Find the chain of a strategy: of a market for loops, or of an equity vault. @throws as `chainOfId` */
export function chainOfStrategy(
  ctx: AppContext,
  args: { readonly strategyId: StrategyId; readonly chainId?: ChainId | null | undefined },
  at = '',
): Chain | undefined {
  const { catalog } = ctx.services;
  const { strategyId } = args;
  const marketId = strategyId as string as MarketId;
  const hasStrategy = ({ chainId }: Chain) =>
    catalog.market(chainId, marketId)?.kind === 'loop' || catalog.vault(chainId, strategyId) !== undefined;
  return chainOfId(ctx, 'strategyId', args, hasStrategy, at);
}

/**
 * Read the composed chain, once it is open to reads and something could be composed.
 * @throws NotReadyError before that: an empty list would say that there is nothing, and a list whose other facts were never
 * asked for that there is no swap route.
 */
export function readComposed(ctx: AppContext, chainId: ChainId): ComposedChain {
  const { open, waitingFor } = ctx.services.health.readiness(chainId, momentOf(ctx));
  const composed = ctx.loaders.composed(chainId);
  if (open && (composed.markets.length > 0 || composed.excluded.length === 0)) return composed;
  // The wait ends with the moment too: a list of other chains that names this one as missing holds no longer.
  secondOf(ctx);
  const reasons = open
    ? [...new Set(composed.excluded.flatMap((market) => market.waitingFor.map(({ group }) => group)))]
    : waitingFor;
  throw new NotReadyError(
    `Chain ${chainId} has not been measured yet. Try again in some seconds, or ask only for other chains.`,
    reasons,
  );
}

/** A requested chain that an answer lacks. */
export interface MissingChain {
  readonly chainId: ChainId;
  readonly reason: 'not_ready' | 'upstream_unavailable';
  readonly message: string;
  readonly retryAfterSec: number | null;
  /** Groups of facts that have to be measured first. */
  readonly waitingFor: readonly FactGroup[];
}

/** The missing parts of a chain's list. */
export interface MissingFacts {
  readonly chainId: ChainId;
  /** Groups of facts that were not read yet, or not completely. */
  readonly groups: readonly FactGroup[];
  /** Strategies that are not in the list, because a fact that they need was never measured. */
  readonly strategies: readonly {
    readonly strategyId: string;
    readonly symbol: string;
    readonly waitingFor: readonly FactGroup[];
  }[];
}

/** List the missing parts of composed chains, for incomplete chains only. */
export function missingOf(ctx: AppContext, composed: readonly ComposedChain[]): readonly MissingFacts[] {
  const { catalog, health } = ctx.services;
  return composed.flatMap(({ chainId, excluded }) => {
    const groups = factGroups(health.readiness(chainId, momentOf(ctx)).missing);
    const strategies = excluded
      .filter(({ marketId }) => catalog.market(chainId, marketId as MarketId)?.kind !== 'stock')
      .map(({ marketId, symbol, waitingFor }) => ({
        strategyId: marketId,
        symbol,
        waitingFor: factGroups(waitingFor.map(({ group }) => group)),
      }));
    return groups.length + strategies.length === 0 ? [] : [{ chainId, groups, strategies }];
  });
}

/**
 * Read the composed chains for a list: one that was never measured is reported as missing, and the others are answered.
 * @throws NotReadyError when it is so of all
 */
export function readComposedOf(
  ctx: AppContext,
  chains: readonly Chain[],
): { readonly composed: readonly ComposedChain[]; readonly missingChains: readonly MissingChain[] } {
  const composed: ComposedChain[] = [];
  const missingChains: MissingChain[] = [];
  let refusal: NotReadyError | undefined;
  for (const { chainId } of chains) {
    try {
      composed.push(readComposed(ctx, chainId));
    } catch (error) {
      if (!(error instanceof NotReadyError)) throw error;
      refusal ??= error;
      missingChains.push(notReadyChain(chainId, error));
    }
  }
  if (composed.length === 0 && refusal !== undefined) throw refusal;
  return { composed, missingChains };
}

/** Report a chain that is not ready in an answer without it. */
export function notReadyChain(chainId: ChainId, { message, retryAfterSec, details }: NotReadyError): MissingChain {
  const waitingFor = factGroups(details?.waitingFor ?? []);
  return { chainId, reason: 'not_ready', message, retryAfterSec: retryAfterSec ?? null, waitingFor };
}

/** Pick the groups of facts out of names, each once. */
function factGroups(names: readonly string[]): readonly FactGroup[] {
  return [...new Set(names)].filter((name): name is FactGroup => FACT_GROUPS.includes(name as FactGroup));
}
