import { expect, test } from 'vitest';
import { projectIncentive } from '../../src/rest/routes/market-facts.ts';

test('behavior: campaigns of one reward symbol are one line of an incentive, with their sum', () => {
  const campaign = (symbol: string, aprPct: string, url: string | null = null) => ({ symbol, aprPct, url });
  const endsAt = '2026-12-01T00:00:00.000Z';
  const shown = projectIncentive({
    aprPct: '3.756',
    endsAt,
    lowerBound: false,
    restricted: [],
    campaigns: [campaign('MORPHO', '1.25'), campaign('ENA', '0.006', 'https://ena.example'), campaign('MORPHO', '2.5')],
  });
  expect(shown).toEqual({
    aprPct: '3.76',
    breakdown: [
      { symbol: 'MORPHO', aprPct: '3.75' },
      { symbol: 'ENA', aprPct: '0.01' },
    ],
    campaignUrl: 'https://ena.example',
    endsAt,
    lowerBound: null,
    restricted: null,
  });
  expect(projectIncentive(null)).toBeNull();
});
