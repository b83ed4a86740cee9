import { z } from 'zod';
import { DISAGREEMENT_EFFECTS, DISAGREEMENT_KINDS } from '../../shared/vocabulary.ts';
import { dateTime } from './common.ts';

const missing = z
  .array(z.string())
  .optional()
  .describe('Groups of which not everything was asked since a first start; absent when there is none.');

const readyChain = z.object({
  chainId: z.int().describe('Chain id.'),
  ready: z.boolean().describe('Whether market state and oracle values are primed and not far past their budgets.'),
  waitingFor: z.array(z.string()).describe('Groups of facts that are missing or far past their budgets.'),
  missing,
});

export const readyBody = z
  .object({
    ready: z.boolean().describe('Whether every chain is ready.'),
    stopping: z.literal(true).optional().describe('Present while the process stops.'),
    chains: z.array(readyChain).describe('Chain by chain.'),
  })
  .meta({ id: 'Ready', description: 'Readiness by chain.' });

const support = z
  .enum(['works', 'missing', 'broken', 'unknown'])
  .describe('works, not there, there and failing or wrong, or not answered.');

const nodeHealth = z.looseObject({
  node: z.int().describe('Its place among the nodes of the chain, from 1.'),
  status: z
    .enum(['ok', 'behind', 'failing', 'other_chain', 'unknown'])
    .describe('ok, behind the others, without an answer at the latest reading, of another chain, or not asked yet.'),
  block: z.int().optional().describe('The newest block that it told; absent before its first answer.'),
  blocksBehind: z.int().optional().describe('How many blocks that is behind the highest of them.'),
  latencyMs: z.int().optional().describe('How long its newest block took, milliseconds.'),
  lastFailure: z
    .looseObject({ reason: z.string().describe('Why, in one word.'), at: dateTime('When.') })
    .optional()
    .describe('Its latest failure; absent without one.'),
  capabilities: z
    .looseObject({
      chainId: z.int().nullable().describe('The chain that it says it is of; null = not known.'),
      simulateV1: support.describe('`eth_simulateV1`, compared with `eth_call` on code of today.'),
      stateOverrides: support.describe('Code overrides in `eth_call`.'),
      batchSize: z.int().nullable().describe('Requests in a batch; 1 = no batches, null = not known.'),
      callGas: z.int().nullable().describe('Gas of an `eth_call` that asks for none; null = not known.'),
      blockHash: support.describe('Blocks named by their hash.'),
      blockTags: z
        .object({
          safe: support.describe('The tag `safe`.'),
          finalized: support.describe('The tag `finalized`.'),
        })
        .describe('Blocks named by tag.'),
      logRange: z.int().nullable().describe('Blocks in one `eth_getLogs`; 0 = none, null = not known.'),
    })
    .optional()
    .describe('What it can do, as probes found; absent before the first.'),
});

const disagreement = z.looseObject({
  kind: z
    .enum(DISAGREEMENT_KINDS)
    .describe(
      'decimals, symbol: of a token. not_created, parameters, oracle, correlated: of a market. no_code, contract: of a contract of the catalog, or the one that it works with.',
    ),
  effect: z
    .enum(DISAGREEMENT_EFFECTS)
    .describe(
      'no_builds: what stands on it is not listed, and nothing is built for it. no_new_risk: not listed, and nothing that adds risk is built. warning: only told.',
    ),
  key: z.string().describe('Market id, or the address of a token or contract.'),
  name: z.string().describe('Its symbols, or the name of the contract.'),
  catalog: z.string().describe('What the catalog says.'),
  chain: z.string().describe('What the chain says.'),
  source: z.string().describe('Who told it.'),
  asOf: dateTime('When the chain said so: the time of the block.'),
});

export const healthBody = z
  .looseObject({
    status: z.literal('ok').describe('The process answers.'),
    now: dateTime('Time of the process.'),
    snapshot: z
      .object({
        kind: z.enum(['memory', 'file', 'redis']).describe('What keeps the facts beside this process.'),
        ok: z.boolean().describe('Whether the latest version is there, and an answer came in the last seconds.'),
        clockSkewSec: z
          .number()
          .optional()
          .describe(
            'How far the clock of this process is ahead of the one that all share, seconds; beyond 120 either way what it measures is refused.',
          ),
      })
      .describe('Where the facts are kept.'),
    chains: z
      .array(
        z.looseObject({
          chainId: z.int().describe('Chain id.'),
          version: z.int().describe('Version of the facts; grows with every refresh.'),
          ready: z.boolean().describe('Whether the chain is ready.'),
          missing,
          markets: z.int().describe('Markets composed.'),
          strategies: z.int().describe('Strategies composed.'),
          listed: z.int().describe('Strategies listed.'),
          groups: z
            .array(
              z.looseObject({
                group: z.string().describe('Group of facts.'),
                source: z.string().optional().describe('Source of the group, where there are several.'),
                status: z
                  .enum(['fresh', 'stale', 'failing', 'never'])
                  .describe('fresh, past its budget, refreshed with failures, or never measured.'),
                ageSec: z.number().nullable().describe('Age of its oldest item, seconds.'),
                budgetSec: z.int().describe('Freshness budget, seconds.'),
                lastSuccess: dateTime('Last successful refresh; null before the first.').nullable(),
                items: z.int().describe('Items known.'),
                itemsAtLastGood: z.int().describe('Items served at their last good value.'),
                neverMeasured: z
                  .record(z.string(), z.int())
                  .describe('Items that were asked for and never measured: how many by reason.'),
              }),
            )
            .describe('Freshness by group of facts.'),
          nodes: z
            .array(nodeHealth)
            .describe('The nodes of the chain, in the order of their setting. Their addresses are not told.'),
          disagreements: z
            .array(disagreement)
            .describe('What the catalog says and the chain says otherwise; empty when they agree.'),
          excluded: z
            .array(
              z.looseObject({
                marketId: z.string().describe('Market id, or the id of an equity vault.'),
                symbol: z.string().describe('Its collateral and loan; of a vault its stock.'),
                waitingFor: z
                  .array(
                    z.object({
                      group: z.string().describe('Group of facts that it lacks.'),
                      reason: z.string().describe('Why, in one word.'),
                    }),
                  )
                  .describe('What it lacks.'),
              }),
            )
            .describe('Markets that are left out because something of them was never measured.'),
        }),
      )
      .describe('Chain by chain.'),
  })
  .meta({ id: 'Health', description: 'Liveness, with diagnostics of the caches.' });
