import type { Chain, Market } from '../../catalog/types.ts';
import { MAX_MARKETS, MAX_TOKENS } from '../../shared/contract/list-bounds.ts';
import type { MarketId } from '../../shared/ids.ts';
import { type ChainFacts, DEPLOYMENT_KEY, type Fact } from '../facts.ts';
import type { ContractDeployment, MarketSupport, TokenContract } from './types.ts';

/** Kinds of disagreement between the catalog and a chain. */
export const DISAGREEMENT_KINDS = [
  'decimals',
  'symbol',
  'not_created',
  'parameters',
  'oracle',
  'correlated',
  'no_code',
  'contract',
] as const;
/** The contracts of a chain that are compared. */
const MAX_CONTRACTS = 20;
/** Facts of the catalog that a chain contradicts: of each kind one per token, market or contract. */
export const MAX_DISAGREEMENTS: number = DISAGREEMENT_KINDS.length * (MAX_TOKENS + MAX_MARKETS + MAX_CONTRACTS);
/** Consequences of a disagreement. */
export const DISAGREEMENT_EFFECTS = ['no_builds', 'no_new_risk', 'warning'] as const;

export type DisagreementKind = (typeof DISAGREEMENT_KINDS)[number];
export type DisagreementEffect = (typeof DISAGREEMENT_EFFECTS)[number];

/** A difference between the catalog and the chain. */
export interface Disagreement {
  readonly kind: DisagreementKind;
  /** Consequence while the difference lasts. */
  readonly effect: DisagreementEffect;
  /** Market id, or the address of a token or contract. */
  readonly key: string;
  /** Display name: a symbol, the symbols of a market, or the name of a contract. */
  readonly name: string;
  readonly catalog: string;
  readonly chain: string;
  /** Time of the block at which the chain was read, ms. */
  readonly asOfMs: number;
  readonly source: string;
}

/** Differences between the catalog and one chain. */
export interface Agreement {
  readonly disagreements: readonly Disagreement[];
  /** Differences that concern a market: its own, those of its tokens, and those of the contract that holds positions. */
  against(market: Market): readonly Disagreement[];
}

const NONE: readonly Disagreement[] = [];

/** Compare the catalog of a chain with the last reading of the chain. An unknown value is not a difference. */
export function agreementOf(chain: Chain, { groups }: ChainFacts): Agreement {
  const contract = groups.deployment.items.get(DEPLOYMENT_KEY);
  const ofContracts = contract ? contractDisagreements(chain, contract) : NONE;
  const byToken = new Map<string, readonly Disagreement[]>();
  for (const token of chain.tokens) {
    const fact = groups.tokenContract.items.get(token.address);
    const found = fact ? tokenDisagreements(token, fact) : NONE;
    if (found.length > 0) byToken.set(token.address, found);
  }
  const byMarket = new Map<MarketId, readonly Disagreement[]>();
  for (const market of chain.markets) {
    const fact = groups.marketSupport.items.get(market.id);
    const found = fact ? marketDisagreements(market, fact) : NONE;
    if (found.length > 0) byMarket.set(market.id, found);
  }
  const disagreements = [...ofContracts, ...[...byToken.values()].flat(), ...[...byMarket.values()].flat()];
  const effective = ofContracts.filter(({ effect }) => effect !== 'warning');
  return {
    disagreements,
    against(market) {
      if (disagreements.length === 0) return NONE;
      return [
        ...effective,
        ...(byMarket.get(market.id) ?? NONE),
        ...(byToken.get(market.collateral.address) ?? NONE),
        ...(byToken.get(market.loan.address) ?? NONE),
      ];
    },
  };
}

function tokenDisagreements(
  { address, symbol, decimals }: Chain['tokens'][number],
  { value, asOfMs, source }: Fact<TokenContract>,
): readonly Disagreement[] {
  const about = { key: address, name: symbol, asOfMs, source } as const;
  if (!value.hasCode) return [{ ...about, kind: 'no_code', effect: 'no_builds', ...NO_CODE }];
  const found: Disagreement[] = [];
  if (value.decimals !== undefined && value.decimals !== BigInt(decimals)) {
    const values = { catalog: String(decimals), chain: String(value.decimals) };
    found.push({ ...about, kind: 'decimals', effect: 'no_builds', ...values });
  }
  if (value.symbol !== undefined && value.symbol !== symbol) {
    found.push({ ...about, kind: 'symbol', effect: 'warning', catalog: symbol, chain: value.symbol });
  }
  return found;
}

function marketDisagreements(
  market: Market,
  { value: { params, isCorrelated, isSupported }, asOfMs, source }: Fact<MarketSupport>,
): readonly Disagreement[] {
  const { loan, collateral, irm, lltv, oracle, correlated } = market;
  const about = { key: market.id, name: `${collateral.symbol}/${loan.symbol}`, asOfMs, source } as const;
  const found: Disagreement[] = [];
  const refuse = (kind: DisagreementKind, catalog: string, chain: string) =>
    found.push({ ...about, kind, effect: 'no_builds', catalog, chain });
  if (params === null) refuse('not_created', market.id, 'no such market');
  if (params) {
    const { loanToken, collateralToken } = params;
    const values: readonly (readonly [string, string | bigint, string | bigint])[] = [
      ['loanToken', loan.address, loanToken],
      ['collateralToken', collateral.address, collateralToken],
      ['irm', irm, params.irm],
      ['lltv', lltv, params.lltv],
    ];
    const differing = values.filter(([, catalog, chain]) => catalog !== chain);
    const formatSide = (side: 1 | 2) => differing.map((row) => `${row[0]} ${row[side]}`).join(', ');
    if (differing.length > 0) refuse('parameters', formatSide(1), formatSide(2));
    if (params.oracle !== oracle) refuse('oracle', oracle, params.oracle);
  }
  // The contract returns `false` for the correlated flag of every market that was never added, so the flag has no meaning
  // there.
  const isComparable = market.kind === 'loop' && isSupported !== false && isCorrelated !== undefined;
  if (isComparable && isCorrelated !== correlated) {
    const values = { catalog: kindOf(correlated), chain: kindOf(isCorrelated) };
    found.push({ ...about, kind: 'correlated', effect: 'no_new_risk', ...values });
  }
  return found;
}

function contractDisagreements(
  { contracts }: Chain,
  { value, asOfMs, source }: Fact<ContractDeployment>,
): readonly Disagreement[] {
  const nameOf = (address: string) => Object.entries(contracts).find(([, at]) => at === address)?.[0] ?? 'swap router';
  const about = (key: string) => ({
    key,
    name: nameOf(key),
    // Positions are held in `flashLeverage`, so builds stop. The other contracts are only routes to it and can be bypassed.
    effect: key === contracts.flashLeverage ? ('no_builds' as const) : ('warning' as const),
    asOfMs,
    source,
  });
  const found: Disagreement[] = [];
  const missing = (value.code ?? []).filter(({ hasCode }) => !hasCode).map(({ address }) => address);
  if (value.hasCode === false) missing.unshift(contracts.flashLeverage);
  for (const address of missing) found.push({ ...about(address), kind: 'no_code', ...NO_CODE });
  for (const { address, to, target } of value.links ?? []) {
    const expected = contracts[to];
    if (expected === undefined || expected === target) continue;
    found.push({ ...about(address), kind: 'contract', catalog: `${to} ${expected}`, chain: `${to} ${target}` });
  }
  return found;
}

const NO_CODE = { catalog: 'a contract', chain: 'no code' } as const;

function kindOf(isCorrelated: boolean): string {
  return isCorrelated ? 'correlated' : 'uncorrelated';
}
