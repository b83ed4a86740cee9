import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SAFE_BUFFER_POINTS, STOCK_LTV_CAP_RATIO } from '../../src/domain/leverage/limits.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import { REFERRAL_FEE_BPS } from '../../src/transactions/deps.ts';
import { DEFAULT_SLIPPAGE, LARGEST_LOSS_PCT, MAX_SLIPPAGE } from '../../src/transactions/input.ts';
import { MAX_SWAP_LOSS_PCT } from '../../src/transactions/quote/loss.ts';
import { MAX_TOTAL_LOSS_PCT } from '../../src/transactions/quote/refuse-costly-swaps.ts';
import { toleranceOf } from '../../src/transactions/simulate/shortfall.ts';
import { guideFiles } from './blocks.ts';

describe('guides', () => {
  it('default: every relative link leads to a file', () => {
    const broken = guideFiles().flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)]
        .map((match) => match[1] ?? '')
        .filter((target) => !existsSync(join(dirname(file), target)))
        .map((target) => `${file} links to ${target}`),
    );
    expect(broken).toEqual([]);
  });

  it('default: every decision is listed', () => {
    const index = readFileSync('docs/decisions/README.md', 'utf8');
    const files = readdirSync('docs/decisions').filter((name) => name !== 'README.md');
    expect(files.filter((name) => !index.includes(`](${name})`))).toEqual([]);
  });

  it('default: the rules of a build have the numbers of the code', () => {
    const text = readFileSync('docs/builds.md', 'utf8');
    const [, rules = ''] = /## The rules of a build\n([\s\S]*)/.exec(text) ?? [];
    const { adding, repaying, leaving } = LARGEST_LOSS_PCT;
    for (const stated of [
      `${SAFE_BUFFER_POINTS} points`,
      `${STOCK_LTV_CAP_RATIO.times(100)} % of its stock market's liquidation LTV`,
      `${DEFAULT_SLIPPAGE} when left out, ${MAX_SLIPPAGE} with vaults; above ${MAX_SLIPPAGE} it is capped`,
      `${MAX_SWAP_LOSS_PCT} % of the input of every swap`,
      `${MAX_TOTAL_LOSS_PCT.adding} % of the equity for all swaps`,
      `${MAX_TOTAL_LOSS_PCT.leaving} % of the equity for all sales`,
      `up to ${adding}, up to ${repaying} for \`repay\` (percent of the payment), and up to ${leaving} for`,
      `${REFERRAL_FEE_BPS.correlated} basis points on correlated and ${REFERRAL_FEE_BPS.uncorrelated} on uncorrelated`,
      `beyond ${toleranceOf(new Decimal(0)).times(10_000)} basis points`,
    ]) {
      expect(rules).toContain(stated);
    }
  });
});
