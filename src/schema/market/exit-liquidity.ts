import { EXIT_SIZES_USD, type ExitSizeUsd, type ExitSweep, type Fact } from '../../domain/facts.ts';
import type { Decimal } from '../../shared/decimal.ts';
import { builder } from '../builder.ts';
import { FreshnessRef } from '../common/stamp.ts';

interface ExitSlippage {
  readonly sizeUsd: ExitSizeUsd;
  readonly slippagePct: Decimal | null;
}

const ExitSlippageRef = builder.objectRef<ExitSlippage>('ExitSlippage').implement({
  description: 'Loss of a sale of collateral of one size for the stablecoin of the chain.',
  fields: (t) => ({
    sizeUsd: t.expose('sizeUsd', {
      type: 'Decimal',
      description: 'Size of the sale in whole USD, e.g. `"100000"`.',
      extensions: { jsonSchema: { enum: EXIT_SIZES_USD } },
    }),
    slippagePct: t.expose('slippagePct', {
      type: 'Decimal',
      nullable: true,
      description: 'Percent lost at full precision; `null` = measured: there is no route at this size.',
    }),
  }),
});

const slippagesOf = ({ value }: Fact<ExitSweep>): ExitSlippage[] =>
  EXIT_SIZES_USD.map((sizeUsd) => ({ sizeUsd, slippagePct: value.slippagePct[sizeUsd] }));

export const ExitLiquidityRef = builder.objectRef<Fact<ExitSweep>>('ExitLiquidity').implement({
  description: 'Measured cost of selling the collateral for the stablecoin of the chain.',
  fields: (t) => ({
    source: t.exposeString('source', { description: 'Public name of the source of the quotes.' }),
    freshness: t.field({
      type: FreshnessRef,
      description: 'Age of the quotes.',
      resolve: ({ asOfMs }, _args, ctx) => ({ asOfMs, staleAfterSec: ctx.services.budgets.exitLiquidity }),
    }),
    slippages: t.field({
      type: [ExitSlippageRef],
      complexity: { field: 1, multiplier: 4 },
      description: `Loss by size of the sale, smallest first; at most ${EXIT_SIZES_USD.length} sizes.`,
      resolve: slippagesOf,
    }),
  }),
});

export const ExitTierRef = builder.enumType('ExitTier', {
  description: 'Verdict on the size of a position that can leave cleanly.',
  values: {
    DEEP: { value: 'deep', description: 'A sale of 5,000,000 USD loses less than the clean limit.' },
    GOOD: { value: 'good', description: 'A sale of 1,000,000 USD loses less than the clean limit.' },
    LIMITED: { value: 'limited', description: 'A sale of 500,000 USD loses less than the clean limit.' },
    THIN: { value: 'thin', description: 'At most a sale of 100,000 USD does, or there is no route.' },
  } as const,
});
