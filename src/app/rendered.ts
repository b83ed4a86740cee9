import { compress } from '../rest/encoding.ts';
import { createRenderedRows, type RenderedRows } from '../rest/rendered.ts';
import { createRenderings, type Renderings } from '../rest/renderings.ts';
import { createCompiler } from '../server/compiled.ts';
import { createRenderedOperations, type RenderedOperations } from '../server/use-rendered.ts';
import type { Clock } from '../shared/clock.ts';

export interface RenderedDeps {
  readonly clock: Clock;
  /** Told of every look-up, for metrics. */
  readonly onLookup?: (cache: 'rest' | 'graphql', hit: boolean) => void;
}

export interface Rendered {
  readonly rows: RenderedRows;
  readonly operations: RenderedOperations;
  readonly renderings: Renderings;
}

/** Some hundred times all public rows of the catalog, in all codings. */
const REST_BYTES = 64 * 1024 * 1024;
const GRAPHQL_BYTES = 32 * 1024 * 1024;

/** Wire the answers that are kept as bytes: public rows and repeated operations. */
export function createRendered({ clock, onLookup }: RenderedDeps): Rendered {
  const now = () => clock.now();
  const renderings = createRenderings({ clock, compress, maxBytes: REST_BYTES });
  return {
    renderings,
    rows: createRenderedRows({ renderings, now, onLookup: (hit) => onLookup?.('rest', hit) }),
    operations: createRenderedOperations({
      clock,
      maxBytes: GRAPHQL_BYTES,
      compiler: createCompiler({ now, later: setImmediate }),
      onLookup: (hit) => onLookup?.('graphql', hit),
    }),
  };
}
