import type { DISAGREEMENT_EFFECTS, DISAGREEMENT_KINDS, Disagreement } from '../../domain/deployment/disagreements.ts';
import type { ContractTerms, DeploymentTerms } from '../../domain/deployment/terms.ts';
import { Decimal } from '../../shared/decimal.ts';
import type { Address } from '../../shared/ids.ts';
import { builder } from '../builder.ts';
import { enumValues } from './enum-values.ts';
import { gapsOf } from './gaps.ts';
import { FreshnessRef } from './stamp.ts';

const PCT_OF_WAD = -16;
const liquidationBufferPctOf = ({ liquidationBuffer: share }: Pick<DeploymentTerms, 'liquidationBuffer'>) =>
  share === undefined ? null : new Decimal(share.toString()).shiftedBy(PCT_OF_WAD);

const TERM_GAPS = 'Every term that cannot be read from the contract, with the value that is used instead';

export const MarketDeploymentRef = builder.objectRef<DeploymentTerms>('MarketDeployment').implement({
  description:
    'Terms of the deployed contract for positions on one market. A term that cannot be read is `null`; `gaps` have the reason, and the value that is used instead.',
  fields: (t) => ({
    paused: t.exposeBoolean('isPaused', {
      nullable: true,
      description: 'Whether the contract is paused: nothing can be done, leaving included.',
    }),
    supported: t.exposeBoolean('isSupported', {
      nullable: true,
      description: 'Whether the contract opens positions on the market.',
    }),
    correlated: t.exposeBoolean('isCorrelated', {
      nullable: true,
      description: 'Whether the contract takes the market for a correlated one, on which its fees depend.',
    }),
    liquidationBufferPct: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'Points of LTV, in percent, between liquidation and the highest LTV that the contract accepts.',
      resolve: liquidationBufferPctOf,
    }),
    source: t.exposeString('source', {
      nullable: true,
      description: 'Name of the source of the terms; `null` = nothing was measured yet.',
    }),
    freshness: t.expose('stamp', {
      type: FreshnessRef,
      nullable: true,
      description: 'Age of the oldest of the terms; `null` = nothing was measured yet.',
    }),
    gaps: t.field(gapsOf(({ gaps }: DeploymentTerms) => gaps, TERM_GAPS)),
  }),
});

/** An address of the catalog, and whether the deployed contract lets it do its part. */
interface AllowedPart {
  readonly name: string;
  readonly address: Address;
  /** `undefined` = not known. */
  readonly isAllowed: boolean | undefined;
}

const AllowedPartRef = builder.objectRef<AllowedPart>('AllowedContract').implement({
  description: 'A contract of the catalog, and whether the deployed contract works with it.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Venue of a router, or the name of an own router of the product.' }),
    address: t.expose('address', { type: 'Address', description: 'Address of the contract.' }),
    allowed: t.exposeBoolean('isAllowed', {
      nullable: true,
      description:
        'Whether the contract is allowed and has code, so that it is used; `null` = not known, and taken as allowed.',
    }),
  }),
});

/** The terms of a chain's deployed contract, and its approvals of the catalog's other contracts. */
export interface ChainDeployment extends ContractTerms {
  readonly swapRouters: readonly AllowedPart[];
  readonly actingRouters: readonly AllowedPart[];
}

export const ChainDeploymentRef = builder.objectRef<ChainDeployment>('ChainDeployment').implement({
  description:
    'Terms of the contract that holds positions, read from it. A term that cannot be read is `null`; `gaps` have the reason, and the value that is used instead.',
  fields: (t) => ({
    hasCode: t.exposeBoolean('hasCode', {
      nullable: true,
      description: 'Whether a contract is deployed at the address of the catalog.',
    }),
    paused: t.exposeBoolean('isPaused', {
      nullable: true,
      description: 'Whether the contract is paused: nothing can be done, leaving included.',
    }),
    liquidationBufferPct: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'Points of LTV, in percent, between liquidation and the highest LTV that the contract accepts.',
      resolve: liquidationBufferPctOf,
    }),
    swapRouters: t.expose('swapRouters', {
      type: [AllowedPartRef],
      complexity: { field: 1, multiplier: 4 },
      description: 'Routers of the venues of the catalog, at most 10, and whether swaps may go through them.',
    }),
    operators: t.expose('actingRouters', {
      type: [AllowedPartRef],
      complexity: { field: 1, multiplier: 2 },
      description: 'Own routers of the product, at most 2, and whether they may act for users.',
    }),
    source: t.exposeString('source', {
      nullable: true,
      description: 'Name of the source of the terms; `null` = nothing was measured yet.',
    }),
    freshness: t.expose('stamp', {
      type: FreshnessRef,
      nullable: true,
      description: 'Age of the terms; `null` = nothing was measured yet.',
    }),
    gaps: t.field(gapsOf(({ gaps }: ChainDeployment) => gaps, TERM_GAPS)),
  }),
});

const KIND_DESCRIPTIONS: Record<(typeof DISAGREEMENT_KINDS)[number], string> = {
  decimals: 'A token has another number of decimals.',
  symbol: 'A token has another symbol.',
  not_created: 'No market of the id exists on chain.',
  parameters: 'The id of a market has other parameters.',
  oracle: 'The id of a market has another oracle.',
  correlated: 'The contract takes a market for one of the other kind.',
  no_code: 'No contract is deployed at an address.',
  contract: 'A contract of the product works with another one than the catalog names.',
};

const KindRef = builder.enumType('DisagreementKind', {
  description: 'Subject of a disagreement between the catalog and a chain.',
  values: enumValues(KIND_DESCRIPTIONS),
});

const EFFECT_DESCRIPTIONS: Record<(typeof DISAGREEMENT_EFFECTS)[number], string> = {
  no_builds: 'Strategies that depend on it are not listed, and nothing is built for them.',
  no_new_risk: 'Strategies that depend on it are not listed, and nothing that adds risk is built for them.',
  warning: 'Nothing is blocked: the disagreement is reported, and unusable parts are not used.',
};

const EffectRef = builder.enumType('DisagreementEffect', {
  description: 'Consequence of a disagreement between the catalog and a chain, for as long as it lasts.',
  values: enumValues(EFFECT_DESCRIPTIONS),
});

export const DisagreementRef = builder.objectRef<Disagreement>('CatalogDisagreement').implement({
  description: 'A fact of the catalog that the chain contradicts.',
  fields: (t) => ({
    kind: t.expose('kind', { type: KindRef, description: 'Subject of the disagreement.' }),
    effect: t.expose('effect', { type: EffectRef, description: 'Consequence of the disagreement.' }),
    key: t.exposeString('key', { description: 'Market id, or the address of a token or contract.' }),
    name: t.exposeString('name', { description: 'Symbols of the token or market, or the name of the contract.' }),
    catalogValue: t.exposeString('catalog', { description: 'Value in the catalog.' }),
    chainValue: t.exposeString('chain', { description: 'Value on chain.' }),
    source: t.exposeString('source', { description: 'Name of the source of the value on chain.' }),
    asOf: t.field({
      type: 'DateTime',
      description: 'Time of the block at which the value was read on chain.',
      resolve: ({ asOfMs }) => asOfMs,
    }),
  }),
});
