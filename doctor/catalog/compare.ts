import { computeMarketId } from '../../src/catalog/market-id.ts';
import type { Chain } from '../../src/catalog/types.ts';
import type { Readings } from '../../src/chain/types.ts';
import {
  agreementOf,
  DISAGREEMENT_KINDS,
  type Disagreement,
  type DisagreementKind,
} from '../../src/domain/deployment/disagreements.ts';
import { type ChainFacts, emptyChainFacts, type FactGroup, type GroupState } from '../../src/domain/facts.ts';
import { type Line, linesOf } from '../core/types.ts';
import { type CatalogReading, erc20sOf, labelOf, otherAddresses } from './read.ts';

const AREA = 'catalog';
const CORRECT = 'Correct the catalog (src/catalog/data, or CATALOG_OVERLAY), and check the chain of the node.';
const NEXT_STEP: Readonly<Record<DisagreementKind, string>> = {
  no_code: CORRECT,
  decimals: `Every amount would be wrong. ${CORRECT}`,
  symbol: 'Compare the address with its issuer. If the token was renamed, change the catalog.',
  not_created: CORRECT,
  parameters: CORRECT,
  oracle: CORRECT,
  correlated:
    'Fees and limits depend on it: correct "correlated" in the catalog (src/catalog/data, or CATALOG_OVERLAY).',
  contract: 'These contracts are not linked to each other: correct their addresses in the catalog (src/catalog/data).',
};

/** Compare the catalog of a chain with the chain. Passing lines are summed up by kind. */
export function compareCatalog(chain: Chain, reading: CatalogReading): readonly Line[] {
  const on = `chain ${chain.chainId}`;
  const { disagreements } = agreementOf(chain, factsOf(chain, reading));
  const agrees = DISAGREEMENT_KINDS.filter((kind) => disagreements.every((found) => found.kind !== kind));
  return [
    ...(agrees.length === 0
      ? []
      : [
          linesOf(AREA, on).ok(
            'agreement',
            `agrees with the catalog on ${agrees.map((kind) => kind.replaceAll('_', ' ')).join(', ')}`,
          ),
        ]),
    ...disagreements.map((found) => lineOf(chain, found)),
    ...unread(`${on} tokens`, 'contracts', erc20sOf(chain).length, reading.deployment.tokenContract),
    ...unread(`${on} markets`, 'parameters', chain.markets.length, reading.deployment.marketSupport),
    ...summed(
      `${on} markets`,
      'id',
      chain.markets.map((market) => hashOf(on, market, reading)),
      'have parameters that hash to their id',
    ),
    ...summed(
      `${on} addresses`,
      'code',
      otherAddresses(chain).map((entry) => codeOf(on, entry, reading)),
      'hold a contract',
    ),
  ];
}

/** One line for all passing ones, and one for each other. */
export function summed(
  subject: string,
  check: string,
  findings: readonly (Line | undefined)[],
  are: string,
): readonly Line[] {
  const wrong = findings.flatMap((finding) => finding ?? []);
  const good = findings.length - wrong.length;
  if (findings.length === 0) return [];
  const line = linesOf(AREA, subject).ok(check, `${good} of ${findings.length} ${are}`);
  return [...(good > 0 ? [line] : []), ...wrong];
}

/** Convert the readings to the facts that the comparison needs. */
function factsOf({ chainId }: Chain, { deployment }: CatalogReading): ChainFacts {
  const empty = emptyChainFacts(chainId);
  const asOfMs = Number(deployment.block.timestamp) * 1_000;
  const group = <T>(readings: Readings<string, T>): GroupState<T> => ({
    items: new Map([...readings.values].map(([key, value]) => [key, { value, asOfMs, source: 'chain' }])),
    failures: new Map(),
    lastAttemptMs: asOfMs,
    lastSuccessMs: asOfMs,
  });
  const groups = {
    deployment: group(deployment.deployment),
    marketSupport: group(deployment.marketSupport),
    tokenContract: group(deployment.tokenContract),
  } satisfies Partial<Record<FactGroup, unknown>>;
  return { ...empty, groups: { ...empty.groups, ...groups } };
}

function lineOf(chain: Chain, { kind, effect, key, name, catalog, chain: onChain }: Disagreement): Line {
  const market = chain.markets.find(({ id }) => id === key);
  const isToken = chain.tokens.some(({ address }) => address === key);
  const subject = market ? `market ${labelOf(market)}` : `${isToken ? 'token' : 'contract'} ${name}`;
  const make = linesOf(AREA, `chain ${chain.chainId} ${subject}`);
  const found = `the catalog says ${catalog}, the chain says ${onChain}`;
  return effect === 'warning' ? make.warning(kind, found, NEXT_STEP[kind]) : make.failure(kind, found, NEXT_STEP[kind]);
}

/** Values that could not be read are no disagreement and have lines of their own. */
function unread(
  subject: string,
  check: string,
  count: number,
  { failures }: Readings<string, unknown>,
): readonly Line[] {
  const make = linesOf(AREA, subject);
  const [reason] = failures.values();
  return reason === undefined
    ? [make.ok(check, `all ${count} were read`)]
    : [
        make.warning(
          check,
          `${failures.size} of ${count} could not be read (${reason})`,
          'Run the check again; see the nodes of this chain.',
        ),
      ];
}

/** A node's answer is not trusted: parameters belong to a market only if they hash to its id. */
function hashOf(on: string, market: Chain['markets'][number], { deployment }: CatalogReading): Line | undefined {
  const params = deployment.marketSupport.values.get(market.id)?.params;
  if (!params || computeMarketId(params) === market.id) return undefined;
  return linesOf(AREA, `${on} market ${labelOf(market)}`).failure(
    'id',
    'the parameters on the chain do not hash to the id of the market',
    'Do not use this node, or this address of the lending protocol, until the cause is known.',
  );
}

function codeOf(
  on: string,
  { what, address }: { readonly what: string; readonly address: `0x${string}` },
  { hasCode }: CatalogReading,
): Line | undefined {
  const has = hasCode.get(address);
  if (has === true) return undefined;
  const make = linesOf(AREA, `${on} ${what}`);
  return has === undefined
    ? make.warning(
        'code',
        `the node did not return the code at ${address}`,
        'Run the check again; see the nodes of this chain.',
      )
    : make.failure('code', `there is no contract at ${address}`, CORRECT);
}
