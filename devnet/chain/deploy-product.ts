import { type Address, parseAbi, parseEther, parseUnits, zeroAddress } from 'viem';
import { encodeFunctionData } from '../../src/abi/calldata.ts';
import { flashLeverageAbi } from '../../src/abi/flash-leverage.ts';
import type { Market, SwapSource, Token } from '../../src/catalog/index.ts';
import { swapVenueAbi } from '../abi/swap-venue.ts';
import { TREASURY } from '../seed/accounts.ts';
import type { DeploymentSettings } from '../seed/deployment.ts';
import { tokenSeed } from '../seed/tokens.ts';
import { collateralDepthUsd, VENUE_INVENTORY, VENUE_NATIVE_INVENTORY, venueSeeds } from '../seed/venues.ts';
import type { DeployContext, Transaction } from './context.ts';

const mintAbi = parseAbi(['function mint(address to, uint256 amount)']);

interface Venue {
  readonly source: SwapSource;
  readonly address: Address;
}

/**
 * Deploy the product's contracts and the swap venues at the catalog's addresses and wire them: every loop market supported,
 * the venues allowed as swap routers, the product's routers approved as operators, the venues priced and stocked.
 * The lending side (tokens, oracles, markets) has to be deployed before.
 */
export async function deployProduct(ctx: DeployContext, settings: DeploymentSettings): Promise<void> {
  const { chain, owner, client } = ctx;
  const { flashLeverage, flashLeverageRouter, equityRouter, morphoBlue, publicAllocator } = chain.contracts;
  const venues = venuesOf(ctx);
  await ctx.construct([
    {
      address: flashLeverage,
      contract: 'FlashLeverage',
      args: [owner, morphoBlue, TREASURY, settings.liquidationBuffer],
    },
    {
      address: flashLeverageRouter,
      contract: 'FlashLeverageRouter',
      args: [morphoBlue, flashLeverage, publicAllocator ?? zeroAddress],
    },
    ...(equityRouter === undefined
      ? []
      : [{ address: equityRouter, contract: 'EquityRouter', args: [morphoBlue, flashLeverage] }]),
    ...venues.map(({ source, address }) => ({
      address,
      contract: 'SwapVenue',
      args: [owner, venueSeeds[source].feeBps],
    })),
  ]);
  await Promise.all(
    venues.map(({ address }) => client.setBalance({ address, value: parseEther(VENUE_NATIVE_INVENTORY.toString()) })),
  );
  await ctx.send([...wireFlashLeverage(ctx, venues, settings), ...venues.flatMap((venue) => stockVenue(ctx, venue))]);
}

function venuesOf({ chain }: DeployContext): Venue[] {
  return Object.entries(chain.swapRouters).flatMap(([source, addresses]) =>
    (addresses ?? []).map((address) => ({ source: source as SwapSource, address })),
  );
}

function wireFlashLeverage(
  { chain, owner }: DeployContext,
  venues: readonly Venue[],
  { yieldFee, depositFee }: DeploymentSettings,
): Transaction[] {
  const { flashLeverage, flashLeverageRouter, equityRouter } = chain.contracts;
  const call = (label: string, data: Transaction['data']): Transaction => ({
    from: owner,
    to: flashLeverage,
    data,
    label,
  });
  const markets = chain.markets.filter(({ kind }) => kind === 'loop');
  const operators = [flashLeverageRouter, ...(equityRouter === undefined ? [] : [equityRouter])];
  const set = (functionName: 'updateYieldFee' | 'updateDepositFee', fee: bigint) =>
    call(functionName, encodeFunctionData({ abi: flashLeverageAbi, functionName, args: [fee] }));
  return [
    set('updateYieldFee', yieldFee),
    set('updateDepositFee', depositFee),
    call(
      'support markets',
      encodeFunctionData({
        abi: flashLeverageAbi,
        functionName: 'addSupportedMarkets',
        args: [markets.map(({ id, correlated }) => ({ marketId: id, isCorrelated: correlated }))],
      }),
    ),
    ...venues.map(({ source, address }) =>
      call(
        `allow ${source}`,
        encodeFunctionData({ abi: flashLeverageAbi, functionName: 'setSwapRouter', args: [address, true] }),
      ),
    ),
    ...operators.map((operator) =>
      call(
        `approve operator ${operator}`,
        encodeFunctionData({ abi: flashLeverageAbi, functionName: 'setApprovedOperator', args: [operator, true] }),
      ),
    ),
  ];
}

function stockVenue({ chain, owner }: DeployContext, { source, address }: Venue): Transaction[] {
  const tokens = chain.tokens.filter(({ noSwapRoute }) => !noSwapRoute);
  const followed = followedMarkets(chain.markets);
  const followers = new Set(followed.map(({ collateral }) => collateral.address));
  const depthOf = ({ chainId, symbol }: Token): bigint =>
    (parseUnits(collateralDepthUsd(chainId, symbol).toString(), 18) * venueSeeds[source].depthPct) / 100n;
  return [
    {
      from: owner,
      to: address,
      label: `price tokens at ${source}`,
      data: encodeFunctionData({
        abi: swapVenueAbi,
        functionName: 'setPrices',
        args: [
          tokens.map((token) => ({
            token: token.address,
            usdPerToken: followers.has(token.address)
              ? 0n
              : parseUnits(tokenSeed(token.chainId, token.symbol).usdPrice, 18),
            depthUsd: followers.has(token.address) ? depthOf(token) : 0n,
          })),
        ],
      }),
    },
    {
      from: owner,
      to: address,
      label: `follow oracles at ${source}`,
      data: encodeFunctionData({
        abi: swapVenueAbi,
        functionName: 'followOracles',
        args: [
          followed.map(({ collateral, loan, oracle }) => ({
            base: collateral.address,
            quote: loan.address,
            oracle,
          })),
        ],
      }),
    },
    ...tokens
      .filter(({ isNative }) => !isNative)
      .map((token) => ({
        from: owner,
        to: token.address,
        label: `stock ${token.symbol} at ${source}`,
        data: encodeFunctionData({
          abi: mintAbi,
          functionName: 'mint',
          args: [address, VENUE_INVENTORY * 10n ** BigInt(token.decimals)],
        }),
      })),
  ];
}

/** One market per traded pair: the first listed one, so that its oracle is the pair's price. */
function followedMarkets(markets: readonly Market[]): Market[] {
  const pairs = new Map<string, Market>();
  for (const market of markets) {
    if (market.collateral.noSwapRoute) continue;
    const pair = `${market.collateral.address}/${market.loan.address}`;
    if (!pairs.has(pair)) pairs.set(pair, market);
  }
  return [...pairs.values()];
}
