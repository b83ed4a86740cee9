import type { FormattedFees } from '../../domain/market/fees.ts';
import { builder } from '../builder.ts';
import { FreshnessRef } from '../common/stamp.ts';

export const FeesRef = builder.objectRef<FormattedFees>('ContractFees').implement({
  description:
    'Fees that the contract that holds positions takes, at its rates of today. An unreadable rate is the documented one, and `gaps` of the object around it says so.',
  fields: (t) => ({
    yieldFeePct: t.expose('yieldFeePct', {
      type: 'Decimal',
      description:
        'Percent of the yield, taken at closing and withdrawing on correlated markets; 0 on an uncorrelated one.',
    }),
    depositFeePct: t.expose('depositFeePct', {
      type: 'Decimal',
      description:
        'Percent of the payment (at opening, adding collateral and repaying) on uncorrelated markets; 0 on a correlated one.',
    }),
    treasury: t.expose('treasury', {
      type: 'Address',
      nullable: true,
      description: 'Receives the fees; `null` = not known, see `gaps`.',
    }),
    freshness: t.expose('freshness', {
      type: FreshnessRef,
      nullable: true,
      description: 'Age of the answer of the contract; `null` = it has not answered yet, see `gaps`.',
    }),
  }),
});
