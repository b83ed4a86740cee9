import { builder } from '../builder.ts';
import { EquityDepositInputRef, EquityExitInputRef } from '../equity/equity-inputs.ts';
import { ManageLeverageInputRef, OpenLeverageInputRef } from './leverage-inputs.ts';

export const PreviewInputRef = builder.inputType('PreviewInput', {
  description: 'The action to preview: the input of its build.',
  isOneOf: true,
  fields: (t) => ({
    openLeverage: t.field({ type: OpenLeverageInputRef, description: 'The input of `openLeveragePlan`.' }),
    manageLeverage: t.field({ type: ManageLeverageInputRef, description: 'The input of `manageLeveragePlan`.' }),
    equityDeposit: t.field({ type: EquityDepositInputRef, description: 'The input of `equityDepositPlan`.' }),
    equityExit: t.field({ type: EquityExitInputRef, description: 'The input of `equityExitPlan`.' }),
  }),
});

export type PreviewArgs = typeof PreviewInputRef.$inferInput;
