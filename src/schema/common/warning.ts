import type { Warning } from '../../domain/plausibility/types.ts';
import { WARNING_CODES, type WarningCode } from '../../shared/vocabulary.ts';
import { builder } from '../builder.ts';

const UNCONFIRMED = 'The source tells another value, which nothing confirms yet; the last good one is shown.';

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

export const WarningRef = builder.objectRef<Warning>('Warning').implement({
  description: 'A doubt about a value that is shown, or about one that stands behind it.',
  fields: (t) => ({
    code: t.expose('code', { type: CodeRef, description: 'Kind of the doubt.' }),
    field: t.exposeString('field', {
      description:
        'Word of the /v1 contract for the value, as a dotted path in a strategy, e.g. `collateral.priceUsd`.',
    }),
    value: t.expose('value', {
      type: 'Decimal',
      description: 'Doubted value, in the unit of the field.',
    }),
    message: t.exposeString('message', { description: 'One plain sentence for people.' }),
  }),
});
