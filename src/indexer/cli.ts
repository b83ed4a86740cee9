import { parseArgs } from 'node:util';
import { failureMessage } from '../database/cli.ts';
import { DatabaseUnavailableError } from '../database/connection/errors.ts';
import type { ReadRange } from '../domain/history/types.ts';
import { StartupError } from '../shared/errors.ts';
import type { ChainId } from '../shared/ids.ts';

export const REINDEX_USAGE = `Have the logs of positions of a chain read anew, for histories that do not add up. It needs the rights of the service's role.

  npm run reindex -- --chain 1
  npm run reindex -- --chain 1 --prices

The next run of the service removes the stored logs of the chain and reads them again, the newest first, within
HISTORY_REQUESTS_PER_MINUTE. Prices of the oracle at events stay stored. Histories are incomplete until it has ended;
chains[].positionHistory of /health has its progress.

With --prices the prices of the oracle at events are read again instead, and compared with the stored ones. One that differs is
replaced when a second node confirms it, or when there is a single node, and logged with both values. One that no node has stays.

Exit code: 0 it is requested, 1 a failure.
`;

export interface ReindexCliDeps {
  /** @throws StartupError when the settings are invalid */
  readonly databaseUrl: () => string | undefined;
  /** The chains of the catalog. */
  readonly chainIds: readonly ChainId[];
  /** Request it; `null` = nothing of the chain was read. @throws DatabaseUnavailableError */
  readonly request: (url: string, chainId: ChainId) => Promise<ReadRange | null>;
  /** Have the prices at events compared; the number of them. @throws DatabaseUnavailableError */
  readonly requestPrices: (url: string, chainId: ChainId) => Promise<number>;
  readonly write: (text: string) => void;
  readonly writeError: (text: string) => void;
}

/** Run the command and return its exit code. */
export async function runReindexCli(argv: readonly string[], deps: ReindexCliDeps): Promise<number> {
  const wish = readWish(argv, deps.chainIds);
  if (wish === 'help') {
    deps.write(REINDEX_USAGE);
    return 0;
  }
  if (typeof wish === 'string') {
    deps.writeError(`${wish}\n\n${REINDEX_USAGE}`);
    return 1;
  }
  const { chainId } = wish;
  try {
    const url = deps.databaseUrl();
    if (url === undefined) throw new StartupError('Set DATABASE_URL to the Postgres database of the service.');
    if (wish.prices) {
      const count = await deps.requestPrices(url, chainId);
      deps.write(`Chain ${chainId}: ${count} prices at events will be compared by the next runs.\n`);
      return 0;
    }
    const range = await deps.request(url, chainId);
    deps.write(
      range
        ? `Chain ${chainId}: the logs of the blocks ${range.fromBlock} to ${range.toBlock} will be read anew by the next run.\n`
        : `Chain ${chainId}: no block has been read yet, so there is nothing to read anew.\n`,
    );
    return 0;
  } catch (error) {
    if (!(error instanceof StartupError || error instanceof DatabaseUnavailableError)) throw error;
    deps.writeError(`${failureMessage(error)}\n`);
    return 1;
  }
}

/** Returns a message when the arguments are wrong. */
function readWish(
  argv: readonly string[],
  chainIds: readonly ChainId[],
): { readonly chainId: ChainId; readonly prices: boolean } | string {
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: { chain: { type: 'string' }, prices: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
    });
    if (values.help) return 'help';
    const known = chainIds.find((chainId) => String(chainId) === values.chain);
    const given = values.chain === undefined ? '--chain is missing' : `--chain is "${values.chain}"`;
    if (known !== undefined) return { chainId: known, prices: values.prices === true };
    return `${given}. Send one of ${chainIds.join(', ')}.`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
