import { type Address, encodeAbiParameters, type Hex, keccak256, maxUint256, numberToHex, parseEther } from 'viem';
import type { Chain, Market, Token } from '../../src/catalog/index.ts';
import { Decimal, toUnits } from '../../src/shared/decimal.ts';
import { accounts, BORROWER, DEV_BALANCE_USD, LENDER } from '../seed/accounts.ts';
import { marketKey, marketSeed } from '../seed/markets.ts';
import { tokenSeed } from '../seed/tokens.ts';
import { FLOW_CAP_PCT, type VaultSeed, vaultSeeds } from '../seed/vaults.ts';
import type { DeployContext, Transaction } from './context.ts';
import { marketParams, tokenContract } from './deploy.ts';
import { step } from './encode.ts';
import { seededOraclePrice } from './prices.ts';

/** LTV of seeded borrowers as a share of the liquidation LTV, percent: healthy after a common move of prices. */
const BORROWER_LTV_PCT = 80n;
const SECONDS_PER_YEAR = 31_536_000;
/** `AdaptiveCurveIrm.rateAtTarget` is its first storage variable. */
const RATE_AT_TARGET_SLOT = 0n;

/**
 * Seed a deployed chain: balances for the development accounts, supply (direct and through vaults), debt and
 * rates of every market by the tables in `devnet/seed/`. Deterministic except for the time of the blocks.
 */
export async function seedLending(context: DeployContext): Promise<void> {
  const { chain, client } = context;
  const plans = chain.markets.map(planMarket);
  const vaults =
    chain.contracts.publicAllocator === undefined ? [] : vaultSeeds.filter((seed) => seed.chainId === chain.chainId);
  const funded = vaults.map((vault) => planVault(chain, vault, plans));

  await context.send([
    ...mintSteps(context),
    ...fundSteps(context, plans, funded),
    ...funded.flatMap((v) => setUpVault(context, v)),
  ]);
  await context.send([...supplySteps(context, plans, funded), ...funded.flatMap((v) => spreadVault(context, v))]);
  await context.send(borrowSteps(context, plans));
  await Promise.all([
    ...plans.map(({ market, rateAtTarget }) =>
      client.setStorageAt({
        address: market.irm,
        index: rateAtTargetSlot(market.id),
        value: numberToHex(rateAtTarget, { size: 32 }),
      }),
    ),
    ...backWrappedEther(context),
  ]);
}

interface MarketPlan {
  readonly market: Market;
  readonly supplied: bigint;
  readonly borrowed: bigint;
  readonly collateral: bigint;
  /** Per second, in WAD. */
  readonly rateAtTarget: bigint;
}

interface VaultPlan {
  readonly vault: VaultSeed;
  readonly asset: Token;
  readonly parts: readonly { readonly plan: MarketPlan; readonly assets: bigint }[];
  readonly total: bigint;
}

function planMarket(market: Market): MarketPlan {
  const seed = marketSeed(market);
  const supplied = toUnits(new Decimal(seed.supplied), market.loan.decimals);
  const borrowed = toUnits(new Decimal(seed.supplied).times(seed.utilizationPct).div(100), market.loan.decimals);
  const value = (borrowed * 10n ** 18n * 100n) / (market.lltv * BORROWER_LTV_PCT);
  return {
    market,
    supplied,
    borrowed,
    collateral: (value * 10n ** 36n) / seededOraclePrice(market) + 1n,
    rateAtTarget: toUnits(new Decimal(seed.targetRatePct).div(100).div(SECONDS_PER_YEAR), 18),
  };
}

function planVault(chain: Chain, vault: VaultSeed, plans: readonly MarketPlan[]): VaultPlan {
  const parts = Object.entries(vault.supplySharePct).flatMap(([key, sharePct]) => {
    // A market that only the overlay brings may be absent.
    const plan = plans.find(({ market }) => marketKey(market) === key);
    return plan === undefined ? [] : [{ plan, assets: (plan.supplied * BigInt(sharePct)) / 100n }];
  });
  const asset = chain.tokens.find((token) => token.symbol === vault.loan);
  if (asset === undefined || parts.some(({ plan }) => plan.market.loan.symbol !== vault.loan)) {
    throw new Error(`devnet/seed/vaults.ts: ${vault.symbol} lists a market that does not lend ${vault.loan}`);
  }
  return { vault, asset, parts, total: parts.reduce((sum, { assets }) => sum + assets, 0n) };
}

function mintSteps({ chain, owner, artifacts }: DeployContext): Transaction[] {
  const holders = accounts.map(({ address }) => address);
  return chain.tokens.flatMap((token) => {
    if (token.isNative) return [];
    const seed = tokenSeed(chain.chainId, token.symbol);
    const contract = tokenContract(chain, token);
    const whole = new Decimal(DEV_BALANCE_USD).div(seed.usdPrice).integerValue(Decimal.ROUND_UP);
    const mint = step(artifacts, owner, token.address, contract, 'mintEach', [holders, toUnits(whole, token.decimals)]);
    if (token.onchainRate === undefined) return [mint];
    if (seed.perSecondRateRay === undefined)
      throw new Error(`devnet/seed/tokens.ts: ${token.symbol} needs perSecondRateRay`);
    return [mint, step(artifacts, owner, token.address, contract, 'setRate', [BigInt(seed.perSecondRateRay)])];
  });
}

/** Give the lender, the borrower and the vaults' depositor (the owner) their tokens, and approve Morpho. */
function fundSteps(context: DeployContext, plans: readonly MarketPlan[], vaults: readonly VaultPlan[]): Transaction[] {
  const { chain, owner, artifacts } = context;
  const { morphoBlue } = chain.contracts;
  const mint = (token: Token, to: Address, amount: bigint) =>
    step(artifacts, owner, token.address, tokenContract(chain, token), 'mint', [to, amount]);
  const approve = (token: Token, from: Address, spender: Address) =>
    step(artifacts, from, token.address, tokenContract(chain, token), 'approve', [spender, maxUint256]);
  const loans = new Set(plans.map(({ market }) => market.loan));
  const collaterals = new Set(plans.map(({ market }) => market.collateral));
  return [
    ...plans.flatMap(({ market, supplied, collateral }) => [
      mint(market.loan, LENDER, supplied), // the part that vaults supply stays with the lender, unused
      mint(market.collateral, BORROWER, collateral),
    ]),
    ...[...loans].map((token) => approve(token, LENDER, morphoBlue)),
    ...[...collaterals].map((token) => approve(token, BORROWER, morphoBlue)),
    ...vaults.flatMap(({ vault, asset, total }) => [mint(asset, owner, total), approve(asset, owner, vault.address)]),
  ];
}

function setUpVault({ chain, owner, artifacts }: DeployContext, { vault, parts }: VaultPlan): Transaction[] {
  const allocator = chain.contracts.publicAllocator;
  if (allocator === undefined) return [];
  const caps = parts.map(({ plan }) => {
    const cap = (plan.supplied * FLOW_CAP_PCT) / 100n;
    return { id: plan.market.id, caps: { maxIn: cap, maxOut: cap } };
  });
  const onVault = (functionName: string, args: readonly unknown[]) =>
    step(artifacts, owner, vault.address, 'Vault', functionName, args);
  const onAllocator = (functionName: string, args: readonly unknown[]) =>
    step(artifacts, owner, allocator, 'PublicAllocator', functionName, args);
  return [
    ...parts.map(({ plan }) => onVault('enableMarket', [marketParams(plan.market), 2n ** 184n - 1n])),
    onVault('setIsAllocator', [allocator, true]),
    onAllocator('setFee', [vault.address, vault.feeWei]),
    onAllocator('setFlowCaps', [vault.address, caps]),
  ];
}

function supplySteps(
  context: DeployContext,
  plans: readonly MarketPlan[],
  vaults: readonly VaultPlan[],
): Transaction[] {
  const { chain, artifacts } = context;
  return plans.map((plan) => {
    const throughVaults = vaults.flatMap(({ parts }) => parts.filter((part) => part.plan === plan));
    const direct = throughVaults.reduce((rest, { assets }) => rest - assets, plan.supplied);
    if (direct <= 0n)
      throw new Error(`devnet/seed/vaults.ts: the shares of ${marketKey(plan.market)} sum to 100 % or more`);
    const args = [marketParams(plan.market), direct, 0n, LENDER, '0x'];
    return step(artifacts, LENDER, chain.contracts.morphoBlue, 'Morpho', 'supply', args);
  });
}

/** A deposit enters the vault's first market; from there it is spread, beginning with the withdrawal from the first market. */
function spreadVault({ owner, artifacts }: DeployContext, { vault, parts, total }: VaultPlan): Transaction[] {
  const allocations = parts.map(({ plan, assets }) => ({ marketParams: marketParams(plan.market), assets }));
  const last = allocations.at(-1);
  if (last === undefined) return [];
  // Rounding of shares may leave a unit more or less: the last market takes the rest.
  const spread = [...allocations.slice(0, -1), { ...last, assets: maxUint256 }];
  return [
    step(artifacts, owner, vault.address, 'Vault', 'deposit', [total, owner]),
    step(artifacts, owner, vault.address, 'Vault', 'reallocate', [spread]),
  ];
}

function borrowSteps({ chain, artifacts }: DeployContext, plans: readonly MarketPlan[]): Transaction[] {
  return plans.flatMap(({ market, collateral, borrowed }) => {
    const call = (functionName: string, args: readonly unknown[]) =>
      step(artifacts, BORROWER, chain.contracts.morphoBlue, 'Morpho', functionName, [marketParams(market), ...args]);
    return [call('supplyCollateral', [collateral, BORROWER, '0x']), call('borrow', [borrowed, 0n, BORROWER, BORROWER])];
  });
}

/** Locate a market's `rateAtTarget` in the storage of `AdaptiveCurveIrm`. */
export function rateAtTargetSlot(id: Hex): Hex {
  return keccak256(encodeAbiParameters([{ type: 'bytes32' }, { type: 'uint256' }], [id, RATE_AT_TARGET_SLOT]));
}

/** Minted wrapped ether can be unwrapped only if the contract holds the ether. */
function backWrappedEther({ chain, client }: DeployContext): Promise<void>[] {
  if (chain.wrappedNative === undefined) return [];
  return [client.setBalance({ address: chain.wrappedNative.address, value: parseEther('10000000') })];
}
