import { Decimal } from '../../shared/decimal.ts';
import { withoutUndefined } from '../../shared/without-undefined.ts';
import type { Conversions } from '../derive/conversion.ts';
import { type JsonSchema, partOfAnswer } from '../openapi/json-schema.ts';
import { sendCalls } from '../schemas/plan.ts';

interface MarkedCall {
  readonly isApproval: boolean;
}

const itemOf = ({ items }: JsonSchema) => items as JsonSchema;
const marksOf = (raw: unknown) => raw as readonly MarkedCall[];

/** Parts of plans in the forms of the contract. */
export const planConversions = {
  /** Basis points as a ratio, a JSON number: 50 is 0.005. */
  ratio: {
    says: 'A ratio: 0.005 is 0.5 %.',
    schema: ({ exclusiveMinimum, maximum }) => ({
      type: 'number',
      minimum: 0,
      ...withoutUndefined({ exclusiveMinimum, maximum: maximum === undefined ? undefined : Number(maximum) / 10_000 }),
    }),
    convert: (bps) => Number(new Decimal(String(bps)).shiftedBy(-4).toFixed()),
  },
  /** The calls that are approvals, to be signed first. */
  approvals: {
    schema: (of) => ({ ...of, description: 'Sign these first, in order.' }),
    convert: (calls, { raw }) => (calls as readonly unknown[]).filter((_, i) => marksOf(raw)[i]?.isApproval),
  },
  /** The call after the approvals. */
  lastCall: {
    schema: (of) => ({ ...itemOf(of), description: 'Sign after the approvals.' }),
    convert: (calls, { raw }) => (calls as readonly unknown[]).find((_, i) => !marksOf(raw)[i]?.isApproval),
  },
  /** The first parameter of `wallet_sendCalls`. */
  sendCalls: {
    mayBeAbsent: true,
    schema: (_of, refer) => partOfAnswer(sendCalls, refer),
    convert: (request) => request,
  },
} as const satisfies Conversions;
