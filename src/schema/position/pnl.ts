import type { Pnl } from '../../domain/portfolio/types.ts';
import { builder } from '../builder.ts';
import { gapsOf } from '../common/gaps.ts';

export const PnlRef = builder.objectRef<Pnl>('Pnl').implement({
  description:
    'Profit and loss in exact USD, without rounding. Amounts of plain positions come from the chain, in loan tokens, at the current price of the loan token; amounts of vaults come from the register.',
  fields: (t) => ({
    depositedUsd: t.expose('depositedUsd', {
      type: 'Decimal',
      nullable: true,
      description: 'Sum of all deposits. USD. Signed.',
    }),
    returnedUsd: t.expose('returnedUsd', {
      type: 'Decimal',
      nullable: true,
      description: 'Sum of all withdrawals. USD. Signed.',
    }),
    netValueUsd: t.expose('netValueUsd', {
      type: 'Decimal',
      nullable: true,
      description:
        'Current collateral less debt; 0 after the end, and while the debt is more than the collateral is worth. USD. Signed.',
    }),
    badDebtUsd: t.expose('badDebtUsd', {
      type: 'Decimal',
      nullable: true,
      description: 'Debt beyond the value of the collateral, which the owner does not have to pay. USD.',
    }),
    divergentUsd: t.expose('divergentUsd', {
      type: 'Decimal',
      nullable: true,
      description:
        'Part of the net value that depends on an oracle far from its reference: see `warnings` of the position. USD. Signed.',
    }),
    baseResultUsd: t.expose('baseResultUsd', {
      type: 'Decimal',
      nullable: true,
      description:
        'Net value + returned - deposited; not known after a part was sold, because the share of the deposit in it is not kept on chain. USD. Signed.',
    }),
    incentivesUsd: t.expose('incentivesUsd', {
      type: 'Decimal',
      nullable: true,
      description: 'Incentives of the market accrued over the registered life; not part of the net value. USD. Signed.',
    }),
    totalUsd: t.expose('totalUsd', {
      type: 'Decimal',
      nullable: true,
      description: 'Base result + incentives, before the fee of closing the position. USD. Signed.',
    }),
    yieldFeeUsd: t.expose('yieldFeeUsd', {
      type: 'Decimal',
      nullable: true,
      description:
        'Yield fee of closing everything open today; by the documented rate where that of the contract cannot be read, see `gaps` of the position. USD.',
    }),
    baseResultAfterFeeUsd: t.expose('baseResultAfterFeeUsd', {
      type: 'Decimal',
      nullable: true,
      description: 'Base result - yield fee. USD. Signed.',
    }),
    totalAfterFeeUsd: t.expose('totalAfterFeeUsd', {
      type: 'Decimal',
      nullable: true,
      description: 'Total - yield fee. USD. Signed.',
    }),
    returnOnEquityPct: t.expose('returnOnEquityPct', {
      type: 'Decimal',
      nullable: true,
      description: 'Total over deposited. Percent. Signed.',
    }),
    gaps: t.field(gapsOf(({ gaps }: Pnl) => gaps, 'Fields that are `null`')),
  }),
});
