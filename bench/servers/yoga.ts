import { createYoga } from 'graphql-yoga';
import { contextFrom, schema } from '../peer-services.ts';
import { listen, serve } from '../serve.ts';

/** GraphQL Yoga as it comes, with our schema and the same facts. */
serve<{ readonly snapshotFile: string; readonly overlayFile: string }>(async (input) => {
  const context = await contextFrom(input);
  const yoga = createYoga({ schema, context, logging: false });
  return listen((req, res) => void yoga(req, res));
});
