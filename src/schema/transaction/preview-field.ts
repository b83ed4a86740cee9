import { z } from 'zod';
import type { EstimateAction } from '../../resolvers/transaction/estimate.ts';
import { previewOf } from '../../resolvers/transaction/preview.ts';
import type { PreviewView } from '../../resolvers/transaction/previewed.ts';
import { builder } from '../builder.ts';
import { CHAIN_OF_ID } from '../common/page.ts';
import { EquityDepositPreviewRef, EquityExitPreviewRef } from '../equity/equity.ts';
import { EXIT_REFUSALS } from '../refusal/refusal.ts';
import { LeveragePreviewRef, ManageLeveragePreviewRef } from './leverage.ts';
import { PreviewInputRef } from './preview-input.ts';

/** Three quotes and chain reads: dearer than anything that is read from the snapshot. */
const COMPLEXITY = 50;
/** Prices move: an older quote says little about a build. */
const MAX_QUOTE_AGE_SEC = 10;

/** The types of previews that are not of an action on a position. */
const TYPES: Partial<
  Record<EstimateAction, typeof LeveragePreviewRef | typeof EquityDepositPreviewRef | typeof EquityExitPreviewRef>
> = {
  open_leverage: LeveragePreviewRef,
  equity_deposit: EquityDepositPreviewRef,
  equity_exit: EquityExitPreviewRef,
};

builder.queryFields((t) => ({
  preview: t.errorUnionField({
    types: [
      LeveragePreviewRef,
      ManageLeveragePreviewRef,
      EquityDepositPreviewRef,
      EquityExitPreviewRef,
      ...EXIT_REFUSALS,
    ],
    nullable: true,
    authScopes: { partner: true },
    complexity: COMPLEXITY,
    union: {
      name: 'PreviewResult',
      description: 'The preview, or the refusal in its place.',
      resolveType: (preview) => TYPES[(preview as PreviewView).action] ?? ManageLeveragePreviewRef,
    },
    description:
      'Preview an action with the input of its build. Nothing is signed, sent or returned to be signed. Needs a key.',
    args: {
      chainId: t.arg({ type: 'ChainId', description: CHAIN_OF_ID }),
      wallet: t.arg({
        type: 'Address',
        description:
          'Owner of the position or the vault; not needed with the global id of a position. A deposit then shows the whole stock leg of the wallet; an opening takes no wallet.',
      }),
      input: t.arg({ type: PreviewInputRef, required: true, description: 'The action.' }),
      maxQuoteAgeSec: t.arg.int({
        defaultValue: 5,
        validate: z.int().min(0).max(MAX_QUOTE_AGE_SEC),
        description: `Seconds for which the quotes of the same swap may be used again, at most ${MAX_QUOTE_AGE_SEC}; 0 = every swap is quoted anew.`,
      }),
    },
    resolve: (_root, { maxQuoteAgeSec, ...args }, ctx) =>
      previewOf({ ...args, maxQuoteAgeSec: maxQuoteAgeSec ?? 0 }, ctx) as never,
  }),
}));
