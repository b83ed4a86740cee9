import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import type { Catalog, Market, Token } from '../src/catalog/index.ts';
import { Decimal, toUnits } from '../src/shared/decimal.ts';
import { type Logger, silentLogger } from '../src/shared/logger.ts';
import type { ChainVerbs } from './chain/verbs.ts';
import { controlHelp } from './control-help.ts';
import { PortTakenError } from './port.ts';
import { feedsOf, oracleSeed } from './seed/oracles.ts';
import { FAULT_KINDS, faultSchema, PROVIDERS, type Upstreams } from './upstreams/index.ts';

/** The verbs that the control endpoint uses; the local chains have them. */
export type ControlVerbs = Pick<
  ChainVerbs,
  'oraclePrice' | 'setOraclePrice' | 'moveOracle' | 'increaseTime' | 'freezeFeed' | 'unfreezeFeed' | 'dateFeed'
>;

export interface ControlOptions {
  readonly chains: { on(chainId: number): ControlVerbs };
  readonly upstreams: Pick<Upstreams, 'faults' | 'requests' | 'requestCounts' | 'clearRequests' | 'urls'>;
  readonly catalog: Catalog;
  /** Settings for another process of the service on this world. */
  readonly settings?: Readonly<Record<string, string>>;
  /** 0 or absent: a free one. */
  readonly port?: number;
  readonly logger?: Logger;
}

export interface Control {
  readonly url: string;
  stop(): Promise<void>;
}

/** Wrong input. The message names the fault and a correct value. */
class ControlError extends Error {
  override readonly name = 'ControlError';
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const HOST = '127.0.0.1';
const MAX_BODY_BYTES = 100_000;
const MAX_LISTED_REQUESTS = 200;
const ORACLE_SCALE_DECIMALS = 36;

const decimalText = z
  .union([z.string().regex(/^-?\d+(\.\d+)?$/, 'expected a decimal number such as "-5" or "1.02"'), z.number()])
  .transform(String);
const providerSchema = z.enum(PROVIDERS);

const faultBody = z.strictObject({
  provider: z.union([providerSchema, z.literal('all')]),
  fault: z
    .union([
      z.enum(FAULT_KINDS as [string, ...string[]]).transform((kind) => ({ kind })),
      z.looseObject({ kind: z.string() }),
    ])
    .pipe(faultSchema),
  path: z.string().min(1).optional(),
  times: z.int().positive().optional(),
});
const oracleBody = z.strictObject({
  chainId: z.int(),
  marketId: z.string().optional(),
  token: z.string().optional(),
  movePercent: decimalText.optional(),
  price: decimalText.optional(),
});
const feedBody = z.strictObject({
  chainId: z.int(),
  marketId: z.string().optional(),
  token: z.string().optional(),
  state: z.enum(['frozen', 'running']).optional(),
  updatedAt: z.string().regex(/^\d+$/, 'expected unix seconds as digits, however absurd').optional(),
});
const timeBody = z.strictObject({
  chainId: z.int(),
  seconds: z
    .int()
    .positive()
    .max(10 * 31_536_000),
});

/**
 * Start the control endpoint of the local world: JSON over HTTP on 127.0.0.1. `GET /` lists its actions.
 * @throws PortTakenError
 */
export async function startControl(options: ControlOptions): Promise<Control> {
  const logger = options.logger ?? silentLogger;
  const server = createServer((request, response) => {
    const reply = (status: number, body: unknown): void => {
      const isText = typeof body === 'string';
      response.writeHead(status, { 'content-type': `${isText ? 'text/plain' : 'application/json'}; charset=utf-8` });
      response.end(`${isText ? body : JSON.stringify(body, null, 2)}\n`);
    };
    handle(options, request).then(
      (body) => reply(200, body),
      (error: unknown) => {
        const message = error instanceof Error ? error.message : String(error);
        if (error instanceof ControlError)
          return reply(error.status, { error: message, help: 'GET / lists the actions' });
        logger.error({ error: message }, 'control request failed');
        reply(500, { error: message });
      },
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'EADDRINUSE'
          ? new PortTakenError('the control endpoint', options.port, 'DEVNET_CONTROL_PORT', { cause: error })
          : error,
      ),
    );
    server.listen(options.port ?? 0, HOST, resolve);
  });
  return {
    url: `http://${HOST}:${(server.address() as AddressInfo).port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function handle(options: ControlOptions, request: IncomingMessage): Promise<unknown> {
  refuseWebPages(request);
  const url = new URL(request.url ?? '/', `http://${HOST}`);
  const { upstreams } = options;
  switch (`${request.method} ${url.pathname}`) {
    case 'GET /':
      return controlHelp(options);
    case 'GET /settings':
      return Object.entries(options.settings ?? {})
        .map(([name, value]) => `${name}=${value}`)
        .join('\n');
    case 'GET /faults':
      return { faults: upstreams.faults.list() };
    case 'POST /faults': {
      const { provider, fault, path, times } = parse(faultBody, await readJson(request));
      upstreams.faults.set(provider, fault, {
        path,
        times,
      });
      return { faults: upstreams.faults.list() };
    }
    case 'DELETE /faults':
      upstreams.faults.clear(providerOf(url));
      return { faults: upstreams.faults.list() };
    case 'POST /oracle':
      return moveOracles(options, parse(oracleBody, await readJson(request)));
    case 'POST /feed':
      return setFeeds(options, parse(feedBody, await readJson(request)));
    case 'POST /time': {
      const { chainId, seconds } = parse(timeBody, await readJson(request));
      await verbsOf(options, chainId).increaseTime(seconds);
      return { chainId, advancedSeconds: seconds };
    }
    case 'GET /requests':
      return {
        counts: upstreams.requestCounts(),
        requests: upstreams.requests(providerOf(url)).slice(-MAX_LISTED_REQUESTS),
      };
    case 'DELETE /requests':
      upstreams.clearRequests();
      return { counts: upstreams.requestCounts() };
    default:
      throw new ControlError(404, `There is no ${request.method} ${url.pathname}.`);
  }
}

/** Web pages in a browser can reach loopback. Their requests carry an origin or another host name. */
function refuseWebPages({ headers }: IncomingMessage): void {
  const host = (headers.host ?? '').replace(/:\d+$/, '');
  if (headers.origin !== undefined || (host !== HOST && host !== 'localhost')) {
    throw new ControlError(
      403,
      'This endpoint serves local tools only: call it as 127.0.0.1 and without an Origin header.',
    );
  }
}

async function moveOracles(options: ControlOptions, body: z.output<typeof oracleBody>): Promise<unknown> {
  const { chainId, movePercent, price } = body;
  const verbs = verbsOf(options, chainId);
  if ((movePercent === undefined) === (price === undefined)) {
    throw new ControlError(
      400,
      'Send exactly one of movePercent (e.g. -5) and price (loan tokens per collateral token, e.g. "1.02").',
    );
  }
  if (movePercent !== undefined && !new Decimal(movePercent).isGreaterThan(-100)) {
    throw new ControlError(
      400,
      `movePercent is ${movePercent}: it must be above -100, or nothing of the price is left.`,
    );
  }
  if (price !== undefined && !new Decimal(price).isGreaterThan(0)) {
    throw new ControlError(400, `price is ${price}: it must be above 0.`);
  }
  const moved = [];
  for (const market of targets(options.catalog, body)) {
    const before = await verbs.oraclePrice(market);
    if (movePercent !== undefined) await verbs.moveOracle(market, movePercent);
    else await verbs.setOraclePrice(market, toUnits(new Decimal(price ?? '0'), scaleOf(market)));
    const after = await verbs.oraclePrice(market);
    moved.push({
      marketId: market.id,
      pair: pairOf(market),
      oracle: market.oracle,
      before: formatPrice(before, market),
      after: formatPrice(after, market),
    });
  }
  return { chainId, moved };
}

async function setFeeds(options: ControlOptions, body: z.output<typeof feedBody>): Promise<unknown> {
  const { chainId, state, updatedAt } = body;
  const verbs = verbsOf(options, chainId);
  if ((state === undefined) === (updatedAt === undefined)) {
    throw new ControlError(400, 'Send exactly one of state (frozen or running) and updatedAt (unix seconds).');
  }
  const markets = targets(options.catalog, body);
  const found = markets.filter((market) => oracleSeed(market).kind === 'feed');
  if (found.length === 0) {
    const kinds = markets.map((market) => `${pairOf(market)}: ${oracleSeed(market).kind}`).join(', ');
    throw new ControlError(400, `No feed is behind these oracles (${kinds}): only those of the kind feed have one.`);
  }
  for (const market of found) {
    if (updatedAt !== undefined) await verbs.dateFeed(market, BigInt(updatedAt));
    else await (state === 'frozen' ? verbs.freezeFeed(market) : verbs.unfreezeFeed(market));
  }
  return {
    chainId,
    feeds: found.map((market) => ({ marketId: market.id, pair: pairOf(market), feed: feedsOf(market).base })),
  };
}

function pairOf({ collateral, loan }: Market): string {
  return `${collateral.symbol}/${loan.symbol}`;
}

type Target = Pick<z.output<typeof oracleBody>, 'chainId' | 'marketId' | 'token' | 'price'>;

/** One market per oracle: those of the market, or of every market that takes the token as collateral. */
function targets(catalog: Catalog, { chainId, marketId, token, price }: Target): Market[] {
  const markets = catalog.chain(chainId)?.markets ?? [];
  if ((marketId === undefined) === (token === undefined)) {
    throw new ControlError(400, 'Send exactly one of marketId and token (the symbol or address of a collateral).');
  }
  const found = markets.filter((market) =>
    marketId === undefined ? isToken(market.collateral, token ?? '') : market.id === marketId.toLowerCase(),
  );
  if (found.length === 0) {
    const what = marketId === undefined ? `no market with collateral ${token}` : `no market ${marketId}`;
    const known = [...new Set(markets.map(({ collateral }) => collateral.symbol))].join(', ');
    throw new ControlError(404, `Chain ${chainId} has ${what}. Collaterals there: ${known}.`);
  }
  const loans = [...new Set(found.map(({ loan }) => loan.symbol))];
  if (price !== undefined && loans.length > 1) {
    throw new ControlError(
      400,
      `${token} is priced in ${loans.join(' and ')}: name one market by marketId, or send movePercent.`,
    );
  }
  return [...new Map(found.map((market) => [market.oracle, market])).values()];
}

function isToken(token: Token, text: string): boolean {
  const wanted = text.toLowerCase();
  return [token.symbol, token.displaySymbol, token.address].some((name) => name.toLowerCase() === wanted);
}

function scaleOf({ loan, collateral }: Market): number {
  return ORACLE_SCALE_DECIMALS + loan.decimals - collateral.decimals;
}

/** Loan tokens per collateral token. */
function formatPrice(price: bigint, market: Market): string {
  return new Decimal(price.toString()).shiftedBy(-scaleOf(market)).toFixed();
}

function verbsOf({ chains, catalog }: ControlOptions, chainId: number): ControlVerbs {
  if (!catalog.chainIds.includes(chainId)) {
    throw new ControlError(400, `chainId is ${chainId}: the local chains are ${catalog.chainIds.join(' and ')}.`);
  }
  return chains.on(chainId);
}

function providerOf(url: URL): (typeof PROVIDERS)[number] | undefined {
  const given = url.searchParams.get('provider');
  return given === null ? undefined : parse(z.object({ provider: providerSchema }), { provider: given }).provider;
}

function parse<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new ControlError(400, z.prettifyError(result.error));
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) throw new ControlError(413, `The body exceeds ${MAX_BODY_BYTES} bytes.`);
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString();
  try {
    return JSON.parse(text);
  } catch {
    throw new ControlError(400, 'The body is not JSON. Send an object such as {"provider": "merkl", "fault": "hang"}.');
  }
}
