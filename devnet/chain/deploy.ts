import { type Address, zeroAddress } from 'viem';
import type { Chain, Market, Token } from '../../src/catalog/index.ts';
import { feedsOf, oracleSeed } from '../seed/oracles.ts';
import { vaultSeeds } from '../seed/vaults.ts';
import type { Construction, DeployContext } from './context.ts';
import { step } from './encode.ts';
import { seededOraclePrice } from './prices.ts';

/** Liquidation LTVs that the protocol offers, in WAD; those of the catalog are among them. */
const LLTVS = ['0', '385', '625', '77', '86', '915', '945', '965', '98'].map((digits) =>
  BigInt(digits.padEnd(18, '0')),
);

/** An oracle's price is scaled by this many places; the quote feed values a loan token at one dollar. */
const ORACLE_DECIMALS = 36;
const QUOTE_DECIMALS = 8;
const QUOTE_UNIT = 10n ** 8n;

/**
 * Deploy the lending side of a chain at the catalog's addresses: Morpho Blue, the interest-rate model, tokens, oracles,
 * vaults with their public allocator where the chain has one, multicall; then create every market of the catalog.
 */
export async function deployLending(context: DeployContext): Promise<void> {
  const { chain, owner, artifacts } = context;
  const { morphoBlue, adaptiveCurveIrm } = chain.contracts;
  await context.construct([
    { address: morphoBlue, contract: 'Morpho', args: [owner] },
    { address: adaptiveCurveIrm, contract: 'AdaptiveCurveIrm', args: [morphoBlue] },
    { address: chain.contracts.multicall3, contract: 'Multicall3' },
    ...chain.tokens.filter((token) => !token.isNative).map((token) => tokenConstruction(context, token)),
    ...oracleConstructions(context),
    ...vaultConstructions(context),
  ]);

  const morpho = (functionName: string, args: readonly unknown[]) =>
    step(artifacts, owner, morphoBlue, 'Morpho', functionName, args);
  await context.send([
    morpho('enableIrm', [adaptiveCurveIrm]),
    ...LLTVS.map((lltv) => morpho('enableLltv', [lltv])),
    ...chain.markets.map((market) => morpho('createMarket', [marketParams(market)])),
  ]);
}

/** The five parameters of a market, in the form of Morpho. */
export function marketParams({ loan, collateral, oracle, irm, lltv }: Chain['markets'][number]) {
  return { loanToken: loan.address, collateralToken: collateral.address, oracle, irm, lltv };
}

/** Name the contract that behaves like a token. */
export function tokenContract(chain: Chain, token: Token): string {
  if (token.resetsApproval) return 'UsdtLikeToken';
  if (token.symbol === chain.wrappedNative?.symbol) return 'WrappedEther';
  if (token.onchainRate === 'str') return 'StrToken';
  return token.onchainRate === 'vsr' ? 'VsrToken' : 'TestToken';
}

function tokenConstruction({ chain, owner }: DeployContext, token: Token): Construction {
  const { address, name, symbol, decimals } = token;
  return { address, contract: tokenContract(chain, token), args: [name, symbol, decimals, owner] };
}

function oracleConstructions({ chain, owner }: DeployContext): Construction[] {
  // Markets of one pair may share an oracle.
  const byAddress = new Map(chain.markets.map((market) => [market.oracle, market]));
  return [...byAddress.values()].flatMap((market) => oracleOf(market, owner));
}

/** An oracle, and the feeds behind it where it has some. The base feed's answer carries all places of the price. */
function oracleOf(market: Market, owner: Address): Construction[] {
  const { oracle: address, collateral, loan } = market;
  const seed = oracleSeed(market);
  const price = seededOraclePrice(market);
  if (seed.kind === 'opaque') return [{ address, contract: 'SettableOracle', args: [price, owner] }];
  if (seed.kind === 'rate') {
    return [
      { address, contract: 'FeedOracle', args: [1n, zeroAddress, zeroAddress, collateral.address, price, owner] },
    ];
  }
  const { base, quote } = feedsOf(market);
  const isQuoted = seed.quoteHeartbeatSec !== undefined;
  const decimals = ORACLE_DECIMALS + loan.decimals - collateral.decimals;
  const feed = (at: Address, description: string, ...args: readonly unknown[]): Construction => ({
    address: at,
    contract: 'PriceFeed',
    args: [description, ...args, owner],
  });
  return [
    feed(base, `${collateral.symbol} / ${isQuoted ? 'USD' : loan.symbol}`, decimals, seed.heartbeatSec, price),
    ...(isQuoted ? [feed(quote, `${loan.symbol} / USD`, QUOTE_DECIMALS, seed.quoteHeartbeatSec, QUOTE_UNIT)] : []),
    {
      address,
      contract: 'FeedOracle',
      args: [isQuoted ? QUOTE_UNIT : 1n, base, isQuoted ? quote : zeroAddress, zeroAddress, 0n, owner],
    },
  ];
}

function vaultConstructions({ chain, owner }: DeployContext): Construction[] {
  const { publicAllocator, morphoBlue } = chain.contracts;
  if (publicAllocator === undefined) return [];
  const vaults = vaultSeeds.filter(({ chainId }) => chainId === chain.chainId);
  return [
    { address: publicAllocator, contract: 'PublicAllocator', args: [morphoBlue] },
    ...vaults.map(({ address, name, symbol, loan }) => {
      const asset = chain.tokens.find((token) => token.symbol === loan);
      if (asset === undefined)
        throw new Error(`devnet/seed/vaults.ts: ${symbol} lends ${loan}, which is not in the catalog`);
      return { address, contract: 'Vault', args: [morphoBlue, asset.address, name, symbol, owner] };
    }),
  ];
}
