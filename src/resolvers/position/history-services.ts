import type { PositionKey, RecordedPosition } from '../../domain/history/types.ts';

/** Reading the recorded logs of positions. */
export interface PositionHistoryPort {
  /** Read positions of one chain, in their order. @throws UpstreamUnavailableError */
  read(keys: readonly PositionKey[]): Promise<readonly RecordedPosition[]>;
  /** The same with marks at the blocks of events alone, which takes one statement for each market. @throws UpstreamUnavailableError */
  readEvents(keys: readonly PositionKey[]): Promise<readonly RecordedPosition[]>;
}

export interface PositionHistoryServices {
  readonly positionHistory: PositionHistoryPort;
}
