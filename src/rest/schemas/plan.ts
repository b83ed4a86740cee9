import { z } from 'zod';
import { ISSUE_KINDS } from '../../shared/vocabulary.ts';
import { addressString } from './common.ts';
import { decimalString, jsonNumber, pct } from './numbers.ts';

/** The kinds of issues by their names in the contract. */
const issueKinds = ISSUE_KINDS.map((kind) => kind.toLowerCase() as Lowercase<typeof kind>);

const issue = z
  .object({
    kind: z
      .enum(issueKinds)
      .describe(
        'insufficient_balance: the wallet holds less than the calls take. approval_needed: an approval of the bundle allows it. price_unverified: only the venue prices the token. not_simulated: the calls could not be executed in simulation. slippage_tightened: less slippage than requested holds in the calldata. slippage_capped: the requested slippage is above the cap, which counts in its place. reference_old, reference_undated: the price that judges a swap is old, or of unknown age. loops_stay_open: the exit leaves open yield loops, because none is known to belong to the vault, or because they are under water. high_cost: the sales are expected to lose 2 % of the equity or more. under_water: a payment goes into a position whose debt is above the value of its collateral.',
      ),
    message: z.string().describe('The issue in a sentence.'),
    token: addressString('The token; absent if the issue is about none.').optional(),
    required: decimalString('Required amount, whole tokens; absent if the issue is about no amount.').optional(),
    available: decimalString('Available amount, whole tokens; absent if the issue is about no amount.').optional(),
    requestedSlippage: jsonNumber(
      'Requested slippage, a ratio; only with slippage_tightened and slippage_capped.',
    ).optional(),
    effectiveSlippage: jsonNumber(
      'Effective slippage, a ratio; only with slippage_tightened and slippage_capped.',
    ).optional(),
    costPctOfEquity: pct('Expected cost, percent of the equity, 2 decimals; only with high_cost.', {
      min: 0,
    }).optional(),
    toLenders: decimalString(
      'Part of the payment that goes to the lenders, whole loan tokens; only with under_water.',
    ).optional(),
    costUsd: decimalString(
      'Expected cost in USD, 2 decimals; only with high_cost and under_water, absent if nothing prices it.',
    ).optional(),
  })
  .meta({ id: 'Issue', description: 'A fact to consider or a step to take before signing. It never stops a build.' });

export const issueList = z
  .array(issue)
  .optional()
  .describe('Everything to know or to do before signing; empty = nothing.');

export const sendCalls = z
  .object({
    version: z.string().describe('Version of the request.'),
    chainId: z.string().describe('The chain, 0x-prefixed hex.'),
    from: addressString('The signing wallet.'),
    atomicRequired: z.boolean().describe('Whether the calls have to be executed as one atomic batch.'),
    calls: z
      .array(
        z
          .object({
            to: addressString('The contract.'),
            data: z.string().describe('Calldata.'),
            value: z.string().describe('Native value in wei, 0x-prefixed hex.'),
          })
          .meta({ id: 'WalletCall', description: 'One call as wallets take it.' }),
      )
      .describe('All calls in order, approvals included.'),
  })
  .meta({
    id: 'SendCalls',
    description:
      'All calls as the first parameter of wallet_sendCalls (EIP-5792). Hand it to the wallet unchanged. Only with `include: ["sendCalls"]`.',
  });

/** Parts of an answer that are long, and added on request. */
export const includedParts = z
  .array(z.enum(['sendCalls']))
  .max(1)
  .optional()
  .describe('What is added to `meta`: sendCalls, all calls once more as the first parameter of wallet_sendCalls.');

/** Whether a body asks for `sendCalls`. */
export const sendsCalls = (include: z.infer<typeof includedParts>): boolean => include?.includes('sendCalls') ?? false;

export const simulatedGas = z
  .string()
  .regex(/^\d+$/)
  .optional()
  .meta({
    description: 'Gas that the simulation of all calls used, units of gas; absent = not simulated.',
    examples: ['612345'],
  });

export const borrowApy = z
  .object({
    beforePct: pct('The present rate, 4 decimals.', { min: 0 }),
    afterPct: pct('The rate after the action, 4 decimals.', { min: 0 }),
  })
  .meta({ id: 'BorrowApyChange', description: "The market's borrow APY before and after the action." });
