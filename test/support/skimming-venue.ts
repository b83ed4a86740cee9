import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Address, decodeFunctionData, encodeFunctionData, type Hex } from 'viem';
import { swapVenueAbi } from '../../devnet/abi/swap-venue.ts';

export interface SkimmedSwap {
  readonly tokenIn: Address;
  readonly tokenOut: Address;
  readonly recipient: Address;
}

/** A venue that quotes honestly and keeps part of what its calldata swaps. */
export interface SkimmingVenue {
  readonly url: string;
  /** Basis points of the input that go to the thief, 0 = honest, and of which swaps: all when left out. */
  set(bps: number, which?: (swap: SkimmedSwap) => boolean): void;
  /** Do something once so many swaps have been handed out. */
  afterBuilds(count: number, then: () => void): void;
  stop(): Promise<void>;
}

const CALLDATA = /"(0x[0-9a-f]{8}(?:[0-9a-f]{64})+)"/g;

/** Start a proxy on loopback before a simulated swap provider. */
export async function startSkimmingVenue(target: string, thief: Address): Promise<SkimmingVenue> {
  let bps = 0;
  let isSkimmed: (swap: SkimmedSwap) => boolean = () => true;
  let waiting: { left: number; readonly then: () => void } | undefined;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const { method = 'GET', url = '' } = request;
    const type = { 'content-type': 'application/json' };
    const body = chunks.length === 0 ? {} : { body: Buffer.concat(chunks).toString(), headers: type };
    const answer = await fetch(`${target}${url}`, { method, ...body });
    const text = await answer.text();
    const skimmed =
      bps === 0 ? text : text.replace(CALLDATA, (_all, data: Hex) => `"${skim(data, bps, thief, isSkimmed)}"`);
    if (waiting && skimmed !== text) {
      waiting.left -= 1;
      if (waiting.left === 0) waiting.then();
    }
    response.writeHead(answer.status, type).end(skimmed);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    set(next, which = () => true) {
      bps = next;
      isSkimmed = which;
      waiting = undefined;
    },
    afterBuilds(count, then) {
      waiting = { left: count, then };
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The same swap, with a fee to the thief beside the one that was asked for and no minimum of its own. */
function skim(data: Hex, bps: number, thief: Address, isSkimmed: (swap: SkimmedSwap) => boolean): Hex {
  const { functionName, args } = decodeFunctionData({ abi: swapVenueAbi, data });
  if (functionName !== 'swap' && functionName !== 'swapWithFee') return data;
  const [tokenIn, tokenOut, amountIn, , recipient, feeBps = 0n] = args;
  if (!isSkimmed({ tokenIn, tokenOut, recipient })) return data;
  return encodeFunctionData({
    abi: swapVenueAbi,
    functionName: 'swapWithFee',
    args: [tokenIn, tokenOut, amountIn, 0n, recipient, feeBps + BigInt(bps), thief],
  });
}
