import { getAbiItem, getAddress, toFunctionSelector } from 'viem';
import { aggregatorAbi, feedOracleAbi } from '../../src/abi/feeds.ts';
import { FEED_LENS_CODE } from '../../src/abi/generated/feed-lens.ts';
import { MARKET_LENS_CODE } from '../../src/abi/generated/market-lens.ts';
import { irmAbi } from '../../src/abi/irm.ts';
import { morphoBlueAbi } from '../../src/abi/morpho-blue.ts';
import { oracleAbi } from '../../src/abi/oracle.ts';
import type { Address, Hex } from '../../src/shared/ids.ts';
import type { Contracts } from './scripted-node.ts';

const WORD = 64;
const [NOT_ANSWERED, ANSWERED, REVERTED, MALFORMED] = [0, 1, 2, 3] as const;

const ID_TO_MARKET_PARAMS = toFunctionSelector(getAbiItem({ abi: morphoBlueAbi, name: 'idToMarketParams' }));
const MARKET = toFunctionSelector(getAbiItem({ abi: morphoBlueAbi, name: 'market' }));
const RATE_AT_TARGET = toFunctionSelector(getAbiItem({ abi: irmAbi, name: 'rateAtTarget' }));
const BORROW_RATE_VIEW = toFunctionSelector(getAbiItem({ abi: irmAbi, name: 'borrowRateView' }));
const PRICE = toFunctionSelector(getAbiItem({ abi: oracleAbi, name: 'price' }));

const FEED_VIEWS = (['BASE_FEED_1', 'BASE_FEED_2', 'QUOTE_FEED_1', 'QUOTE_FEED_2'] as const).map((name) =>
  toFunctionSelector(getAbiItem({ abi: feedOracleAbi, name })),
);
const LATEST_ROUND_DATA = toFunctionSelector(getAbiItem({ abi: aggregatorAbi, name: 'latestRoundData' }));

/** Whether a call without a receiver brings the lens of markets. */
export function isLens(data: Hex): boolean {
  return data.startsWith(MARKET_LENS_CODE);
}

/** Whether a call without a receiver brings the lens of feeds. */
export function isFeedLens(data: Hex): boolean {
  return data.startsWith(FEED_LENS_CODE);
}

/** Answer a call of the feed lens as its Solidity does, out of scripted contracts. */
export function createScriptedFeedLens(contracts: Contracts) {
  const ask = askOf(contracts);
  return (data: Hex, timestamp: bigint, chainId: number): Hex => {
    const args = data.slice(FEED_LENS_CODE.length);
    const count = Number.parseInt(args.slice(-WORD), 16);
    if (args.length !== (count + 1) * WORD) throw new Error(`${count} oracles in ${args.length} digits`);
    const rows = Array.from({ length: count }, (_, i) => {
      const oracle = getAddress(`0x${args.slice(i * WORD + 24, (i + 1) * WORD)}`);
      let statuses = 0;
      const words = FEED_VIEWS.map(() => '0'.repeat(WORD));
      for (const [view, selector] of FEED_VIEWS.entries()) {
        const named = ask(oracle, selector, 1);
        statuses += named.status << (2 * view);
        if (named.status !== ANSWERED) break;
        const feed = named.words.slice(24);
        if (/^0+$/.test(feed)) continue;
        const round = ask(getAddress(`0x${feed}`), LATEST_ROUND_DATA, 5);
        statuses += round.status << (2 * (view + FEED_VIEWS.length));
        words[view] = feed + field(round.words.slice(3 * WORD, 4 * WORD), 24);
      }
      return [statuses.toString(16).padStart(WORD, '0'), ...words].join('');
    });
    return headed([timestamp, chainId, count], rows);
  };
}

/** Answer a call of the lens as its Solidity does, out of scripted contracts. */
export function createScriptedLens(contracts: Contracts) {
  const addresses = new Map<string, Address>();
  const addressIn = (word: string): Address => {
    const known = addresses.get(word) ?? getAddress(`0x${word.slice(-40)}`);
    addresses.set(word, known);
    return known;
  };
  const ask = askOf(contracts);

  return (data: Hex, timestamp: bigint, chainId: number): Hex => {
    const args = data.slice(MARKET_LENS_CODE.length);
    const count = Number.parseInt(args.slice(-WORD, -40), 16);
    if (args.length !== (count + 1) * WORD) throw new Error(`${count} markets in ${args.length} digits`);
    const morpho = addressIn(args.slice(-40));
    const prices = new Map<string, Answer>();
    const rows = Array.from({ length: count }, (_, i) => {
      const id = args.slice(i * WORD, (i + 1) * WORD);
      const market = ask(morpho, MARKET + id, 6);
      const params = ask(morpho, ID_TO_MARKET_PARAMS + id, 5);
      let atTarget: Answer = { status: params.status, words: '' };
      let price = atTarget;
      let rate: Answer = { status: NOT_ANSWERED, words: '' };
      if (params.status === ANSWERED) {
        const irm = addressIn(params.words.slice(3 * WORD, 4 * WORD));
        atTarget = ask(irm, RATE_AT_TARGET + id, 1);
        if (market.status === ANSWERED) rate = ask(irm, BORROW_RATE_VIEW + params.words + market.words, 1);
        const oracle = params.words.slice(2 * WORD, 3 * WORD);
        price = prices.get(oracle) ?? ask(addressIn(oracle), PRICE, 1);
        prices.set(oracle, price);
      }
      const statuses = market.status + (atTarget.status << 2) + (rate.status << 4) + (price.status << 6);
      return [
        market.words === '' ? '0'.repeat(3 * WORD) : halves(market.words),
        statuses.toString(16).padStart(4, '0'),
        field(atTarget.words, 30),
        field(rate.words, 30),
        field(price.words, WORD),
      ].join('');
    });
    return headed([timestamp, chainId, count], rows);
  };
}

function askOf(contracts: Contracts) {
  return (to: Address, data: string, words: number): Answer => {
    const returned = contracts(to, data as Hex);
    if (returned === 'revert') return { status: REVERTED, words: '' };
    if (returned.length !== 2 + words * WORD) return { status: MALFORMED, words: '' };
    return { status: ANSWERED, words: returned.slice(2) };
  };
}

function headed(header: readonly (bigint | number)[], rows: readonly string[]): Hex {
  return `0x${header.map((value) => value.toString(16).padStart(WORD, '0')).join('')}${rows.join('')}`;
}

interface Answer {
  readonly status: 0 | 1 | 2 | 3;
  /** Empty unless answered. */
  readonly words: string;
}

/** Write a word into fewer digits; what is larger than they can tell is their largest number. */
function field(word: string, digits: number): string {
  if (word === '') return '0'.repeat(digits);
  const cut = word.length - digits;
  return word.startsWith('0'.repeat(cut)) ? word.slice(cut) : 'f'.repeat(digits);
}

function halves(words: string): string {
  return Array.from({ length: words.length / WORD }, (_, i) => field(words.slice(i * WORD, (i + 1) * WORD), 32)).join(
    '',
  );
}
