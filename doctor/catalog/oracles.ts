import type { Chain, Market } from '../../src/catalog/types.ts';
import type { LendingReading } from '../../src/chain/markets.ts';
import { oracleDivergence } from '../../src/domain/market/oracle-divergence.ts';
import { isOldPrice, priceAge } from '../../src/domain/market/price-age.ts';
import type { Decimal } from '../../src/shared/decimal.ts';
import type { Address } from '../../src/shared/ids.ts';
import { type Line, linesOf } from '../core/types.ts';
import { summed } from './compare.ts';
import { labelOf } from './read.ts';

export interface OracleContext {
  readonly nowMs: number;
  readonly feedBudgetSec: number;
  /** USD per whole token by a price provider. */
  readonly usdOf: (token: Address) => Decimal | undefined;
}

/** Judge the state of markets and the answers of their oracles, by the prices of providers where known. */
export function judgeOracles(
  chain: Chain,
  reading: LendingReading | undefined,
  context: OracleContext,
): readonly Line[] {
  const on = `chain ${chain.chainId}`;
  if (!reading) {
    return [
      linesOf('catalog', `${on} markets`).failure(
        'state',
        'their state and their oracles are not readable',
        'See the nodes of this chain, and the rate model and lending protocol above.',
      ),
    ];
  }
  const make = (market: Market) => linesOf('catalog', `${on} market ${labelOf(market)}`);
  const each = (judge: (market: Market) => Line | undefined) => chain.markets.map(judge);
  const { lending, oracle } = reading;
  return [
    ...summed(
      `${on} markets`,
      'state',
      each((market) =>
        lending.values.has(market.id)
          ? undefined
          : make(market).failure(
              'state',
              `its state is not readable (${lending.failures.get(market.id) ?? 'missing'})`,
              'Look at the market and its rate model on a block explorer; remove it from the catalog if it is broken.',
            ),
      ),
      'have a readable state',
    ),
    ...summed(
      `${on} markets`,
      'oracle',
      each((market) => {
        const failure = oracle.failures.get(market.oracle);
        if (oracle.values.has(market.oracle)) return undefined;
        return make(market).failure(
          'oracle',
          `its oracle ${market.oracle} returns no price (${failure ?? 'missing'})`,
          'Nothing can be built on this market until then: check the feeds behind the oracle.',
        );
      }),
      'have an oracle that answers',
    ),
    ...summed(
      `${on} markets`,
      'oracle_price',
      each((market) => priceOf(market, reading, context, make(market))),
      'have an oracle near the prices of providers, where available',
    ),
    ...summed(
      `${on} markets`,
      'oracle_age',
      each((market) => ageOf(chain, market, reading, context, make(market))),
      'have an oracle with feeds within their heartbeats, where it has feeds',
    ),
  ];
}

function priceOf(
  market: Market,
  { block, oracle }: LendingReading,
  { usdOf }: OracleContext,
  make: ReturnType<typeof linesOf>,
): Line | undefined {
  const oraclePrice = oracle.values.get(market.oracle);
  const [loanUsd, usd] = [usdOf(market.loan.address), usdOf(market.collateral.address)];
  if (!oraclePrice) return undefined;
  const apart = oracleDivergence({
    market,
    oracle: { value: oraclePrice, asOfMs: Number(block.timestamp) * 1_000 },
    loanUsd,
    price: usd && { value: { usd }, source: 'provider' },
  });
  if (!apart) return undefined;
  const by = apart.against === 'price' ? 'a provider says' : 'a token of its kind is worth at the utmost';
  return make.warning(
    'oracle_price',
    `its oracle values ${market.collateral.symbol} at ${apart.oracleUsd.toPrecision(6)} USD, ${by} ${apart.referenceUsd.toPrecision(6)} USD: ${apart.divergencePct.toFixed(1)} % apart`,
    'Compare both with the market before positions are opened; an oracle of the redemption rate may differ correctly.',
  );
}

function ageOf(
  chain: Chain,
  market: Market,
  { oracle }: LendingReading,
  { nowMs, feedBudgetSec }: OracleContext,
  make: ReturnType<typeof linesOf>,
): Line | undefined {
  const oracleFact = oracle.values.get(market.oracle);
  if (!oracleFact) return undefined;
  const age = priceAge(oracleFact.feeds, { heartbeatsSec: chain.heartbeatsSec, budgetSec: feedBudgetSec });
  const undated = (oracleFact.feeds ?? []).find(({ updatedAt }) => updatedAt === undefined);
  if (undated) {
    return make.warning(
      'oracle_age',
      `a feed behind its oracle, ${undated.address}, returns no credible date`,
      'Look at the feed on a block explorer: the age of its price is unknown.',
    );
  }
  if (age.state !== 'known' || !isOldPrice(age, nowMs)) return undefined;
  const hours = Math.round((nowMs - age.asOfMs) / 360_000) / 10;
  return make.warning(
    'oracle_age',
    `a feed behind its oracle, ${age.feed}, is ${hours} h old and past its heartbeat`,
    'Feeds of stocks pause while markets are closed. For other feeds, check the feed, and correct its heartbeat in the catalog if its update interval is longer.',
  );
}
