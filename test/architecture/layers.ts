/**
 * Which folder of `src/` may import which others: the architecture as data. `types:` marks folders of which only types
 * may be imported. Every folder may import itself.
 */
export const LAYERS: Readonly<Record<string, readonly string[]>> = {
  'main.ts': ['app', 'config', 'shared', 'http', 'telemetry'],
  app: ['*'],
  config: ['shared', 'types:domain'],
  shared: [],
  catalog: ['shared'],
  abi: ['shared'],
  domain: ['shared', 'catalog'],
  upstreams: ['domain', 'catalog', 'shared', 'abi'],
  chain: ['abi', 'domain', 'catalog', 'shared'],
  webhooks: ['shared'],
  redis: ['shared', 'types:config'],
  snapshot: ['redis', 'domain', 'catalog', 'shared'],
  indexer: ['chain', 'database', 'domain', 'catalog', 'shared'],
  warmers: ['upstreams', 'chain', 'snapshot', 'domain', 'catalog', 'shared', 'abi'],
  database: ['shared', 'domain'],
  keys: ['database', 'shared'],
  loaders: ['snapshot', 'chain', 'database', 'domain', 'catalog', 'shared', 'types:resolvers'],
  services: [
    'limits',
    'snapshot',
    'chain',
    'database',
    'webhooks',
    'upstreams',
    'domain',
    'catalog',
    'shared',
    'types:loaders',
    'types:resolvers',
    'types:warmers',
  ],
  transactions: ['abi', 'chain', 'upstreams', 'domain', 'catalog', 'shared'],
  resolvers: ['loaders', 'transactions', 'domain', 'catalog', 'shared', 'types:schema'],
  schema: ['resolvers', 'domain', 'catalog', 'shared', 'transactions'],
  limits: ['shared', 'types:resolvers'],
  http: ['limits', 'rest', 'schema', 'shared', 'types:config'],
  graphql: ['http', 'limits', 'rest', 'resolvers', 'shared'],
  telemetry: ['http', 'limits', 'schema', 'domain', 'shared', 'types:catalog'],
  rest: ['shared', 'domain', 'catalog'],
  mcp: ['rest', 'shared'],
};

/**
 * Folder of the features. Within one the folders have the rows of this table too, and may import what the feature itself decides:
 * its `domain` and its schema of tables and inputs. Its door and its wiring, the files directly in it, may import every folder.
 */
export const FEATURES = 'features';
/** The only files that import `#features`: where the parts of all features are put together. */
export const FEATURE_IMPORTERS = [
  'src/app/core.ts',
  'src/rest/routes/index.ts',
  'src/rest/schemas/status.ts',
  'src/schema/examples.ts',
  'src/schema/index.ts',
];

/** The only files that may touch the process: its environment and its exit. */
export const PROCESS_DOORS = { env: ['src/config', 'src/main.ts'], exit: ['src/main.ts'] } as const;
