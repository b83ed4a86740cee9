import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SAFE_BUFFER_POINTS, STOCK_LTV_CAP_RATIO } from '../../src/domain/leverage/limits.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import { REFERRAL_FEE_BPS } from '../../src/transactions/deps.ts';
import { DEFAULT_SLIPPAGE, LARGEST_LOSS_PCT, MAX_SLIPPAGE } from '../../src/transactions/input.ts';
import { MAX_TOTAL_LOSS_PCT } from '../../src/transactions/quote/bounds.ts';
import { MAX_SWAP_LOSS_PCT } from '../../src/transactions/quote/loss.ts';
import { toleranceOf } from '../../src/transactions/simulate/shortfall.ts';
import { guideFiles } from './blocks.ts';

/** Folders without sources: build output, dependencies, git data. */
const NOT_SOURCES = ['node_modules', 'dist', 'coverage', 'docs', 'src'];

/** The declaration that answers each question of the guide. */
const DECLARED: Readonly<Record<string, string>> = {
  'Where is the limit of slippage?': 'export const MAX_SLIPPAGE:',
  'What happens on SIGTERM?': "process.on('SIGTERM'",
  'Where does a price come from?': 'export function createPricesWarmer(',
  'When is a value doubted?': 'export function isSuspectPrice(',
  'What does a query cost?': 'export function costOf(',
  'How is a budget shared by processes?': 'export function createRedisLimiters(',
  'How long does an answer hold?': 'export interface CacheValidity {',
  'Where are answers cached?': 'export function createAnswerCache(',
  'How is an error answered?': 'export function toGraphQLError(',
  'Which status has an error code?': 'export const ERROR_CODES =',
  'How is a node chosen?': 'export function createHeadRace(',
  'How are contracts read at one block?': 'export function createReadAt(',
  'How is a transaction simulated?': 'export function createSimulator(',
  'How is an open sized?': 'export function sizeOpen(',
  'Why is a strategy not listed?': 'export function visibilityOf(',
  'How is a leveraged APY computed?': 'export function leverageApyPct(',
  'What is P&L made of?': 'export function loopParts(',
  'Which process runs a warmer?': 'export function createLeaseHolder(',
  'What is served while a source fails?': 'export function createStaleIfError<',
  'Which settings are there?': 'export const envSchema =',
};

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

  it('default: the table of folders names every folder and only existing ones', () => {
    const rows = readFileSync('docs/contributing.md', 'utf8').matchAll(/^\| ((?:`[^`]+`(?:, )?)+) \|/gm);
    const named = [...rows].flatMap(([, cell = '']) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name));
    const places = named.filter((name) => !name.startsWith('npm '));
    expect(places.filter((name) => !existsSync(name))).toEqual([]);
    const isFolder = (path: string) => statSync(path).isDirectory();
    const folders = [
      ...readdirSync('src').map((name) => `src/${name}`),
      ...readdirSync('.').filter((name) => !name.startsWith('.') && !NOT_SOURCES.includes(name)),
    ].filter(isFolder);
    expect(folders.filter((folder) => !places.includes(folder))).toEqual([]);
  });

  it('default: each question names the file that declares its answer', () => {
    const guide = readFileSync('docs/contributing.md', 'utf8');
    const section = guide.slice(guide.indexOf('## Where to look'), guide.indexOf('## Daily commands'));
    const rows = [...section.matchAll(/^\| (.+\?) \| `([^`]+)` \|$/gm)];
    expect(rows.map(([, question]) => question)).toEqual(Object.keys(DECLARED));
    const missing = rows.filter(
      ([, question = '', file = '']) => !readFileSync(file, 'utf8').includes(DECLARED[question] ?? ''),
    );
    expect(missing.map(([, question, file]) => `${file}: ${question}`)).toEqual([]);
  });

  it('default: every decision is listed', () => {
    const index = readFileSync('docs/decisions/README.md', 'utf8');
    const files = readdirSync('docs/decisions').filter((name) => name !== 'README.md');
    expect(files.filter((name) => !index.includes(`](${name})`))).toEqual([]);
  });

  it('default: the rules of a build have the numbers of the code', () => {
    const text = readFileSync('docs/partners.md', 'utf8');
    const [, rules = ''] = /## The rules of a build\n([\s\S]*?)\n## /.exec(text) ?? [];
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
