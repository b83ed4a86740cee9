import { z } from 'zod';
import { addressString } from './common.ts';

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
