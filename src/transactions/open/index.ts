import { formatUnitsPlain } from '../../shared/decimal.ts';
import type { Address } from '../../shared/ids.ts';
import { reallocationFee } from '../build/flash-leverage-router.ts';
import type { BuilderDeps } from '../deps.ts';
import { requireChainOf, requireSigner } from '../guards.ts';
import { formatAmount } from '../messages.ts';
import { completePlan, type Plan } from '../plan.ts';
import { withVenues } from '../quote/attempts.ts';
import { deploymentNotes } from '../read/deployment.ts';
import type { OpenTerms } from '../types.ts';
import { buildOpen } from './build.ts';
import { type OpenInput, type PreparedOpen, prepareOpen } from './prepare.ts';

import type { OpenRequest } from './terms.ts';

export type { OpenInput, PreparedOpen } from './prepare.ts';

/**
 * Build the unsigned open of a position for the user who will sign it.
 * @throws as `prepareOpen`, and SimulationRevertedError, SimulationMismatchError
 */
export async function buildOpenPlan(deps: BuilderDeps, input: OpenInput, user: Address): Promise<Plan> {
  requireChainOf(deps.chains, input.chainId);
  requireSigner(deps.chains, user);
  return withVenues(deps, (attempt) => openOnce(attempt, input, user));
}

async function openOnce(deps: BuilderDeps, input: OpenInput, user: Address): Promise<Plan> {
  const prepared = await prepareOpen(deps, input, user);
  const { request, terms, slippage, live, wallet, issues } = prepared;
  const { chain, market, payToken, amountIn } = request;
  if (!wallet) throw new Error('the wallet was not read');
  const bundle = buildOpen(chain, market, terms, user, wallet);
  return completePlan(deps, {
    chain,
    market,
    user,
    action: 'open_leverage',
    path: terms.path,
    ...bundle,
    live,
    wallet,
    pays: { token: payToken, amount: amountIn },
    swaps: [...(terms.entrySwap ? [terms.entrySwap] : []), terms.leverageSwap],
    slippage,
    preview: terms.preview,
    amountFlashLoan: terms.amountFlashLoan,
    debtChange: terms.amountFlashLoan,
    moved: prepared.moved,
    notes: feeNotes(prepared),
    issues,
    link: {
      strategyId: terms.strategyId,
      payToken: payToken.address,
      amount: formatUnitsPlain(amountIn, payToken.decimals),
      [request.requested.field]: request.requested.value,
    },
    bounds: request,
    terms,
  });
}

/** Name the costs beside the swaps, and the defaults in place of facts of the contract. */
export function feeNotes({ terms, request, deployment }: PreparedOpen): readonly string[] {
  const { collateral } = request.market;
  return [
    ...reallocationNotes(terms, request),
    ...(terms.depositFee === 0n
      ? []
      : [
          `The contract takes ${terms.entrySwap ? 'about ' : ''}${formatAmount(terms.depositFee, collateral)} of the collateral as its deposit fee.`,
        ]),
    ...deploymentNotes(deployment),
  ];
}

/** Name the fee of a reallocation: it travels in the transaction's value. */
function reallocationNotes(terms: OpenTerms, request: OpenRequest): readonly string[] {
  if (terms.reallocations.length === 0) return [];
  const wei = reallocationFee(terms.reallocations);
  const { native, contracts } = request.chain;
  if (!contracts.publicAllocator) return [];
  return [
    `The market lends less than this needs: ${terms.reallocations.length === 1 ? 'one vault moves' : `${terms.reallocations.length} vaults move`} liquidity into it first, for ${formatUnitsPlain(wei, native.decimals)} ${native.symbol} in the transaction's value.`,
  ];
}

export { prepareOpen };
