import { type Address, getAddress, isAddress, zeroAddress } from 'viem';
import type { Chain, Token } from '../../src/catalog/index.ts';
import { NATIVE_PLACEHOLDER } from './local-chain.ts';
import type { SimResponse } from './types.ts';

export function ok(body: unknown): SimResponse {
  return { status: 200, body };
}

/** Match a path against `/a/{b}/c`; the parameters by name, or `undefined`. */
export function matchPath(pattern: string, path: string): Record<string, string> | undefined {
  const wanted = pattern.split('/');
  const given = path.split('/');
  if (wanted.length !== given.length) return undefined;
  const parameters: Record<string, string> = {};
  for (const [i, part] of wanted.entries()) {
    const value = given[i] ?? '';
    const name = /^\{(\w+)\}$/.exec(part)?.[1];
    if (name === undefined && part !== value) return undefined;
    if (name !== undefined) {
      if (value === '') return undefined;
      parameters[name] = decodeURIComponent(value);
    }
  }
  return parameters;
}

/** Find the token of an aggregator's address on a chain; the placeholder and the zero address are the native token. */
export function tokenOf(chain: Chain, text: string | null | undefined): Token | undefined {
  const address = addressOf(text);
  if (address === undefined) return undefined;
  return address === getAddress(NATIVE_PLACEHOLDER) || address === zeroAddress
    ? chain.native
    : chain.tokens.find((token) => token.address === address);
}

/** Read an address of any hex case. */
export function addressOf(text: unknown): Address | undefined {
  return typeof text === 'string' && isAddress(text, { strict: false }) ? getAddress(text) : undefined;
}

/** Read a positive whole number of base units. */
export function unitsOf(text: unknown): bigint | undefined {
  return typeof text === 'string' && /^[1-9]\d{0,77}$/.test(text) ? BigInt(text) : undefined;
}

/** Read a JSON object; anything else has no fields. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

/** Least output that a swap may give: the expected one less the slippage in basis points (rounded down). */
export function leastOut(amountOut: bigint, slippageBps: number): bigint {
  // Slippage may have a fraction of a basis point: hundredths of one are exact enough.
  return (amountOut * (1_000_000n - BigInt(Math.round(slippageBps * 100)))) / 1_000_000n;
}
