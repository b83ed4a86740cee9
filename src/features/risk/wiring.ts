import type { FeatureCore, FeatureParts } from '../../app/feature.ts';
import { createMarketSampleRepository } from '../../database/market-samples.ts';
import { systemTimers } from '../../shared/timers.ts';
import { riskServices } from './resolvers/risk-services.ts';
import { createMarketRecords } from './services/market-records.ts';

/** Wire the records of markets: the worst moves of their hourly samples. */
export function riskParts({ db, clock, logger, timeouts, metrics }: FeatureCore): FeatureParts {
  const marketRecords = createMarketRecords({
    samples: createMarketSampleRepository(db, clock),
    clock,
    timers: timeouts ?? systemTimers,
    logger,
    onLookup: metrics && ((hit) => metrics.cacheLookup('market_records', hit)),
    onRemembered: metrics?.rememberedHistory,
  });
  return { services: new Map([riskServices.with({ marketRecords })]) };
}
