import { expect } from 'vitest';
import {
  type AdversarialProvider,
  type AdversarialVenues,
  type Lie,
  startAdversarialVenues,
} from '../../support/adversarial-venues.ts';
import { passing } from '../../support/equity.ts';
import { type Json, startService, type TestService } from '../../support/service.ts';
import { createVenueFlows, type Flow, type FlowSwap, isBuilt, type VenueFlows } from '../../support/venue-flows.ts';

/** The least that a swap may give: one percent below its reference, rounded up. */
const atBound = ({ reference }: FlowSwap, amountIn: bigint) => (reference(amountIn) * 99n + 99n) / 100n;

export interface NamedLie {
  readonly name: string;
  readonly of: (swap: FlowSwap) => Lie;
  /** Whether a swap without an honest venue is built, because no loss exceeds the bounds. */
  readonly isBuilt: boolean;
  /** Whether it is indistinguishable from an honest venue before it is signed. */
  readonly isHidden?: true;
}

export const LIES: readonly NamedLie[] = [
  { name: 'low by 9.5 %', of: () => ({ kind: 'low', ppm: 95_000n }), isBuilt: false },
  { name: 'exactly at the bound', of: (swap) => exactly(swap), isBuilt: true },
  { name: 'a unit below the bound', of: (swap) => exactly(swap, 1n), isBuilt: false },
  { name: 'high', of: () => ({ kind: 'high', ppm: 50_000n }), isBuilt: true },
  { name: 'taking a fee for a stranger', of: () => ({ kind: 'feeToStranger', bps: 30n }), isBuilt: false },
  { name: 'paying the output to a stranger', of: () => ({ kind: 'outputElsewhere' }), isBuilt: false },
  { name: 'skimming the fill', of: () => ({ kind: 'skim', ppm: 4_000n }), isBuilt: false },
  {
    name: 'skimming the fill within the tolerance',
    of: () => ({ kind: 'skim', ppm: 900n }),
    isBuilt: true,
    isHidden: true,
  },
  { name: 'dead', of: () => ({ kind: 'dead' }), isBuilt: false },
  {
    name: 'honest when simulated',
    of: () => ({ kind: 'cheatOnChain', ppm: 4_000n }),
    isBuilt: true,
    isHidden: true,
  },
];
export function exactly(swap: FlowSwap, less = 0n): Lie {
  return { kind: 'exactly', of: ({ amountIn }) => atBound(swap, amountIn) - less };
}

export const ETHEREUM = [
  'open',
  'open with another token',
  'increase',
  'close',
  'close a part',
  'repay',
  'add',
  'open with liquidity brought in',
  'open with another token and liquidity brought in',
] as const;
export const ROBINHOOD = [...ETHEREUM.slice(0, 7), 'open with ETH', 'vault deposit', 'vault exit'] as const;

/** A service whose venues lie on request, and the paths through them. */
export interface DishonestWorld {
  readonly service: TestService;
  readonly venues: AdversarialVenues;
  readonly flows: VenueFlows;
  flowOf(chain: 'ethereum' | 'principal' | 'robinhood', name: string): Flow;
  /** Every single swap of a flow without an honest venue: built within its worst case, or refused for its own reason. */
  expectSafe(flow: Flow, lie: NamedLie, providers: readonly AdversarialProvider[]): Promise<void>;
  /** Let the rest of a provider that failed pass. */
  rested(): void;
  stop(): Promise<void>;
}

export async function startDishonestWorld(): Promise<DishonestWorld> {
  let venues: AdversarialVenues | undefined;
  const service: TestService = await startService({
    sleep: passing(() => service),
    // Time passes with the requests and no fact is refreshed: other tests cover ages.
    env: { BUDGET_LENDING_STATE_SEC: '86400', BUDGET_ORACLE_SEC: '86400', BUDGET_PRICES_SEC: '86400' },
    arrange: async (world) => {
      venues = await startAdversarialVenues(world);
      return venues.env;
    },
  });
  if (venues === undefined) throw new Error('the venues were not started');
  const started = venues;
  const flows = await createVenueFlows(service, started);
  const rested = () => service.clock.advance(11_000);
  return {
    service,
    venues: started,
    flows,
    rested,
    flowOf(chain, name) {
      const found = flows[chain].find((flow) => flow.name === name);
      if (!found) throw new Error(`no path ${name} on ${chain}`);
      return found;
    },
    async expectSafe(flow, lie, providers) {
      for (const swap of flow.swaps) {
        for (const provider of providers) started.lie(provider, lie.of(swap), swap);
        const answer = await flow.ask();
        // Sales that are each within their bound may lose more together than an exit may.
        const isTotal = flow.name === 'vault exit' && limitsOf(answer).includes('maxTotalLossPct');
        expect(isBuilt(answer), JSON.stringify(answer)).toBe(lie.isBuilt && !isTotal);
        if (isBuilt(answer)) expect(await flow.execute(answer)).toBe(true);
        else expectHonestRefusal(answer);
        started.clear(swap);
        if (lie.name === 'dead') rested();
      }
    },
    async stop() {
      await service.stop();
      await started.stop();
    },
  };
}

/** Accepted answers if every venue of a swap lies: an input that would pass, or that no fill can be trusted. */
export function expectHonestRefusal(answer: Json): void {
  const names = limitsOf(answer);
  if (answer.__typename === 'LimitExceededRefusal') {
    expect(
      names.some((name) => /^max(PriceImpact|TotalLoss|SwapLoss)Pct$|^maxLtvPct$|^debt$/.test(name)),
      JSON.stringify(answer),
    ).toBe(true);
    return;
  }
  const codes = ['NO_ROUTE', 'upstream_unavailable', 'SIMULATION_REVERTED', 'SIMULATION_MISMATCH'];
  expect(codes, JSON.stringify(answer)).toContain(answer.code);
}

const limitsOf = (answer: Json): readonly string[] => (answer.limits ?? []).map(({ name }: Json) => name);
