import { builder } from './builder.ts';

builder.mutationType({
  description:
    'Plans and alerts. Plans are unsigned transactions for one wallet. Making one changes nothing on the server or on a chain; plans are mutations because each one is made for its moment and expires within a minute, and no client, proxy or cache answers a mutation from its cache. Mutations of alerts change the alerts of the key.',
});
