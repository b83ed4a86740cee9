import type { z } from 'zod';
import type { Catalog } from '../catalog/types.ts';
import type { Database } from '../database/client.ts';
import type { FreshnessBudgets } from '../domain/facts.ts';
import type { FeatureServices } from '../resolvers/common/feature-services.ts';
import type { Services } from '../resolvers/common/services.ts';
import type { PositionsPort } from '../resolvers/position/position-services.ts';
import type { Conversions } from '../rest/derive/conversion.ts';
import type { RouteOptions } from '../rest/routes/shared.ts';
import type { AnyRoute, PersistedDocument } from '../rest/types.ts';
import type { ExampleQuery } from '../schema/common/examples.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Warmer } from '../warmers/types.ts';
import type { AppDeps } from './deps.ts';

/** What the core hands to a feature. */
export interface FeatureCore extends AppDeps, Pick<Services, 'composed' | 'facts'> {
  readonly catalog: Catalog;
  readonly budgets: FreshnessBudgets;
  readonly db: Database;
  readonly positions: Pick<PositionsPort, 'read'>;
  /** `undefined` without METRICS_PORT. A feature registers its own in `registers`. */
  readonly metrics: Metrics | undefined;
  /** Wake the readers of a subscription field at once. */
  readonly wake: (field: string) => void;
}

/** What a feature adds to a running service. */
export interface FeatureParts {
  /** Its services, under the key by which its resolvers reach them. */
  readonly services?: FeatureServices | undefined;
  readonly jobs?: readonly Warmer[] | undefined;
  /** Remove rows that are expired; returns their number. */
  readonly prune?: (() => Promise<number>) | undefined;
  /** Read what the health page shows of it. */
  readonly health?: ((nowMs: number) => Promise<FeatureHealth>) | undefined;
}

export interface FeatureHealth {
  /** Fields of the health page. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** What fails, each in a few words. */
  readonly problems: readonly string[];
}

/**
 * The door of a feature: everything that the core uses of it. Importing a door registers the types and fields that the feature
 * adds to the graph.
 */
export interface Feature {
  readonly name: string;
  /** Its rows of /v1. */
  readonly rows?: ((options: RouteOptions) => AnyRoute[]) | undefined;
  /** The persisted operations of its rows, by name. */
  readonly documents?: Readonly<Record<string, PersistedDocument>> | undefined;
  /** Conversions that only its operations use, by name. */
  readonly conversions?: Conversions | undefined;
  /** Its queries worth starting from. */
  readonly examples?: readonly ExampleQuery[] | undefined;
  /** Schema of the fields that it adds to the health page. */
  readonly healthFields?: Readonly<Record<string, z.ZodType>> | undefined;
  /** Create its services, jobs and metrics. Nothing connects or runs before the service starts. */
  readonly parts?: ((core: FeatureCore) => FeatureParts) | undefined;
}
