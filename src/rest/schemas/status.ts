import { z } from 'zod';
import { features } from '#features';
import { DISAGREEMENT_EFFECTS, DISAGREEMENT_KINDS } from '../../domain/deployment/disagreements.ts';
import { REDIS_FAULTS, REDIS_MODES } from '../../shared/contract/redis-status.ts';
import { dateTime } from './common.ts';
import { indexerFields } from './history/indexers.ts';
import { chainIdNumber, jsonNumber, largeNumber, wholeNumber } from './numbers.ts';

const missing = z
  .array(z.string())
  .optional()
  .describe('Groups that were not read completely since a first start; absent = none.');

const readyChain = z.object({
  chainId: chainIdNumber(),
  ready: z.boolean().describe('Whether market state and oracle values are loaded and not far past their budgets.'),
  waitingFor: z.array(z.string()).describe('Groups of facts that are missing or far past their budgets.'),
  missing,
  positionHistory: indexerFields.status
    .optional()
    .describe(
      'State of the reading of position logs, for information: it does not change ready. Absent = not known yet.',
    ),
});

export const readyBody = z
  .object({
    ready: z.boolean().describe('Whether every chain is ready.'),
    stopping: z.literal(true).optional().describe('Present while the process is stopping.'),
    chains: z.array(readyChain).describe('By chain.'),
  })
  .meta({ id: 'Ready', description: 'Readiness by chain.' });

const support = z
  .enum(['works', 'missing', 'broken', 'unknown'])
  .describe('works, missing, broken (failing or wrong), or unknown (no answer).');

const nodeHealth = z.looseObject({
  node: wholeNumber('Number of the node among the nodes of the chain.', { min: 1 }),
  status: z
    .enum(['ok', 'behind', 'failing', 'other_chain', 'unknown'])
    .describe(
      'ok, behind the others, without an answer at the latest reading, of another chain, or without a request yet.',
    ),
  block: largeNumber('Number of its newest block; absent before its first answer.').optional(),
  blocksBehind: wholeNumber('Number of blocks behind the highest of the nodes.').optional(),
  latencyMs: wholeNumber('Latency of the request for its newest block, milliseconds.').optional(),
  lastFailure: z
    .looseObject({ reason: z.string().describe('The reason, in one word.'), at: dateTime('When.') })
    .optional()
    .describe('Its latest failure; absent = none.'),
  failingSince: dateTime('Its first failure since its latest answer; absent while it answers.').optional(),
  restingUntil: dateTime(
    'Until when no request is sent to it, after failures in a row; absent = requests are sent.',
  ).optional(),
  capabilities: z
    .looseObject({
      chainId: largeNumber('Its chain id; null = unknown.').nullable(),
      simulateV1: support.describe('`eth_simulateV1`, compared with `eth_call` on current code.'),
      stateOverrides: support.describe('Code overrides in `eth_call`.'),
      batchSize: wholeNumber('Number of requests in a batch; 1 = no batches, null = unknown.', { min: 1 }).nullable(),
      callGas: largeNumber('Default gas of an `eth_call`, gas units; null = unknown.').nullable(),
      blockHash: support.describe('Blocks named by their hash.'),
      blockTags: z
        .object({
          safe: support.describe('The tag `safe`.'),
          finalized: support.describe('The tag `finalized`.'),
        })
        .describe('Blocks named by tag.'),
      logRange: largeNumber('Number of blocks in one `eth_getLogs`; 0 = none, null = unknown.').nullable(),
    })
    .optional()
    .describe('Capabilities found by probes; absent before the first.'),
});

const disagreement = z.looseObject({
  kind: z
    .enum(DISAGREEMENT_KINDS)
    .describe(
      'decimals, symbol: of a token. not_created, parameters, oracle, correlated: of a market. no_code, contract: of a contract of the catalog, or of its linked contract.',
    ),
  effect: z
    .enum(DISAGREEMENT_EFFECTS)
    .describe(
      'no_builds: affected strategies are not listed and not built. no_new_risk: not listed, and actions that add risk are not built. warning: reported only.',
    ),
  key: z.string().describe('Market id, or the address of a token or contract.'),
  name: z.string().describe('Its symbols, or the name of the contract.'),
  catalog: z.string().describe('Value in the catalog.'),
  chain: z.string().describe('Value on the chain.'),
  source: z.string().describe('Source of the value.'),
  asOf: dateTime('Time of the block of the reading.'),
});

const FAILURE_MEANING =
  'Meaning of the reason: not_now (it is tried again), our_mistake (key, path, parameters or settings are to be corrected), unreadable, or no_such_thing.';

const providerHealth = z.looseObject({
  provider: z.string().describe('Public name of the provider.'),
  part: z.string().optional().describe('Purpose of its requests, if there are several kinds of them.'),
  status: z
    .enum(['ok', 'failing', 'throttled', 'unknown'])
    .describe('ok, failing, held back by our own budget of requests, or not called yet.'),
  lastAnswer: dateTime('Its latest usable answer; null = none yet.').nullable(),
  failingSince: dateTime('Its first failure since that answer; absent while it answers.').optional(),
  reason: z.string().optional().describe('The reason of its latest failure, in one word; absent while it answers.'),
  meaning: z.string().optional().describe(FAILURE_MEANING),
  failures: z
    .array(
      z.looseObject({
        subject: z
          .string()
          .describe('Path of the requests that fail, with the part of the provider that they concern.'),
        reason: z.string().describe('The reason, in one word.'),
        meaning: z.string().describe(FAILURE_MEANING),
        httpStatus: z.string().optional().describe('HTTP status of the latest answer; absent without one.'),
        code: z.string().optional().describe("The provider's own code in it; absent without one."),
        since: dateTime('The first failure since such a request was answered.'),
      }),
    )
    .optional()
    .describe('The kinds of requests that fail, the latest first; absent while all are answered.'),
  throttledUntil: dateTime('Until when our own budget holds requests back; absent = it does not.').optional(),
});

const quotaHealth = z.looseObject({
  provider: z.string().describe('Public name of the provider.'),
  unit: z.string().describe('Unit in which the provider counts: requests, or computing units.'),
  spentInDay: jsonNumber('Use of the last day in the unit of the provider, of all processes that share Redis.', {
    min: 0,
  }),
  heldUntil: dateTime('Until when nothing is sent because the provider has said so; absent = it has not.').optional(),
  windows: z
    .array(
      z.looseObject({
        window: z.string().describe('10s, minute, week or month (30 days).'),
        limit: jsonNumber('What it permits in the window, in the unit of the provider.', { min: 1 }),
        isStated: z.boolean().describe('Whether the limit is the one that its headers state.'),
        forecast: jsonNumber(
          'Use of a whole window at the rate of the last day, in the unit of the provider; a week and a month only.',
          {
            min: 0,
          },
        ).optional(),
      }),
    )
    .describe('The windows in which it counts.'),
});

export const healthBody = z
  .looseObject({
    status: z
      .enum(['ok', 'degraded'])
      .describe(
        'ok, or degraded: the parts in `degraded` fail, and values that depend on them are served as last measured.',
      ),
    degraded: z.array(z.string()).optional().describe('The failing parts, one sentence each; absent = none.'),
    now: dateTime('Time of the process.'),
    snapshot: z
      .object({
        kind: z.enum(['memory', 'file', 'redis']).describe('Store of the facts beside this process.'),
        ok: z.boolean().describe('Whether it has the latest version and answered within the last seconds.'),
        clockSkewSec: jsonNumber(
          'How far the clock of this process is ahead of the shared clock, seconds; beyond ±120 its measurements are refused.',
          {},
        ).optional(),
        unreadable: z
          .array(
            z.object({
              chainId: chainIdNumber('The chain.'),
              group: z.string().describe('Group of facts.'),
              reason: z
                .enum(['damaged', 'other_version', 'other_type'])
                .describe(
                  'damaged: it is replaced as soon as a process has read its facts. other_version: it was written by another version of the service, and is kept. other_type: the key holds something else, and is replaced.',
                ),
            }),
          )
          .optional()
          .describe('Groups of facts in Redis that cannot be read; absent = none.'),
      })
      .describe('Stores of the facts.'),
    database: z
      .looseObject({
        ok: z.boolean().describe('Whether Postgres answered the latest statement.'),
        problem: z
          .string()
          .optional()
          .describe(
            'Name of the problem, such as unreachable, silent, bad_password, certificate_expired or read_only.',
          ),
        since: dateTime('Time of the first failure.').optional(),
        replica: z
          .looseObject({
            ok: z.boolean().describe('Whether histories are read from the replica; otherwise from the primary.'),
            problem: z.string().optional().describe('The problem, as above, late or other_schema.'),
            since: dateTime('Time of the first failure.').optional(),
          })
          .optional()
          .describe('The read replica; absent without one.'),
      })
      .optional()
      .describe('The database.'),
    redis: z
      .looseObject({
        mode: z.enum(REDIS_MODES).describe('One server, the primary of sentinels, or a cluster.'),
        ok: z.boolean().describe('Whether no connection fails.'),
        failing: z
          .array(
            z.looseObject({
              connection: z
                .string()
                .describe(
                  'Purpose of the connection: snapshot, snapshot-notices, lease, rate-limits, refresh-requests.',
                ),
              reason: z.enum(REDIS_FAULTS).describe('Why Redis does not serve it.'),
              since: dateTime('Start of the failure.'),
            }),
          )
          .describe('Connections of this process that fail; empty = none.'),
      })
      .optional()
      .describe('Connections to Redis; absent without it.'),
    ...Object.assign({}, ...features.map(({ healthFields }) => healthFields)),
    quotas: z
      .array(quotaHealth)
      .describe('What each provider permits in its own unit, what is used of it, and where that leads.'),
    providers: z
      .array(providerHealth)
      .describe(
        'The providers of facts and quotes. Those that only the warmers call are described by the shared facts.',
      ),
    chains: z
      .array(
        z.looseObject({
          chainId: chainIdNumber(),
          version: largeNumber('Number of the version of the facts; increases with every refresh.'),
          ready: z.boolean().describe('Whether the chain is ready.'),
          missing,
          markets: wholeNumber('Number of composed markets.'),
          strategies: wholeNumber('Number of composed strategies.'),
          listed: wholeNumber('Number of listed strategies.'),
          unlisted: z
            .array(
              z.looseObject({
                strategyId: z.string().describe('The strategy.'),
                symbol: z.string().describe('Its collateral.'),
                rules: z
                  .array(
                    z.object({
                      rule: z.string().describe('Name of the listing rule.'),
                      value: z.string().nullable().describe('The value that does not pass; null = the rule has none.'),
                    }),
                  )
                  .describe('The listing rules that it fails.'),
              }),
            )
            .describe('Composed strategies that the list leaves out.'),
          unconfirmed: z
            .array(
              z.looseObject({
                group: z.string().describe('Group of facts.'),
                key: z.string().describe('Market id, or address of a token or pool.'),
                source: z.string().describe('Public name of the source.'),
                value: z
                  .string()
                  .describe(
                    'The reported value: USD of a price, percent of a rate or of the loss of a sale (100 = no route).',
                  ),
                observations: wholeNumber('Number of observations of it so far, of three.'),
              }),
            )
            .describe('Values that are not published before further observations confirm them; empty = none.'),
          groups: z
            .array(
              z.looseObject({
                group: z.string().describe('Group of facts.'),
                source: z.string().optional().describe('Source of the group, if there are several.'),
                status: z
                  .enum(['fresh', 'stale', 'failing', 'never'])
                  .describe('fresh, past its budget, refreshed with failures, or never measured.'),
                ageSec: jsonNumber('Age of its oldest item, seconds.').nullable(),
                budgetSec: wholeNumber('Freshness budget, seconds.'),
                lastSuccess: dateTime('Last successful refresh; null before the first.').nullable(),
                items: wholeNumber('Number of known items.'),
                itemsAtLastGood: wholeNumber('Number of items served at their last good value.'),
                neverMeasured: z
                  .record(z.string(), wholeNumber('Number of items.'))
                  .describe('Items that were never measured: count by reason.'),
              }),
            )
            .describe('Freshness by group of facts.'),
          nodes: z
            .array(nodeHealth)
            .describe('The nodes of the chain, in the order of their setting. Their addresses are not returned.'),
          positionHistory: z
            .looseObject(indexerFields)
            .optional()
            .describe('The reading of position logs; absent = not read from the database yet.'),
          disagreements: z.array(disagreement).describe('Disagreements between catalog and chain; empty = none.'),
          excluded: z
            .array(
              z.looseObject({
                marketId: z.string().describe('Market id, or the id of an equity vault.'),
                symbol: z.string().describe('Its collateral and loan; for a vault its stock.'),
                waitingFor: z
                  .array(
                    z.object({
                      group: z.string().describe('Missing group of facts.'),
                      reason: z.string().describe('The reason, in one word.'),
                    }),
                  )
                  .describe('Missing facts.'),
              }),
            )
            .describe('Markets that are left out because a fact was never measured.'),
        }),
      )
      .describe('By chain.'),
  })
  .meta({ id: 'Health', description: 'Liveness, with diagnostics of the caches.' });
