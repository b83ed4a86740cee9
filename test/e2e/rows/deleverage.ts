import { indexOf } from '../../../src/features/position-history/test/rows.ts';
import type { Name } from './compare.ts';
import { chainOf, dataOf, type Row } from './reads.ts';

/** The row of the ways to a lower LTV, whose previews have the fields and names of the others. */
export function deleverageRow({
  estimate,
  preview,
  names,
}: {
  readonly estimate: string;
  readonly preview: string;
  readonly names: readonly Name[];
}): Row {
  return {
    ask: async (service, example) => {
      const query = `query ($wallet: Address!, $id: PositionId!, $targetLtvPct: Decimal, $targetHeadroomPct: Decimal, $maxSwapLossPct: Decimal) { position(wallet: $wallet, id: $id) { chainId wallet positionIndex positionId strategyId
      deleverageOptions(targetLtvPct: $targetLtvPct, targetHeadroomPct: $targetHeadroomPct, maxSwapLossPct: $maxSwapLossPct) { ... on DeleverageOptions { isNeeded ltvPct targetLtvPct safeLtvPct maxLtvPct liquidationLtvPct excessDebtAmount cheapestAction cheapestAffordableAction underWater { code debtAmount collateralValueAmount excessAmount excessUsd message } readAt { blockNumber blockAt }
        options { action steps { action token { address symbol } amount isFull fromProceeds simulatedGas } affordability walletBalance costUsd simulatedGas gasUsd unavailable { code message retryable }
          preview { ${estimate} ${preview} borrowApy { beforePct afterPct } note } } } } } }`;
      const { position } = await dataOf(service, query, {
        wallet: example.params?.address,
        id: `${chainOf(example)}-${indexOf(example)}`,
        targetLtvPct: example.query?.targetLtvPct,
        targetHeadroomPct: example.query?.targetHeadroomPct,
        maxSwapLossPct: example.query?.maxSwapLossPct,
      });
      const { deleverageOptions, ...identity } = position;
      return { ...identity, ...deleverageOptions };
    },
    names: [
      [/^address$/, 'wallet'],
      [/^id$/, 'positionIndex'],
      [/^needed$/, 'isNeeded'],
      [/^excessDebt$/, 'excessDebtAmount'],
      [/^underWater\.(debt|collateralValue|excess)$/, 'underWater.$1Amount'],
      [/^(cheapest|cheapestAffordable)$/, '$1Action'],
      [/(steps\.\d+\.)token$/, '$1token.address'],
      [/(steps\.\d+\.)symbol$/, '$1token.symbol'],
      [/(steps\.\d+\.)full$/, '$1isFull'],
      [/positionPreview\.(costs|worstCase|readAt)\./, '$1.'],
      [/positionPreview\.(totalSwapCostPctOfEquity|oraclePriceAsOf)$/, '$1'],
      [/positionPreview\./, 'position.'],
      ...names,
    ],
    typedOnly: [[/\.preview\.(chainId|strategyId|action) /, 'the option and the position have it']],
  };
}
