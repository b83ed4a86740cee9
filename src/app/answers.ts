import { createCompiler } from '../graphql/compiled.ts';
import { createRenderedOperations, type RenderedOperations } from '../graphql/plugins/use-cached-answers.ts';
import { compress } from '../rest/encoding.ts';
import { createRenderedRows, type RenderedRows } from '../rest/rendered.ts';
import { createRenderings, type Renderings } from '../rest/renderings.ts';
import type { Clock } from '../shared/clock.ts';

export interface RenderedDeps {
  readonly clock: Clock;
  /** Most memory that kept answers take together. */
  readonly maxBytes: number;
  /** Told of every look-up, for metrics. */
  readonly onLookup?: (cache: 'rest' | 'graphql', hit: boolean) => void;
}

export interface Rendered {
  readonly rows: RenderedRows;
  readonly operations: RenderedOperations;
  readonly renderings: Renderings;
}

/** Public rows are there in three codings; the rest is for operations. */
const REST_SHARE = 2 / 3;

/** Wire the answers that are kept as bytes: public rows and repeated operations. */
export function createRendered({ clock, maxBytes, onLookup }: RenderedDeps): Rendered {
  const now = () => clock.now();
  const restBytes = Math.floor(maxBytes * REST_SHARE);
  const renderings = createRenderings({ clock, compress, maxBytes: restBytes });
  return {
    renderings,
    rows: createRenderedRows({ renderings, now, onLookup: (hit) => onLookup?.('rest', hit) }),
    operations: createRenderedOperations({
      clock,
      maxBytes: maxBytes - restBytes,
      compiler: createCompiler({ now, later: setImmediate }),
      onLookup: (hit) => onLookup?.('graphql', hit),
    }),
  };
}
