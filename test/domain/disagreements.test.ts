import { zeroAddress } from 'viem';
import { describe, expect, test } from 'vitest';
import { agreementOf } from '../../src/domain/deployment/disagreements.ts';
import { isOperatorApproved, isVenueAllowed, venuesOf } from '../../src/domain/deployment/routers.ts';
import { deploymentStates } from '../../src/domain/deployment/states.ts';
import type { ContractDeployment, MarketSupport, TokenContract } from '../../src/domain/deployment/types.ts';
import { type ChainFacts, DEPLOYMENT_KEY } from '../../src/domain/facts.ts';
import type { Address } from '../../src/shared/ids.ts';
import { CONTRACT, chainOf, completeFacts, marketOf, withItem } from './world.ts';

const chain = chainOf(1);
const facts = completeFacts(chain);
const market = marketOf(chain, 'sUSDe', 'PYUSD');
const other = marketOf(chain, 'WBTC', 'USDC');
const OTHER = '0x00000000000000000000000000000000000000A1';
const params = {
  loanToken: market.loan.address,
  collateralToken: market.collateral.address,
  oracle: market.oracle,
  irm: market.irm,
  lltv: market.lltv,
};
const withSupport = (value: MarketSupport) => withItem(facts, 'marketSupport', market.id, { value });
const withToken = (value: TokenContract) => withItem(facts, 'tokenContract', market.collateral.address, { value });
const withContract = (value: Partial<ContractDeployment>) =>
  withItem(facts, 'deployment', DEPLOYMENT_KEY, { value: { ...CONTRACT, ...value } });
const found = (given: ChainFacts) => agreementOf(chain, given).disagreements;
const reported = (given: ChainFacts) => found(given).map(({ kind, effect, key }) => [kind, effect, key]);

describe('agreementOf', () => {
  test('default: equal and unknown values do not disagree', () => {
    expect(found(facts)).toEqual([]);
    expect(found(withSupport({ isSupported: true, isCorrelated: true, params }))).toEqual([]);
    expect(found(withSupport({}))).toEqual([]);
    expect(found(withToken({ hasCode: true, decimals: 18n, symbol: 'sUSDe' }))).toEqual([]);
    expect(found(withToken({ hasCode: true }))).toEqual([]);
  });

  test.each<[string, Partial<typeof params>]>([
    ['parameters', { loanToken: OTHER }],
    ['parameters', { collateralToken: OTHER }],
    ['parameters', { irm: OTHER }],
    ['parameters', { lltv: 1n }],
    ['oracle', { oracle: OTHER }],
  ])('error: %s of a market (%#)', (kind, differing) => {
    const given = withSupport({ params: { ...params, ...differing } });
    expect(reported(given)).toEqual([[kind, 'no_builds', market.id]]);
    const [one] = found(given);
    expect(one?.name).toBe('sUSDe/PYUSD');
    expect(one?.chain).toContain(String(Object.values(differing)[0]));
    expect(one).toMatchObject({ source: 'test', asOfMs: facts.groups.marketSupport.items.get(market.id)?.asOfMs });
    expect(agreementOf(chain, given).against(market)).toHaveLength(1);
    expect(agreementOf(chain, given).against(other)).toEqual([]);
  });

  test('error: a market that was never created', () => {
    expect(reported(withSupport({ params: null }))).toEqual([['not_created', 'no_builds', market.id]]);
  });

  test('error: the kind of a market that the contract has', () => {
    const kind = [['correlated', 'no_new_risk', market.id]];
    expect(reported(withSupport({ isSupported: true, isCorrelated: false, params }))).toEqual(kind);
    expect(reported(withSupport({ isCorrelated: false, params }))).toEqual(kind);
    expect(reported(withSupport({ isSupported: false, isCorrelated: false, params }))).toEqual([]);
  });

  test('error: decimals, symbol and code of a token affect every market with it', () => {
    const { address } = market.collateral;
    for (const decimals of [6n, 255n, 0n, 2n ** 200n]) {
      const given = withToken({ hasCode: true, decimals, symbol: 'sUSDe' });
      expect(reported(given)).toEqual([['decimals', 'no_builds', address]]);
      const against = chain.markets.filter((one) => agreementOf(chain, given).against(one).length > 0);
      expect(against).toEqual(
        chain.markets.filter(({ collateral, loan }) => [collateral, loan].includes(market.collateral)),
      );
    }
    expect(reported(withToken({ hasCode: true, symbol: 'EVIL' }))).toEqual([['symbol', 'warning', address]]);
    expect(reported(withToken({ hasCode: false }))).toEqual([['no_code', 'no_builds', address]]);
  });

  test('error: FlashLeverage without code or linked to another protocol affects all markets', () => {
    const { flashLeverage } = chain.contracts;
    for (const [kind, given] of [
      ['no_code', withContract({ hasCode: false })],
      ['contract', withContract({ links: [{ address: flashLeverage, to: 'morphoBlue', target: OTHER }] })],
    ] as const) {
      expect(reported(given)).toEqual([[kind, 'no_builds', flashLeverage]]);
      expect(chain.markets.every((one) => agreementOf(chain, given).against(one).length === 1)).toBe(true);
    }
  });

  test('behavior: reports and does not use a router without code or of another deployment', () => {
    const { flashLeverageRouter, publicAllocator } = chain.contracts;
    const names = (address: Address) =>
      found(withContract({ code: [{ address, hasCode: false }] })).map(({ name }) => name);
    expect([names(flashLeverageRouter), names(chain.contracts.flashLeverage), names(OTHER)]).toEqual([
      ...[['flashLeverageRouter'], ['flashLeverage'], ['swap router']],
    ]);
    const approved = [{ address: flashLeverageRouter, isAllowed: true }];
    const linked = withContract({
      operators: approved,
      links: [{ address: flashLeverageRouter, to: 'flashLeverage', target: OTHER }],
    });
    const empty = withContract({ operators: approved, code: [{ address: flashLeverageRouter, hasCode: false }] });
    const sound = withContract({
      operators: approved,
      links: [{ address: flashLeverageRouter, to: 'publicAllocator', target: publicAllocator ?? zeroAddress }],
    });
    const approval = (given: ChainFacts) =>
      isOperatorApproved(chain, given.groups.deployment.items.get(DEPLOYMENT_KEY)?.value, flashLeverageRouter);
    expect([linked, empty, sound].map(approval)).toEqual([false, false, true]);
    expect(reported(linked)).toEqual([['contract', 'warning', flashLeverageRouter]]);
    expect(reported(empty)).toEqual([['no_code', 'warning', flashLeverageRouter]]);
    expect(found(sound)).toEqual([]);
    expect(agreementOf(chain, linked).against(market)).toEqual([]);
  });
});

describe('isVenueAllowed', () => {
  const [router] = chain.swapRouters.AggregatorOne ?? [];
  if (!router) throw new Error('the catalog has a router');

  test("default: follows the contract's routers; one without code is not allowed", () => {
    const says = (contract: Partial<ContractDeployment>) =>
      isVenueAllowed(chain, { ...CONTRACT, ...contract }, 'AggregatorOne');
    expect(says({ swapRouters: [{ address: router, isAllowed: true }] })).toBe(true);
    expect(says({ swapRouters: [{ address: router, isAllowed: false }] })).toBe(false);
    const code = [{ address: router, hasCode: false }];
    expect(says({ swapRouters: [{ address: router, isAllowed: true }], code })).toBe(false);
    expect(says({ swapRouters: [] })).toBeUndefined();
    expect(isVenueAllowed(chain, undefined, 'AggregatorOne')).toBeUndefined();
  });

  test('default: a principal token is traded at the yield market', () => {
    expect(venuesOf(chain, { isPt: true })).toEqual(['YieldMarket']);
    expect(venuesOf(chain, { isPt: false })).toEqual(['AggregatorOne', 'AggregatorTwo']);
    expect(venuesOf(chainOf(4663), { isPt: false })).toEqual(['AggregatorOne']);
  });
});

describe('deploymentStates', () => {
  test('default: counts unknown values only as unknown', () => {
    expect(deploymentStates(chain, facts)).toEqual({
      paused: 0,
      unsupported: 0,
      venue_not_allowed: 0,
      operator_not_approved: 0,
      unknown: 0,
    });
    const routers = Object.values(chain.swapRouters).flatMap((all) => all ?? []);
    const closed = withContract({
      isPaused: true,
      liquidationBuffer: undefined,
      swapRouters: routers.map((address) => ({ address, isAllowed: false })),
      operators: [{ address: chain.contracts.flashLeverageRouter, isAllowed: false }],
    });
    expect(
      deploymentStates(chain, withItem(closed, 'marketSupport', market.id, { value: { isSupported: false } })),
    ).toEqual({
      paused: 1,
      unsupported: 1,
      venue_not_allowed: Object.keys(chain.swapRouters).length,
      operator_not_approved: 1,
      unknown: 1,
    });
  });
});
