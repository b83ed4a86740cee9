import type { Warning } from '../../domain/plausibility/types.ts';
import { WARNING_MEANINGS } from '../../shared/vocabulary.ts';
import { builder } from '../builder.ts';

export const WarningRef = builder.objectRef<Warning>('StrategyWarning').implement({
  description: 'Something about a value that whoever relies on it should know.',
  fields: (t) => ({
    code: t.exposeString('code', {
      description: WARNING_MEANINGS,
    }),
    field: t.exposeString('field', { description: 'Path of the field in the strategy.' }),
    value: t.expose('value', { type: 'Decimal', description: 'What was told: USD of prices, percent of rates.' }),
    message: t.exposeString('message', { description: 'One plain sentence for people.' }),
  }),
});
