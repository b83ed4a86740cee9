import { type Json, OPS, type TestService } from '../support/service.ts';

/** The leaves of an answer; items of lists are identified by their id. */
export type Leaves = ReadonlyMap<string, unknown>;

export interface GroupRow {
  readonly group: string;
  readonly apySource: string | null;
  readonly status: string;
  readonly ageSec: number | null;
  readonly asOf: string | null;
  readonly items: number;
  readonly itemsAtLastGood: number;
  readonly failing: readonly { readonly key: string; readonly reason: string; readonly lastGood: string | null }[];
}

export interface Observation {
  readonly leaves: Leaves;
  readonly texts: readonly string[];
  readonly statuses: readonly number[];
  /** By chain and group, and by APY source if there is one: `1 collateralApy stableindex`. */
  readonly groups: ReadonlyMap<string, GroupRow>;
}

const FRESHNESS = `{ freshness { chain { chainId } groups {
  group apySource freshness { status ageSec asOf } itemCount lastGoodCount failing { key reason lastGoodAt }
} } }`;

/** Read the freshness of every group of every chain. */
export async function observeGroups(service: TestService): Promise<ReadonlyMap<string, GroupRow>> {
  const { body } = await service.graphql(FRESHNESS, {}, OPS);
  if (body.errors) throw new Error(JSON.stringify(body.errors));
  return new Map(
    body.data.freshness.flatMap(({ chain, groups }: Json) =>
      groups.map(({ group, apySource, freshness, itemCount, lastGoodCount, failing }: Json) => {
        const row: GroupRow = {
          group: group.toLowerCase().replaceAll(/_(\w)/g, (_all: string, letter: string) => letter.toUpperCase()),
          apySource: apySource?.toLowerCase().replaceAll('_', '') ?? null,
          ...freshness,
          items: itemCount,
          itemsAtLastGood: lastGoodCount,
          failing: failing.map(({ key, reason, lastGoodAt }: Json) => ({
            key,
            reason: reason.toLowerCase(),
            lastGood: lastGoodAt,
          })),
        };
        return [[chain.chainId, row.group, ...(row.apySource === null ? [] : [row.apySource])].join(' '), row];
      }),
    ),
  );
}

const STRATEGIES = `{ strategies(filter: { listedOnly: false }, first: 60) { nodes {
  id: strategyId borrowApyPct netBorrowApyPct utilizationPct liquidityUsd publicAllocatorLiquidityUsd
  collateralPrice { usd } loanPrice { usd } exitLiquidity { freshness { asOf } slippages { sizeUsd slippagePct } }
  ... on LoopStrategy { collateralApyPct } ... on EquityVaultStrategy { yieldLegApyPct }
  freshness { borrow { asOf } collateralApy { asOf } oracle { asOf } }
} } }`;

/** Read these paths, the same strategies through GraphQL, and the freshness of everything. */
export async function observe(service: TestService, paths: readonly string[]): Promise<Observation> {
  const answers = await Promise.all(paths.map((path) => service.get(path)));
  const leaves = new Map<string, unknown>();
  for (const [i, path] of paths.entries()) flatten(answers[i]?.body, path, leaves);
  const typed = await service.graphql(STRATEGIES, {}, OPS);
  if (typed.body.errors) throw new Error(JSON.stringify(typed.body.errors));
  flatten(typed.body.data.strategies.nodes, 'graphql', leaves);
  return {
    leaves,
    texts: [...answers.map(({ text }) => text), typed.text],
    statuses: answers.map(({ status }) => status),
    groups: await observeGroups(service),
  };
}

/** Ages and the time of publishing depend on the time of the read. */
const ABOUT_NOW: ReadonlySet<string> = new Set(['staleForSec', 'ageSec', 'stale', 'maturityDaysLeft']);
const isAboutNow = (key: string, parent: string) => ABOUT_NOW.has(key) || (key === 'asOf' && !parent.includes('.'));

function flatten(value: Json, path: string, into: Map<string, unknown>): void {
  if (Array.isArray(value)) {
    value.forEach((item, i) => {
      flatten(item, `${path}[${keyOf(item) ?? i}]`, into);
    });
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value)) {
      if (typeof item === 'object' && item !== null) flatten(item, `${path}.${key}`, into);
      else if (!isAboutNow(key, path)) into.set(`${path}.${key}`, item);
    }
  } else into.set(path, value);
}

function keyOf(item: Json): string | undefined {
  if (typeof item !== 'object' || item === null) return undefined;
  const key = item.id ?? item.timestamp ?? item.ts ?? item.x ?? item.leverage ?? item.vault ?? item.sizeUsd;
  return key === undefined ? undefined : String(key);
}

/** List the differences of two readings, up to a limit. */
export function differences(a: Leaves, b: Leaves): string[] {
  const paths = new Set([...a.keys(), ...b.keys()]);
  return [...paths].flatMap((path) =>
    a.get(path) === b.get(path) && a.has(path) === b.has(path) ? [] : [`${path}: ${show(a, path)} → ${show(b, path)}`],
  );
}

function show(leaves: Leaves, path: string): string {
  return leaves.has(path) ? JSON.stringify(leaves.get(path)) : 'absent';
}
