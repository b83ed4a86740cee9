import { MAX_USAGE_DAYS, readUsage, type UsageView } from '../../resolvers/usage/usage.ts';
import type { UsedDay } from '../../resolvers/usage/usage-services.ts';
import { builder } from '../builder.ts';

const KeyTierRef = builder.enumType('KeyTier', {
  description: 'What a key opens.',
  values: {
    PARTNER: { value: 'partner', description: 'The partner surface.' },
    OPS: { value: 'ops', description: 'The partner and the ops surface.' },
  } as const,
});

const DayRef = builder.objectRef<UsedDay>('UsageDay').implement({
  description: 'Use of a key on one UTC day.',
  fields: (t) => ({
    startAt: t.field({ type: 'DateTime', description: 'Start of the day.', resolve: ({ dayMs }) => dayMs }),
    callCount: t.exposeInt('calls', { description: 'Number of requests with the key, refused ones included.' }),
    spentPoints: t.exposeInt('points', {
      description: 'Cost points that the requests were charged, less what was given back.',
    }),
    refusalCount: t.exposeInt('refusals', { description: 'Number of charges that the budget of the key refused.' }),
  }),
});

const UsageRef = builder.objectRef<UsageView>('KeyUsage').implement({
  description:
    'Use of the key of the request by day. It is counted in memory and stored every minute: what other processes have counted since is missing, and what a process counts while the database is away may be lost with it.',
  fields: (t) => ({
    tier: t.expose('tier', { type: KeyTierRef, description: 'Tier of the key.' }),
    fromAt: t.field({ type: 'DateTime', description: 'Start of the first day.', resolve: ({ fromMs }) => fromMs }),
    usageDays: t.field({
      type: [DayRef],
      complexity: { field: 1, multiplier: 30 },
      description: `The days on which something was counted, oldest first; at most ${MAX_USAGE_DAYS}.`,
      resolve: ({ days }) => [...days],
    }),
  }),
});

builder.queryField('usage', (t) =>
  t.field({
    type: UsageRef,
    nullable: true,
    authScopes: { partner: true },
    description: 'Use of the key of the request: calls, points and refusals by UTC day. Needs a key.',
    args: {
      days: t.arg.int({
        required: true,
        defaultValue: 30,
        description: `UTC days up to the present one, which counts: 1 to ${MAX_USAGE_DAYS}.`,
      }),
    },
    resolve: (_root, args, ctx) => readUsage(args, ctx),
  }),
);
