import { isHex } from 'viem';
import { type NodeCapabilities, probeNode, type SendRpc } from '../../src/chain/rpc/capabilities.ts';
import { createProbeSender } from '../../src/chain/rpc/client.ts';
import type { ChainId } from '../../src/shared/ids.ts';
import { clockSampleOf } from '../core/clock-samples.ts';
import type { DoctorDeps } from '../core/deps.ts';
import { describeQuota, quotaOf } from '../core/quota.ts';
import { createRecordedFetch, type RecordedFetch } from '../core/recorded-fetch.ts';
import { type Check, type Line, type LineMaker, linesOf } from '../core/types.ts';
import { describeCapabilities } from './node-capabilities.ts';

const AREA = 'nodes';
const LIMIT_MS = 35_000;
/** A node that takes longer for one small request is too slow to read from. */
const MAX_REQUEST_MS = 5_000;
/** A node that is further behind the best of its chain, in blocks and in seconds, is skipped for readings. */
const [BLOCKS_BEHIND, SEC_BEHIND] = [3n, 2];
/** With an older newest block, the chain has stopped, or the node does not follow it. */
const OLD_BLOCK_SEC = 120;

/** Check the nodes of one chain side by side, and against each other. */
export function checkNodes(deps: DoctorDeps, chainId: ChainId, urls: readonly string[]): Check {
  const setting = `RPC_URL_${chainId}`;
  return {
    area: AREA,
    subject: setting,
    limitMs: LIMIT_MS,
    run: async () => {
      const nodes = await Promise.all(urls.map((url, i) => inspect(deps, chainId, `${setting} #${i + 1}`, url)));
      return nodes.flatMap((node) => describe(node, nodes, chainId, deps));
    },
  };
}

interface Head {
  readonly number: bigint;
  readonly hash: string;
  readonly atSec: number;
}

interface NodeReport {
  readonly subject: string;
  readonly recorded: RecordedFetch;
  /** Absent when the node gave no usable answer. */
  readonly head?: Head | undefined;
  readonly latencyMs: number;
  readonly isSyncing?: boolean | undefined;
  readonly can?: NodeCapabilities | undefined;
}

async function inspect(deps: DoctorDeps, chainId: ChainId, subject: string, url: string): Promise<NodeReport> {
  const { clock, env, clocks } = deps;
  const recorded = createRecordedFetch(deps);
  const timeoutMs = Math.min(env.RPC_TIMEOUT_MS, MAX_REQUEST_MS);
  const send = createProbeSender({ chainId, rpcUrl: url, timeoutMs }, { fetch: recorded.fetch, timeouts: deps.timers });
  const sentMs = clock.now();
  const head = await newest(send);
  const answeredMs = clock.now();
  const latencyMs = recorded.exchanges[0]?.tookMs ?? 0;
  if (!head) return { subject, recorded, latencyMs };
  const [can, isSyncing] = await Promise.all([probeNode(send), syncing(send)]);
  // A block is received some time after it was made, so only a block time ahead of our clock is evidence about a clock.
  if (head.atSec * 1_000 > answeredMs) {
    clocks.add(
      clockSampleOf(`${subject} (newest block)`, { atMs: head.atSec * 1_000, resolutionMs: 0 }, { sentMs, answeredMs }),
    );
  }
  return { subject, recorded, head, latencyMs, can, isSyncing };
}

async function newest(send: SendRpc): Promise<Head | undefined> {
  const [answer] = await send([{ method: 'eth_getBlockByNumber', params: ['latest', false] }]).catch(() => []);
  const block = answer?.result as {
    readonly number?: unknown;
    readonly hash?: unknown;
    readonly timestamp?: unknown;
  } | null;
  if (!isQuantity(block?.number) || !isQuantity(block.timestamp) || !isHex(block.hash)) return undefined;
  return { number: BigInt(block.number), hash: block.hash, atSec: Number(BigInt(block.timestamp)) };
}

/** `false` = not syncing; anything else is a state of progress. */
async function syncing(send: SendRpc): Promise<boolean | undefined> {
  const [answer] = await send([{ method: 'eth_syncing' }]).catch(() => []);
  return answer === undefined || answer.error ? undefined : answer.result !== false;
}

function isQuantity(value: unknown): value is `0x${string}` {
  return typeof value === 'string' && /^0x[0-9a-f]{1,13}$/i.test(value);
}

function describe(
  node: NodeReport,
  all: readonly NodeReport[],
  chainId: ChainId,
  { clock, env }: DoctorDeps,
): readonly Line[] {
  const make = linesOf(AREA, node.subject);
  const quota = describeQuota(
    make,
    quotaOf(node.recorded.exchanges),
    'upgrade the plan of this node, or add another node to the setting',
  );
  if (!node.head || !node.can) return [silent(make, node.recorded), ...(quota.status === 'ok' ? [] : [quota])];
  const { can, head } = node;
  return [
    answered(make, node.latencyMs, env.RPC_TIMEOUT_MS),
    chainOf(make, can.chainId, chainId),
    ...heightOf(make, head, all, clock.now()),
    ...(node.isSyncing === true
      ? [
          make.warning(
            'syncing',
            'it reports that it is still syncing',
            'Wait until it is synced, or remove it from the setting.',
          ),
        ]
      : []),
    ...describeCapabilities(make, can),
    quota,
  ];
}

function silent(make: LineMaker, { exchanges }: RecordedFetch): Line {
  const answer = exchanges.at(-1)?.answer;
  const found =
    answer === undefined
      ? 'no answer within the timeout of a request'
      : `no usable answer: HTTP ${answer.status}, ${answer.body === undefined ? 'an incomplete body' : `"${answer.body.slice(0, 80)}"`}`;
  const isRefused = answer?.status === 401 || answer?.status === 403;
  return make.failure(
    'answers',
    found,
    isRefused
      ? 'Correct the key in its address.'
      : 'Correct its address, or ask its operator; readings go to the other nodes of the chain meanwhile.',
  );
}

function answered(make: LineMaker, latencyMs: number, timeoutMs: number): Line {
  const found = `answers in ${Math.round(latencyMs)} ms`;
  return latencyMs * 2 > Math.min(timeoutMs, MAX_REQUEST_MS)
    ? make.warning(
        'answers',
        `${found}, which is slow`,
        'Use a closer node, or a better plan: a build needs several requests.',
      )
    : make.ok('answers', found);
}

function chainOf(make: LineMaker, reported: number | null, expected: ChainId): Line {
  if (reported === expected) return make.ok('chain_id', `chain ${expected}`);
  return make.failure(
    'chain_id',
    reported === null ? 'it does not return its chain id' : `it serves chain ${reported}`,
    `Set it to a node of chain ${expected}.`,
  );
}

function heightOf(make: LineMaker, head: Head, all: readonly NodeReport[], nowMs: number): readonly Line[] {
  const heads = all.flatMap((other) => other.head ?? []);
  const highest = heads.reduce((best, other) => (other.number > best.number ? other : best), head);
  const behind = highest.number - head.number;
  const ageSec = Math.round(nowMs / 1_000) - head.atSec;
  const lines: Line[] = [];
  if (behind > BLOCKS_BEHIND && highest.atSec - head.atSec > SEC_BEHIND) {
    lines.push(
      make.warning(
        'height',
        `block ${head.number}, ${behind} blocks (${highest.atSec - head.atSec} s) behind the best node of the chain`,
        'Ask its operator; remove it from the setting if it persists.',
      ),
    );
  } else if (ageSec > OLD_BLOCK_SEC) {
    lines.push(
      make.warning(
        'height',
        `block ${head.number} is ${ageSec} s old`,
        'Either the chain has stopped, or this node does not follow it: compare with a block explorer.',
      ),
    );
  } else lines.push(make.ok('height', `block ${head.number}${ageSec > 2 ? `, ${ageSec} s old` : ''}`));
  const forks = heads.some(({ number, hash }) => number === head.number && hash !== head.hash);
  if (forks) {
    lines.push(
      make.failure(
        'fork',
        `another node has another block ${head.number}`,
        'One of the two is on a fork: compare the hash with a block explorer, and remove the wrong node from the setting.',
      ),
    );
  }
  return lines;
}
