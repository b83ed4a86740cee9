import { z } from 'zod';
import { EQUITY_PREFIX, STRATEGY_ID_PATTERN } from '../../shared/ids.ts';

/** Id of an equity vault, lower-cased. A market id is also a strategy id, but no vault. */
export const vaultIdParam = z
  .string()
  .refine((value) => STRATEGY_ID_PATTERN.test(value) && value.startsWith(EQUITY_PREFIX), {
    error: `expected the id of an equity vault: ${EQUITY_PREFIX}0x followed by 64 hex characters`,
  })
  .transform((value) => value.toLowerCase())
  .meta({ pattern: `^${EQUITY_PREFIX}0x[0-9a-fA-F]{64}$` });

export const driftKind = z.enum(['no_db_row', 'db_open_chain_closed', 'db_closed_chain_open']);
export const driftSeverity = z.enum(['high', 'medium', 'low']);
