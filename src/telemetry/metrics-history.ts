import { Counter, Gauge, type Registry } from 'prom-client';

/** A run of the indexer of positions, for metrics. */
export interface HistoryRun {
  readonly chainId: number;
  readonly requests: number;
  readonly logs: number;
  readonly rewoundBlocks: number;
  /** Blocks whose stored logs were wrong. */
  readonly correctedBlocks: number;
  /** Blocks between the newest one of the chain and the newest one that was read; absent: not known. */
  readonly blocksBehind?: number | undefined;
  /** The same in seconds, by the times of these blocks. */
  readonly secondsBehind?: number | undefined;
  /** The oldest block that was read. */
  readonly fromBlock?: number | undefined;
  readonly isWhole: boolean;
}

export interface HistoryMetrics {
  historyRun(run: HistoryRun): void;
}

/** Metrics of the reading of position logs, in the process that runs it. */
export function historyMetrics(registers: Registry[]): HistoryMetrics {
  const labelNames = ['chain_id'] as const;
  const counter = (name: string, help: string) => new Counter({ name, help, labelNames, registers });
  const gauge = (name: string, help: string) => new Gauge({ name, help, labelNames, registers });
  const requests = counter('spiral_history_requests_total', 'Requests for logs of positions, each of a batch counted.');
  const logs = counter('spiral_history_logs_total', 'Stored logs of positions.');
  const reorganizations = counter(
    'spiral_history_reorganizations_total',
    'Times at which stored logs were removed because the chain replaced their blocks.',
  );
  const corrections = counter(
    'spiral_history_corrected_blocks_total',
    'Blocks whose stored logs of positions were replaced because a node had answered wrong ones.',
  );
  const behind = gauge(
    'spiral_history_blocks_behind',
    'Blocks between the newest block of the chain and the newest one whose logs of positions were read.',
  );
  const behindSec = gauge(
    'spiral_history_seconds_behind',
    'Seconds between the newest block of the chain and the newest one whose logs of positions were read.',
  );
  const from = gauge('spiral_history_from_block', 'The oldest block whose logs of positions were read.');
  const whole = gauge(
    'spiral_history_whole',
    'Whether the logs of positions were read back to the first opening: 1 or 0.',
  );
  return {
    historyRun({ chainId, blocksBehind, secondsBehind, fromBlock, isWhole, ...run }) {
      const labels = { chain_id: String(chainId) };
      requests.inc(labels, run.requests);
      logs.inc(labels, run.logs);
      reorganizations.inc(labels, run.rewoundBlocks > 0 ? 1 : 0);
      corrections.inc(labels, run.correctedBlocks);
      if (blocksBehind !== undefined) behind.set(labels, blocksBehind);
      if (secondsBehind !== undefined) behindSec.set(labels, secondsBehind);
      if (fromBlock !== undefined) from.set(labels, fromBlock);
      whole.set(labels, isWhole ? 1 : 0);
    },
  };
}
