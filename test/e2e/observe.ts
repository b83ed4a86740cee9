import { type Json, OPS, type TestService } from '../support/service.ts';

/** Answers by what was read. */
type Answers = ReadonlyMap<string, Json>;

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
  readonly answers: Answers;
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
  const typed = await service.graphql(STRATEGIES, {}, OPS);
  if (typed.body.errors) throw new Error(JSON.stringify(typed.body.errors));
  return {
    answers: new Map([
      ...paths.map((path, i) => [path, answers[i]?.body] as const),
      ['graphql', typed.body.data.strategies.nodes],
    ]),
    texts: [...answers.map(({ text }) => text), typed.text],
    statuses: answers.map(({ status }) => status),
    groups: await observeGroups(service),
  };
}

/** Ages and the time of publishing depend on the time of the read. */
const ABOUT_NOW: ReadonlySet<string> = new Set(['staleForSec', 'ageSec', 'stale', 'maturityDaysLeft']);
const isAboutNow = (key: string, parent: string) => ABOUT_NOW.has(key) || (key === 'asOf' && !parent.includes('.'));

/** List the leaves in which the answers of two readings differ; items of lists are identified by their id. */
export function differences(a: Answers, b: Answers): string[] {
  const found: string[] = [];
  for (const path of new Set([...a.keys(), ...b.keys()])) compare(a.get(path), b.get(path), path, found);
  return found;
}

const isNode = (value: Json): boolean => typeof value === 'object' && value !== null;

/** Compare two parts at the same path; `undefined` = absent. */
function compare(a: Json, b: Json, path: string, found: string[]): void {
  if (a === b) return;
  if (!isNode(a) && !isNode(b)) {
    found.push(`${path}: ${show(a)} → ${show(b)}`);
    return;
  }
  if (!isNode(a) && a !== undefined) found.push(`${path}: ${show(a)} → absent`);
  if (!isNode(b) && b !== undefined) found.push(`${path}: absent → ${show(b)}`);
  const [before, after] = [partsOf(a, path), partsOf(b, path)];
  for (const [place, part] of before) compare(part, after.get(place), path + place, found);
  for (const [place, part] of after) if (!before.has(place)) compare(undefined, part, path + place, found);
}

/** The fields or items of a part by their places; a leaf has none. */
function partsOf(value: Json, path: string): ReadonlyMap<string, Json> {
  if (Array.isArray(value)) return new Map(value.map((item, i) => [`[${keyOf(item) ?? i}]`, item]));
  if (!isNode(value)) return new Map();
  const parts = new Map<string, Json>();
  for (const key in value) if (isNode(value[key]) || !isAboutNow(key, path)) parts.set(`.${key}`, value[key]);
  return parts;
}

function keyOf(item: Json): string | undefined {
  if (!isNode(item)) return undefined;
  const key = item.id ?? item.timestamp ?? item.ts ?? item.x ?? item.leverage ?? item.vault ?? item.sizeUsd;
  return key === undefined ? undefined : String(key);
}

const show = (leaf: Json): string => (leaf === undefined ? 'absent' : JSON.stringify(leaf));
