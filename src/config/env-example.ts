import { z } from 'zod';
import { envSchema } from './env.ts';

/** The groups of `.env.example`, in its order. A setting is in the first group that names it. */
const GROUPS: readonly (readonly [heading: string, names: RegExp])[] = [
  [
    'The ten settings that matter first',
    /^(NODE_ENV|ROLE|PORT|RPC_URL_\d+|DATABASE_URL|REDIS_URL|KEY_PEPPER|TRUSTED_PROXIES|METRICS_PORT)$/,
  ],
  ['Start, stop, log and telemetry', /^(HOST|LOG_|START_|STOP_|OTEL_|TRACE_|READY_)/],
  ['Postgres, Redis and the snapshot file', /^(DATABASE_|MIGRATE_|REDIS_|SNAPSHOT_)/],
  ['Nodes, catalog and product', /^(RPC_|HISTORY_|CATALOG_|LISTING_|APP_URL|FEE_)/],
  [
    'Callers: pages, origins, limits and alerts',
    /^(GRAPHIQL|INTROSPECTION|PERSISTED_|CORS_|MCP_|RATE_|KEY_|READ_|MAX_|ALERT|ANSWER_)/,
  ],
  ['The local world', /^DEVNET_/],
  ['Appendix: providers', /^(UPSTREAM_|(?!REFRESH_|BUDGET_)\w+_(URL|API_KEY)$|OPENOCEAN_)/],
  ['Appendix: cadences and budgets of facts, seconds', /./],
];

/** Render `.env.example` from the schema: a comment and the default of every variable, by group. */
export function renderEnvExample(): string {
  const left = new Map(Object.entries(envSchema.shape));
  const groups = GROUPS.map(([heading, names]) => {
    const own = [...left].filter(([name]) => names.test(name));
    for (const [name] of own) left.delete(name);
    return `## ${heading}\n\n${own.map(([name, schema]) => render(name, schema)).join('\n')}`;
  });
  return `# Generated from src/config/env.ts by "npm run env-example". Every variable is optional unless stated otherwise.
# A secret may be in a file: its name with _FILE, such as KEY_PEPPER_FILE, has the path. So may every URL and key of a provider.

${groups.join('\n')}`;
}

function render(name: string, schema: z.ZodType): string {
  const initial = schema instanceof z.ZodDefault ? String(schema.def.defaultValue) : '';
  return `# ${schema.description ?? ''}\n${initial === '' ? '# ' : ''}${name}=${initial}\n`;
}
