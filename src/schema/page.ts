import { builder } from './builder.ts';

builder.globalConnectionFields((t) => ({
  totalCount: t.int({ description: 'Entries that match, on all pages.', resolve: ({ totalCount }) => totalCount }),
  asOf: t.field({
    type: 'DateTime',
    nullable: true,
    description: 'When the oldest of the asked chains was last refreshed; `null` when none was asked.',
    resolve: ({ asOfMs }) => asOfMs,
  }),
}));
