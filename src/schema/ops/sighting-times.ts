/** The times of the first and of the last reading with a disagreement, as fields of a record of it. */
export const seenTimes = {
  first: {
    type: 'DateTime',
    description: 'Time of the first reading with the disagreement.',
    resolve: ({ firstSeenMs }: { readonly firstSeenMs: number }) => firstSeenMs,
  },
  last: {
    type: 'DateTime',
    description: 'Time of the last reading with the disagreement.',
    resolve: ({ lastSeenMs }: { readonly lastSeenMs: number }) => lastSeenMs,
  },
} as const;
