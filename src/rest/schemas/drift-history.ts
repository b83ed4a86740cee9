import { z } from 'zod';
import { EQUITY_PREFIX, STRATEGY_ID_PATTERN } from '../../shared/ids.ts';
import { addressString, dateTime, marketIdString } from './common.ts';
import { chainIdNumber, wholeNumber } from './numbers.ts';
import { driftKind, driftSeverity } from './portfolio.ts';

/** Id of an equity vault, lower-cased. A market id is also a strategy id, but no vault. */
export const vaultIdParam = z
  .string()
  .refine((value) => STRATEGY_ID_PATTERN.test(value) && value.startsWith(EQUITY_PREFIX), {
    error: `expected the id of an equity vault: ${EQUITY_PREFIX}0x followed by 64 hex characters`,
  })
  .transform((value) => value.toLowerCase())
  .meta({ pattern: `^${EQUITY_PREFIX}0x[0-9a-fA-F]{64}$` });

const driftRecord = z
  .object({
    kind: driftKind.describe('Kind of disagreement.'),
    severity: driftSeverity.describe('Urgency when it was last seen.'),
    chainId: chainIdNumber('The chain.'),
    address: addressString('Owner of the position, checksummed.'),
    positionIndex: wholeNumber('Index of the position on chain.'),
    positionId: z.string().describe('{chainId}-{marketId}-{positionIndex}.'),
    marketId: marketIdString('Market of the position.'),
    vaultId: z
      .string()
      .nullable()
      .describe('Equity vault of the position when the disagreement was last seen; null = none.'),
    firstSeen: dateTime('First reading with it.'),
    lastSeen: dateTime('Last reading with it.'),
    goneAt: dateTime('First reading without it; null = every reading since has it.').nullable(),
  })
  .meta({ id: 'DriftRecord', description: 'A time over which register and chain disagreed about a position.' });

export const driftHistoryPage = z
  .object({
    count: wholeNumber('Number of matching records, on all pages.'),
    next: z.string().nullable().describe('Send it as "after" for the next page; null = this is the last one.'),
    records: z.array(driftRecord).describe('The latest recorded first.'),
  })
  .meta({ id: 'DriftHistory', description: 'A page of the history of drift.' });
