import type { Disagreement } from '../../domain/deployment/disagreements.ts';
import type { ContractTerms, DeploymentTerms } from '../../domain/deployment/terms.ts';
import { Decimal } from '../../shared/decimal.ts';
import type { Address } from '../../shared/ids.ts';
import { DISAGREEMENT_EFFECTS, DISAGREEMENT_KINDS } from '../../shared/vocabulary.ts';
import { builder } from '../builder.ts';
import { gapsOf } from './gaps.ts';
import { FreshnessRef } from './stamp.ts';

const PCT_OF_WAD = -16;
const pctOf = (share: bigint | undefined): Decimal | null =>
  share === undefined ? null : new Decimal(share.toString()).shiftedBy(PCT_OF_WAD);

const TERM_GAPS = 'Every term that the contract does not tell, and what is taken in its place';

export const MarketDeploymentRef = builder.objectRef<DeploymentTerms>('MarketDeployment').implement({
  description:
    'What the deployed contract says that holds for positions on one market. A term that it does not tell is `null`; `gaps` say why, and what is taken in its place.',
  fields: (t) => ({
    paused: t.exposeBoolean('isPaused', {
      nullable: true,
      description: 'Whether it lets nothing happen, leaving included.',
    }),
    supported: t.exposeBoolean('isSupported', {
      nullable: true,
      description: 'Whether it opens positions on the market.',
    }),
    correlated: t.exposeBoolean('isCorrelated', {
      nullable: true,
      description: 'What kind of market it takes it for: its fees go by that.',
    }),
    liquidationBufferPct: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'Points of LTV between liquidation and the highest LTV that it accepts.',
      resolve: ({ liquidationBuffer }) => pctOf(liquidationBuffer),
    }),
    source: t.exposeString('source', {
      nullable: true,
      description: 'Who told all of this; `null` while nothing was measured.',
    }),
    freshness: t.expose('stamp', {
      type: FreshnessRef,
      nullable: true,
      description: 'How old the older part of it is; `null` while nothing was measured.',
    }),
    gaps: t.field(gapsOf(({ gaps }: DeploymentTerms) => gaps, TERM_GAPS)),
  }),
});

/** An address of the catalog, and whether the deployed contract lets it do its part. */
export interface AllowedPart {
  readonly name: string;
  readonly address: Address;
  /** `undefined` = not known. */
  readonly isAllowed: boolean | undefined;
}

const AllowedPartRef = builder.objectRef<AllowedPart>('AllowedContract').implement({
  description: 'A contract of the catalog, and whether the deployed contract works with it.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The venue that it is a router of, or what it is.' }),
    address: t.expose('address', { type: 'Address', description: 'Its address.' }),
    allowed: t.exposeBoolean('isAllowed', {
      nullable: true,
      description:
        'Whether it is allowed there and has code, so that it is used; `null` = not known, and taken as allowed.',
    }),
  }),
});

/** What the deployed contract of a chain says of itself and of the catalog's other contracts. */
export interface ChainDeployment extends ContractTerms {
  readonly swapRouters: readonly AllowedPart[];
  readonly actingRouters: readonly AllowedPart[];
}

export const ChainDeploymentRef = builder.objectRef<ChainDeployment>('ChainDeployment').implement({
  description:
    'What the contract that holds positions says of itself. What it does not tell is `null`; `gaps` say why, and what is taken in its place.',
  fields: (t) => ({
    hasCode: t.exposeBoolean('hasCode', { nullable: true, description: 'Whether there is a contract at its address.' }),
    paused: t.exposeBoolean('isPaused', {
      nullable: true,
      description: 'Whether it lets nothing happen, leaving included.',
    }),
    liquidationBufferPct: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'Points of LTV between liquidation and the highest LTV that it accepts.',
      resolve: ({ liquidationBuffer }) => pctOf(liquidationBuffer),
    }),
    swapRouters: t.expose('swapRouters', {
      type: [AllowedPartRef],
      complexity: { field: 1, multiplier: 4 },
      description: 'Routers of the venues of the catalog: whether swaps may go through them.',
    }),
    operators: t.expose('actingRouters', {
      type: [AllowedPartRef],
      complexity: { field: 1, multiplier: 2 },
      description: 'The own routers of the product: whether they may act for users.',
    }),
    source: t.exposeString('source', {
      nullable: true,
      description: 'Who told all of this; `null` while nothing was measured.',
    }),
    freshness: t.expose('stamp', {
      type: FreshnessRef,
      nullable: true,
      description: 'How old it is; `null` while nothing was measured.',
    }),
    gaps: t.field(gapsOf(({ gaps }: ChainDeployment) => gaps, TERM_GAPS)),
  }),
});

const KIND_DESCRIPTIONS: Record<(typeof DISAGREEMENT_KINDS)[number], string> = {
  decimals: 'A token has another number of decimals.',
  symbol: 'A token has another symbol.',
  not_created: 'There is no market of that id.',
  parameters: 'Other parameters stand behind the id of a market.',
  oracle: 'Another oracle stands behind the id of a market.',
  correlated: 'The contract takes a market for one of the other kind.',
  no_code: 'There is no contract at an address.',
  contract: 'A contract of the product works with another one than the catalog names.',
};

const KindRef = builder.enumType('DisagreementKind', {
  description: 'What the catalog and a chain may disagree on.',
  values: Object.fromEntries(
    DISAGREEMENT_KINDS.map((kind) => [kind, { value: kind, description: KIND_DESCRIPTIONS[kind] }]),
  ) as { [K in (typeof DISAGREEMENT_KINDS)[number]]: { value: K; description: string } },
});

const EFFECT_DESCRIPTIONS: Record<(typeof DISAGREEMENT_EFFECTS)[number], string> = {
  no_builds: 'What stands on it is not listed, and nothing is built for it.',
  no_new_risk: 'What stands on it is not listed, and nothing that adds risk is built for it.',
  warning: 'It is told, and what cannot be used is gone around.',
};

const EffectRef = builder.enumType('DisagreementEffect', {
  description: 'What is decided while the catalog and a chain disagree.',
  values: Object.fromEntries(
    DISAGREEMENT_EFFECTS.map((effect) => [effect, { value: effect, description: EFFECT_DESCRIPTIONS[effect] }]),
  ) as { [E in (typeof DISAGREEMENT_EFFECTS)[number]]: { value: E; description: string } },
});

export const DisagreementRef = builder.objectRef<Disagreement>('CatalogDisagreement').implement({
  description: 'Something that the catalog says and the chain says otherwise.',
  fields: (t) => ({
    kind: t.expose('kind', { type: KindRef, description: 'What it is about.' }),
    effect: t.expose('effect', { type: EffectRef, description: 'What is decided while it stands.' }),
    key: t.exposeString('key', { description: 'Market id, or the address of a token or contract.' }),
    name: t.exposeString('name', { description: 'Its symbols, or the name of the contract.' }),
    catalog: t.exposeString('catalog', { description: 'What the catalog says.' }),
    onChain: t.exposeString('chain', { description: 'What the chain says.' }),
    source: t.exposeString('source', { description: 'Who told it.' }),
    asOf: t.field({
      type: 'DateTime',
      description: 'When the chain said so: the time of the block.',
      resolve: ({ asOfMs }) => asOfMs,
    }),
  }),
});
