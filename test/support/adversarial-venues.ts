import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Address, type Hex, parseAbi } from 'viem';
import { swapVenueAbi } from '../../devnet/abi/swap-venue.ts';
import { compileContracts } from '../../devnet/chain/compile.ts';
import { sendHttp } from '../../devnet/http.ts';
import type { World } from '../../devnet/index.ts';
import { labelAddress } from '../../devnet/seed/accounts.ts';
import { decodeFunctionData, encodeFunctionData } from '../../src/abi/calldata.ts';
import type { Json } from './service.ts';

/** Receiver of the diverted amounts. */
const STRANGER: Address = labelAddress('stranger of a lying venue');

/** Falsification by a venue. Shares are millionths of the output. */
export type Lie =
  /** Quotes below its fill and keeps the difference. */
  | { readonly kind: 'low'; readonly ppm: bigint }
  /** Quotes above its fill, and fills honestly. */
  | { readonly kind: 'high'; readonly ppm: bigint }
  /** Quotes honestly, and diverts a fee of the input to a third party. */
  | { readonly kind: 'feeToStranger'; readonly bps: bigint }
  /** Quotes honestly, and pays the output to a third party. */
  | { readonly kind: 'outputElsewhere' }
  /** Quotes honestly, and keeps a part of the fill. */
  | { readonly kind: 'skim'; readonly ppm: bigint }
  /** Does not answer. */
  | { readonly kind: 'dead' }
  /** Quotes and simulates honestly, and keeps a part of the fill on the chain. */
  | { readonly kind: 'cheatOnChain'; readonly ppm: bigint }
  /** Quotes this amount for an input, fills at most that, and keeps the rest. */
  | { readonly kind: 'exactly'; readonly of: (swap: VenueSwap) => bigint };

export type AdversarialProvider = 'kyberswap' | 'openocean' | 'pendle';

/** A falsified swap, by its tokens and, for two swaps with the same tokens, by its receiver. */
export interface Pair {
  readonly tokenIn: Address;
  readonly tokenOut: Address;
  readonly recipient?: Address | undefined;
}

export interface VenueSwap extends Pair {
  readonly recipient: Address;
  /** Base units. */
  readonly amountIn: bigint;
}

/** The swap providers of a world behind a proxy that falsifies quotes on demand. The falsified quotes execute on the local chain. */
export interface AdversarialVenues {
  /** Settings that put the service behind the proxy. */
  readonly env: Readonly<Record<string, string>>;
  /** Let a provider falsify every swap or one swap, always or a number of times; replaces its behaviour for that swap. */
  lie(provider: AdversarialProvider, lie: Lie, pair?: Pair, times?: number): void;
  /** Make every provider honest again, for every swap or one. */
  clear(pair?: Pair): void;
  /** Cache the honest answers of providers while the chains stay unchanged; `false` = drop the cache and ask again. */
  remember(whether: boolean): void;
  stop(): Promise<void>;
}

interface Rule {
  readonly provider: AdversarialProvider;
  readonly lie: Lie;
  readonly pair?: Pair | undefined;
  /** Remaining number of times. */
  left: number;
}

const MILLION = 1_000_000n;
const venueAbi = [
  ...swapVenueAbi,
  ...parseAbi([
    'function swapAndKeep(address tokenIn, address tokenOut, uint256 amountIn, address recipient, uint256 keptPpm, address taker, bool onlyOnChain) payable returns (uint256 amountOut)',
    'function swapForExactly(address tokenIn, address tokenOut, uint256 amountIn, address recipient, uint256 paid, address taker) payable returns (uint256 amountOut)',
  ]),
];

/** Start the proxy in front of a world's providers, and let the swap venues of its chains fill as instructed. */
export async function startAdversarialVenues(world: World): Promise<AdversarialVenues> {
  await teachVenues(world);
  let rules: Rule[] = [];
  let remembered: Map<string, { ok: boolean; status: number; text: string }> | undefined;
  const { origin } = world.upstreams;
  const ask = async (method: string, path: string, body: string | undefined) => {
    const key = `${method} ${path} ${body}`;
    const known = remembered?.get(key);
    if (known) return known;
    const type = { 'content-type': 'application/json' };
    const { status, bytes } = await sendHttp(`${origin}${path}`, { method, headers: type, body });
    const output = { ok: status === 200, status, text: bytes.toString() };
    if (output.ok) remembered?.set(key, output);
    return output;
  };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = request.url ?? '/';
    const provider = /^\/(kyberswap|openocean|pendle)\//.exec(path)?.[1] as AdversarialProvider | undefined;
    const own = rules.filter((rule) => rule.provider === provider);
    if (own.some(({ lie, pair }) => lie.kind === 'dead' && !pair)) {
      response.writeHead(500, { 'content-type': 'application/json' }).end('{}');
      return;
    }
    const body = request.method === 'POST' ? await textOf(request) : undefined;
    const { ok, status, text } = await ask(request.method ?? 'GET', path, body);
    const reported = ok && provider && own.length > 0 ? falsified(JSON.parse(text), own) : { body: text, status };
    response.writeHead(reported.status, { 'content-type': 'application/json' }).end(reported.body);
  };
  // A closed client, or a stopped world, ends only the connection.
  const server = createServer((request, response) => {
    answer(request, response).catch(() => request.socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const before = (given: string) => given.replace(origin, url);
  return {
    env: {
      KYBERSWAP_URL: before(world.upstreams.urls.kyberswap),
      OPENOCEAN_URL: before(world.upstreams.urls.openocean),
      PENDLE_URL: before(world.upstreams.urls.pendle),
    },
    lie(provider, lie, pair, times = Infinity) {
      const others = rules.filter((rule) => rule.provider !== provider || keyOf(rule.pair) !== keyOf(pair));
      rules = [...others, { provider, lie, left: times, pair }];
    },
    clear(pair) {
      rules = pair ? rules.filter((rule) => keyOf(rule.pair) !== keyOf(pair)) : [];
    },
    remember(whether) {
      remembered = whether ? new Map() : undefined;
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const keyOf = (pair: Pair | undefined) => [pair?.tokenIn, pair?.tokenOut, pair?.recipient].join();

/** Put the falsifying code at the venues' addresses; their balances and prices stay. */
async function teachVenues(world: World): Promise<void> {
  const { LyingVenue } = await compileContracts();
  if (!LyingVenue) throw new Error('contracts/product/testing/LyingVenue.sol was not compiled');
  for (const chainId of [1, 4663]) {
    const { client, chain } = world.chains.on(chainId);
    for (const address of Object.values(chain.swapRouters).flat()) {
      await client.setCode({ address, bytecode: LyingVenue.deployedBytecode });
    }
  }
}

/** The answer with its quote falsified; other answers stay as they are. */
function falsified(answer: Json, rules: readonly Rule[]): { readonly body: string; readonly status: number } {
  const quote = quoteIn(answer);
  const args = quote && swapArguments(quote.data);
  if (!quote || !args) return { body: JSON.stringify(answer), status: 200 };
  const isAbout = ({ pair, left }: Rule) =>
    left > 0 &&
    (!pair ||
      (pair.tokenIn === args.tokenIn &&
        pair.tokenOut === args.tokenOut &&
        (pair.recipient === undefined || pair.recipient === args.recipient)));
  const rule = rules.find((candidate) => candidate.pair && isAbout(candidate)) ?? rules.find(isAbout);
  if (!rule) return { body: JSON.stringify(answer), status: 200 };
  rule.left -= 1;
  if (rule.lie.kind === 'dead') return { body: '{}', status: 500 };
  quote.write(quotedBy(rule.lie, quote.amountOut, args), calldataOf(rule.lie, args, quote.data));
  return { body: JSON.stringify(answer), status: 200 };
}

interface FoundQuote {
  readonly amountOut: bigint;
  readonly data: Hex;
  write(amountOut: bigint, data: Hex): void;
}

/** Fields of the three providers for output and calldata; `undefined` = not an executable quote. */
function quoteIn(answer: Json): FoundQuote | undefined {
  const route = answer?.routes?.[0];
  if (route?.tx) {
    return found(route.outputs[0].amount, route.tx.data, (amountOut, data) => {
      route.outputs[0].amount = amountOut;
      route.tx.data = data;
    });
  }
  const { data } = answer ?? {};
  if (typeof data?.data !== 'string') return undefined;
  const field = data.outAmount === undefined ? 'amountOut' : 'outAmount';
  return found(data[field], data.data, (amountOut, calldata) => {
    data[field] = amountOut;
    data.data = calldata;
  });
}

function found(amountOut: string, data: Hex, write: (amountOut: string, data: Hex) => void): FoundQuote {
  return { amountOut: BigInt(amountOut), data, write: (out, calldata) => write(out.toString(), calldata) };
}

function swapArguments(data: Hex): VenueSwap | undefined {
  const { functionName, args } = decodeFunctionData({ abi: venueAbi, data });
  if (functionName !== 'swap' && functionName !== 'swapWithFee') return undefined;
  const [tokenIn, tokenOut, amountIn, , recipient] = args;
  return { tokenIn, tokenOut, amountIn, recipient };
}

function quotedBy(lie: Lie, amountOut: bigint, swap: VenueSwap): bigint {
  if (lie.kind === 'exactly') return lie.of(swap);
  if (lie.kind === 'low') return (amountOut * (MILLION - lie.ppm)) / MILLION;
  return lie.kind === 'high' ? (amountOut * (MILLION + lie.ppm)) / MILLION : amountOut;
}

function calldataOf(lie: Lie, swap: VenueSwap, honest: Hex): Hex {
  const { tokenIn, tokenOut, amountIn, recipient } = swap;
  const keep = (ppm: bigint, onlyOnChain: boolean) =>
    encodeFunctionData({
      abi: venueAbi,
      functionName: 'swapAndKeep',
      args: [tokenIn, tokenOut, amountIn, recipient, ppm, STRANGER, onlyOnChain],
    });
  switch (lie.kind) {
    case 'low':
    case 'skim':
      return keep(lie.ppm, false);
    case 'cheatOnChain':
      return keep(lie.ppm, true);
    case 'feeToStranger':
      return encodeFunctionData({
        abi: venueAbi,
        functionName: 'swapWithFee',
        args: [tokenIn, tokenOut, amountIn, 0n, recipient, lie.bps, STRANGER],
      });
    case 'outputElsewhere':
      return encodeFunctionData({
        abi: venueAbi,
        functionName: 'swap',
        args: [tokenIn, tokenOut, amountIn, 0n, STRANGER],
      });
    case 'exactly':
      return encodeFunctionData({
        abi: venueAbi,
        functionName: 'swapForExactly',
        args: [tokenIn, tokenOut, amountIn, recipient, lie.of(swap), STRANGER],
      });
    default:
      return honest;
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
