import type { Address } from 'viem';
import { keccak256 } from '../hash/keccak.ts';
import type { Places } from './calldata.ts';
import { VerificationError } from './errors.ts';
import { amountOf, differs, NATIVE_TOKEN, type Proof, requireSameAddress, shown } from './proof.ts';
import type { ReallocationLimits, TrustedMarket } from './types.ts';

interface Params {
  readonly loanToken: Address;
  readonly collateralToken: Address;
  readonly oracle: Address;
  readonly irm: Address;
  readonly lltv: bigint;
}

export type Reallocations = readonly {
  readonly vault: string;
  readonly fee: bigint;
  readonly withdrawals: readonly { readonly marketParams: Params; readonly amount: bigint }[];
  readonly supplyMarketParams: Params;
}[];

/**
 * Prove that liquidity is moved by known vaults into the market only, out of other markets of its loan token, for a fee within
 * the limit. Returns the fee in wei. @throws VerificationError
 */
export function proveReallocations(
  proof: Proof,
  call: {
    readonly index: number;
    readonly places: Places;
    readonly reallocations: Reallocations;
    readonly market: TrustedMarket;
  },
  limits: ReallocationLimits | undefined,
): bigint {
  const { index, places, reallocations, market } = call;
  const place = places.reallocateParams;
  if (!place) return 0n;
  if (reallocations.length === 0) throw new VerificationError('reallocation', 'its list of vaults is empty.', index);
  const vaults = (limits?.vaults ?? []).map((vault) => vault.toLowerCase());
  const fee = reallocations.reduce((sum, one) => sum + one.fee, 0n);
  for (const { vault, withdrawals, supplyMarketParams } of reallocations) {
    if (!vaults.includes(vault)) {
      const message = `it moves liquidity of ${shown(vault)}, which is none of the vaults of the intent.`;
      throw new VerificationError('reallocation', message, index);
    }
    requireTarget(index, supplyMarketParams, market);
    requireSources(index, withdrawals, market);
  }
  const text = (wei: bigint) => amountOf(proof, NATIVE_TOKEN, wei).text;
  const most = limits?.maxFee ?? 0n;
  if (fee > most) throw differs(index, 'reallocation', 'it pays vaults', text(fee), `at most ${text(most)}`);
  proof.opaque.push({
    callIndex: index,
    ...place,
    what: 'reallocation',
    because: `The vaults of the intent move their own liquidity into the market, for ${text(fee)}. Nothing of the wallet is part of it.`,
  });
  if (fee > 0n) proof.spends.push(amountOf(proof, NATIVE_TOKEN, fee));
  proof.sentences.push(
    `Moves liquidity of ${reallocations.length === 1 ? 'one vault' : `${reallocations.length} vaults`} into the market first, for ${text(fee)}.`,
  );
  return fee;
}

function requireTarget(index: number, params: Params, market: TrustedMarket): void {
  const names = ['loanToken', 'collateralToken', 'oracle', 'irm'] as const;
  for (const name of names) {
    requireSameAddress(
      index,
      'reallocation',
      `it moves liquidity into a market whose ${name} is`,
      params[name],
      market[name],
    );
  }
  if (params.lltv === BigInt(market.lltv)) return;
  throw differs(
    index,
    'reallocation',
    'it moves liquidity into a market whose lltv is',
    String(params.lltv),
    market.lltv,
  );
}

/** The allocator takes withdrawals by market id, ascending, and none from the market itself. */
function requireSources(index: number, withdrawals: Reallocations[number]['withdrawals'], market: TrustedMarket): void {
  const ids = withdrawals.map(({ marketParams }) => idOf(marketParams));
  const isSorted = ids.every((id, i) => i === 0 || (ids[i - 1] ?? '') < id);
  const isFromOthers = withdrawals.every(
    ({ marketParams, amount }, i) =>
      amount > 0n && ids[i] !== market.id.toLowerCase() && marketParams.loanToken === market.loanToken.toLowerCase(),
  );
  if (isSorted && isFromOthers && ids.length > 0) return;
  const message = 'its withdrawals are not those of other markets of the same loan token, by market id.';
  throw new VerificationError('reallocation', message, index);
}

/** The id of a market is the hash of its five words. */
function idOf({ loanToken, collateralToken, oracle, irm, lltv }: Params): string {
  const words = [loanToken, collateralToken, oracle, irm, lltv].map((value) =>
    BigInt(value).toString(16).padStart(64, '0'),
  );
  return keccak256(Uint8Array.from(words.join('').match(/../g) ?? [], (byte) => Number.parseInt(byte, 16)));
}
