import type { Warning } from '../../domain/plausibility/types.ts';
import { WARNED_FIELDS, WARNING_CODES, type WarnedField, type WarningCode } from '../../domain/plausibility/types.ts';
import { builder } from '../builder.ts';

const UNCONFIRMED = 'The source reports another value, which is not confirmed yet; the last good one is returned.';

const CODE_DESCRIPTIONS: Readonly<Record<WarningCode, string>> = {
  suspect_price: UNCONFIRMED,
  suspect_apy: UNCONFIRMED,
  suspect_incentive: UNCONFIRMED,
  suspect_exit: UNCONFIRMED,
  off_peg: 'A stablecoin is outside 0.9 to 1.1 USD.',
  oracle_divergence: 'The oracle values the collateral more than 10 % from its price.',
  oracle_out_of_range:
    'The collateral has no price of its own, and the oracle values it outside the range of a token of its kind.',
  oracle_jump:
    'The collateral has no price of its own, and the value of the oracle moved by more than 20 % less than a day ago.',
};

const CodeRef = builder.enumType('WarningCode', {
  description: 'Kind of a doubt about a value.',
  values: Object.fromEntries(
    WARNING_CODES.map((code) => [code.toUpperCase(), { value: code, description: CODE_DESCRIPTIONS[code] }]),
  ) as Record<string, { value: WarningCode; description: string }>,
});

const FIELDS: Readonly<Record<WarnedField, readonly [name: string, description: string]>> = {
  'collateral.priceUsd': ['COLLATERAL_PRICE', 'USD price of the collateral: `Market.collateralPrice`.'],
  'loan.priceUsd': ['LOAN_PRICE', 'USD price of the loan token: `Market.loanPrice`.'],
  collateralApyPct: ['COLLATERAL_APY', 'APY of the collateral: `Market.collateralApyPct`.'],
  borrowIncentive: ['BORROW_INCENTIVE', 'Incentives paid to borrowers: `Market.borrowIncentive`.'],
  exitLiquidity: ['EXIT_LIQUIDITY', 'Loss of a sale of the collateral: `Market.exitLiquidity`.'],
  oracle: ['ORACLE', 'Value of the collateral by the oracle: `Market.oracle`.'],
};

const FieldRef = builder.enumType('WarnedField', {
  description:
    'Value of a market that a warning is about; of a vault of its stock market or of the market of its yield leg.',
  values: Object.fromEntries(
    WARNED_FIELDS.map((field) => [FIELDS[field][0], { value: field, description: FIELDS[field][1] }]),
  ) as Record<string, { value: WarnedField; description: string }>,
});

export const WarningRef = builder.objectRef<Warning>('Warning').implement({
  description: 'A doubt about a returned value, or about one that it depends on.',
  fields: (t) => ({
    code: t.expose('code', { type: CodeRef, description: 'Kind of the doubt.' }),
    field: t.expose('field', { type: FieldRef, description: 'The doubted value.' }),
    value: t.expose('value', {
      type: 'Decimal',
      description: 'Doubted number: USD of prices and of the oracle, otherwise points of 100. Signed.',
    }),
    message: t.exposeString('message', { description: 'One plain sentence for people.' }),
  }),
});
