import type { FactGroup } from '../../domain/facts.ts';
import { builder } from '../builder.ts';
import { enumValues } from './enum-values.ts';

const GROUP_DESCRIPTIONS: Record<FactGroup, string> = {
  lendingState: 'State of the lending markets, by market.',
  oracle: 'Oracle values, by oracle.',
  collateralApy: 'APY of collateral tokens, by token.',
  incentives: 'Running incentives, by market.',
  incentiveHistory: 'APR of incentives over time, by market.',
  price: 'USD prices, by token.',
  exitLiquidity: 'Exit quotes, by token.',
  sharedLiquidity: 'Liquidity that the public allocator could move, by market.',
  borrowHistory: 'Borrow APY over time, by market.',
  stableIndex: 'Pools of the stablecoin yield index, by pool.',
  tvl: 'Protocol TVL, one item.',
  deployment: 'Terms of the deployed contract, one item.',
  marketSupport: 'Terms of the deployed contract and parameters of the lending protocol, by market.',
  tokenContract: 'Symbol and decimals from token contracts, by token.',
};

export const FactGroupRef = builder.enumType('FactGroup', {
  description: 'A group of facts that is refreshed together and has one budget.',
  values: enumValues(GROUP_DESCRIPTIONS),
});
