import type { EquityVault } from '../../catalog/types.ts';
import type { LoopMatch } from '../../domain/equity/loops.ts';
import type { HeldPosition } from '../../domain/position/types.ts';
import { BadRequestError } from '../../shared/errors.ts';
import { NAMES } from '../../shared/names.ts';
import type { Issue } from '../types.ts';
import { AmbiguousYieldLoopsError } from './errors.ts';

export interface LoopChoice {
  readonly vault: EquityVault;
  readonly match: LoopMatch;
  /** The wallet's open positions that belong to no other vault. */
  readonly own: readonly HeldPosition[];
  /** The loops that the request names; absent = none is named. */
  readonly requested?: readonly number[] | undefined;
}

const FIELD = 'yieldPositionIds';

/**
 * Say which loops an exit closes: those that the wallet named, else the vault's own. Named loops must be the vault's own
 * or candidates for it; where nothing is known to be its own, any open loop of its yield market may be named.
 * @throws AmbiguousYieldLoopsError when nothing is named and the match is ambiguous
 * @throws BadRequestError for a loop that cannot be the vault's, is named twice or holds nothing any more
 */
export function selectLoops({ vault, match, own, requested }: LoopChoice): readonly HeldPosition[] {
  const live = liveLoops(vault, own);
  const liveOf = (ids: readonly number[]) => live.filter(({ id }) => ids.includes(id));
  if (requested === undefined) {
    if (match.match === 'ambiguous') {
      throw new AmbiguousYieldLoopsError({ field: FIELD, vaultId: vault.id, yieldPositionIds: match.candidateIds });
    }
    return liveOf(match.loopIds);
  }
  const allowed =
    match.match === 'none' ? live : liveOf(match.match === 'ambiguous' ? match.candidateIds : match.loopIds);
  const allowedIds = allowed.map(({ id }) => id).toSorted((a, b) => a - b);
  const hint =
    allowedIds.length === 0 ? 'Leave the field out: no loop can be its own.' : `Send some of ${allowedIds.join(', ')}.`;
  if (requested.length === 0) {
    throw new BadRequestError(`${NAMES.input(FIELD)} is empty. ${hint}`, {
      field: FIELD,
      limit: { oneOf: allowedIds },
    });
  }
  const named = new Set<number>();
  for (const id of requested) {
    const refuse = (why: string) =>
      new BadRequestError(`${NAMES.input(FIELD)}: ${why} ${hint}`, {
        field: FIELD,
        value: String(id),
        limit: { oneOf: allowedIds },
      });
    if (named.has(id)) throw refuse(`${id} is named twice.`);
    named.add(id);
    if (!allowedIds.includes(id)) throw refuse(`position ${id} is not an open yield loop of this vault.`);
  }
  return requested.flatMap((id) => allowed.filter((held) => held.id === id));
}

/**
 * Report the open loops of the yield market that an exit leaves because none is known to be the vault's own, as after one of
 * several was closed by itself. Nothing was named, so the signer may take it for a whole exit.
 */
export function leftLoopIssues({ vault, match, own, requested }: LoopChoice): readonly Issue[] {
  if (requested !== undefined || match.match !== 'none') return [];
  const why = "no loop is known to be the vault's own. To close one with the vault, name it in the request.";
  return stayOpen(liveLoops(vault, own), why);
}

/** Report the loops of the vault that an exit leaves because they are under water. */
export function sunkLoopIssues(loops: readonly HeldPosition[]): readonly Issue[] {
  return stayOpen(loops, 'under water, it is worth less than it owes, and nobody has to pay the difference.');
}

function stayOpen(loops: readonly HeldPosition[], why: string): readonly Issue[] {
  if (loops.length === 0) return [];
  const ids = loops.map(({ id }) => id).toSorted((a, b) => a - b);
  const open = `${ids.length === 1 ? 'position' : 'positions'} ${ids.join(', ')}`;
  const message = `This exit leaves the open ${open} on the yield market of the vault, with debt: ${why}`;
  return [{ kind: 'LOOPS_STAY_OPEN', message }];
}

function liveLoops(vault: EquityVault, own: readonly HeldPosition[]): readonly HeldPosition[] {
  return own.filter(({ open, collateral, marketId }) => open && collateral > 0n && marketId === vault.yieldMarket.id);
}
