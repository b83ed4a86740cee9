import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { startService } from '../support/service.ts';

test('the picture of the README has the limits of its market', async () => {
  const service = await startService();
  try {
    const picture = await readFile('docs/images/ltv-ladder.svg', 'utf8');
    const id = '0x90ef0c5a0dc7c4de4ad4585002d44e9d411d212d2f6258e94948beecf8b4c0d5';
    const { body } = await service.graphql(
      `{ strategy(id: "${id}") { collateral { symbol } loan { symbol } ltvLimits { safePct maxPct liquidationPct } } }`,
    );
    const { collateral, loan, ltvLimits } = body.data.strategy;
    expect(picture).toContain(`${collateral.symbol} / ${loan.symbol}`);
    const shown = [...picture.matchAll(/>(\d+\.\d+) %</g)].map(([, text]) => Number(text));
    expect(shown).toEqual([ltvLimits.safePct, ltvLimits.maxPct, ltvLimits.liquidationPct].map(Number));
  } finally {
    await service.stop();
  }
});
