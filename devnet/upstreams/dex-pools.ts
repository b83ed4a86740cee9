import type { Address } from 'viem';
import type { Chain, Token } from '../../src/catalog/index.ts';
import { labelAddress } from '../seed/accounts.ts';
import { fraction } from './series.ts';

export interface DexPool {
  readonly address: Address;
  readonly dex: string;
  readonly name: string;
  readonly base: Token;
  readonly quote: Token;
  readonly reserveUsd: number;
}

/** Not traded on a DEX: minted and redeemed only, or sold through the yield market. */
function isTraded(token: Token): boolean {
  return !token.isNative && !token.isPt && !token.noSwapRoute && token.apySource !== 'incentivemarket';
}

/** List the pools of a chain: every traded token against the chain's stable, ether-like ones against wrapped ether as well. */
export function dexPools(chain: Chain): DexPool[] {
  const traded = chain.tokens.filter(isTraded);
  return traded.flatMap((base) => {
    const pools: DexPool[] = [];
    if (base !== chain.stable) {
      pools.push(pool(chain, base, chain.stable, 'uniswap_v3', '0.05%', 1));
      pools.push(pool(chain, base, chain.stable, 'uniswap_v2', '0.3%', 0.06));
    }
    const ether = chain.wrappedNative;
    if (ether !== undefined && base !== ether && base.category === 'ETH') {
      pools.push(pool(chain, base, ether, 'curve', '0.01%', 4));
    }
    return pools;
  });
}

/** Pools that hold the token; the busiest first, which need not be the deepest. */
export function poolsOf(chain: Chain, token: Token): DexPool[] {
  return dexPools(chain)
    .filter(({ base, quote }) => base === token || quote === token)
    .sort((a, b) => fraction(`volume ${a.address}`) - fraction(`volume ${b.address}`))
    .slice(0, 20);
}

function pool(chain: Chain, base: Token, quote: Token, dex: string, fee: string, scale: number): DexPool {
  const label = `pool ${chain.chainId} ${base.symbol}/${quote.symbol} ${dex}`;
  const name = `${base.symbol} / ${quote.symbol} ${fee}`;
  const reserveUsd = Math.round((400_000 + fraction(label) * 18_000_000) * scale * 100) / 100;
  return { address: labelAddress(label), dex, name, base, quote, reserveUsd };
}
