import { join } from 'node:path';
import { type ChainFacts, DEPLOYMENT_KEY, type FactGroup, type OracleFeed } from '../../src/domain/facts.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import { CONTRACT, FEED, NOW_MS, withItem } from '../domain/world.ts';
import { loopMarket, type openIn, type Scene, servedChain, tokenOn, whole } from './model/scene.ts';

/* Refused requests, with the message and the details that the caller gets; and similar requests that are accepted. */

export const susde = loopMarket(1, 'sUSDe', 'PYUSD');
export const principal = loopMarket(1, 'PT-sUSDe', 'USDC');
export const chain = servedChain(1);
export const { contracts } = chain;
export const d = (value: string | number) => new Decimal(value);
export const before = {
  loop: { collateral: whole(8_000, susde.collateral), debt: whole(6_000, susde.loan) },
  basis: whole(2_400, susde.loan),
};
export const HELD: Scene = { market: susde, before };

export const measured = (group: 'lendingState' | 'oracle', key: string, asOfMs: number) => (facts: ChainFacts) => {
  const item = facts.groups[group].items.get(key);
  return item ? withItem(facts, group as FactGroup, key, { value: item.value as never, asOfMs }) : facts;
};
export const deployed = (change: object) => (facts: ChainFacts) =>
  withItem(facts, 'deployment', DEPLOYMENT_KEY, { value: { ...CONTRACT, ...change } as never });
export const otherToken = tokenOn(1, 'USDC').address;
/** Six words of a market; two thirds are lent. */
export const market = (supplied: number, borrowed: number) => [
  whole(supplied, susde.loan),
  whole(supplied, susde.loan) * 1_000_000n,
  whole(borrowed, susde.loan),
  whole(borrowed, susde.loan) * 1_000_000n,
  BigInt(NOW_MS / 1_000),
  0n,
];

export const wbtc = loopMarket(1, 'WBTC', 'USDC');
export const bitcoin = wbtc.collateral.address;
/** Bitcoin has the price of the oracle of its market alone, which is computed from these feeds. */
export function paidIn(feeds: readonly OracleFeed[] | undefined): Scene {
  return {
    market: susde,
    before,
    usd: { WBTC: '60000' },
    unmeasured: ['WBTC'],
    facts: (facts) =>
      withItem(facts, 'oracle', wbtc.oracle, {
        value: { price: 60_000n * 10n ** 34n, blockNumber: 100n, feeds },
      }),
  };
}

/** The collateral at a measured price, USD. */
export function collateralAt(usd: string) {
  return (facts: ChainFacts) =>
    withItem(facts, 'price', susde.collateral.address, { value: { usd: new Decimal(usd) } });
}

/** A venue that gives only so many ten-thousandths. */
export function losing(share: bigint): NonNullable<Scene['lieOf']> {
  const of = (fair: bigint) => (fair * share) / 10_000n;
  return () => ({ quoted: of, simulated: of, onChain: of });
}

/** The feed behind the oracle, as updated so many seconds ago; without a date it names none. */
export function updated(agoSec: number | undefined) {
  return [{ feed: FEED, reported: agoSec === undefined ? undefined : BigInt(NOW_MS / 1_000 - agoSec) }];
}

/** That it is built, with the doubts about it. */
export const built = async (plan: ReturnType<typeof openIn>) => {
  const { path, issues } = await plan;
  return { built: path, issues };
};

export const whereOf = (name: string) => join(import.meta.dirname, 'plans', `${name}.txt`);
