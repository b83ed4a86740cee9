import { morphoBlueAbi } from '../abi/index.ts';
import { methodsOf } from './calldata.ts';
import { VerificationError } from './errors.ts';
import { addressOf } from './plan.ts';
import { type Proof, requireSameAddress, shown, takeDecoded } from './proof.ts';
import type { RevokeIntent } from './types.ts';

const AUTHORIZE = methodsOf(morphoBlueAbi, ['setAuthorization']);

/**
 * Prove one call of a contract that may act on the wallet's lending positions while it runs, and no longer: its grant is right
 * before it and its revoke right behind it. @throws VerificationError
 */
export function proveWhileAuthorized(proof: Proof, authorized: string, prove: () => void): void {
  const first = takeAuthorization(proof, authorized);
  if (!first.isGranted) {
    proof.sentences.push(`Revokes an authorization of ${shown(authorized)} that an earlier batch has left.`);
    const second = takeAuthorization(proof, authorized);
    if (!second.isGranted) {
      throw new VerificationError(
        'authorization',
        'it revokes an authorization that the call before it has revoked.',
        second.index,
      );
    }
  }
  prove();
  const last = takeAuthorization(proof, authorized);
  if (last.isGranted) {
    const message = `it lets ${shown(authorized)} act on the wallet's lending positions, and a revoke was expected.`;
    throw new VerificationError('authorization', message, last.index);
  }
  proof.authorizes.push({ kind: 'morpho', authorized: shown(authorized), until: { callIndex: last.index } });
  proof.sentences.push(
    `Lets ${shown(authorized)} act on the wallet's own lending positions for that call; call ${last.index + 1} revokes it. If the calls are not sent together, the last one has to be sent all the same.`,
  );
}

/** @throws VerificationError */
export function proveRevoke(proof: Proof, intent: RevokeIntent): void {
  const authorized = addressOf(intent.authorized, 'authorized');
  const { index, isGranted } = takeAuthorization(proof, authorized);
  if (isGranted) {
    throw new VerificationError(
      'authorization',
      `it authorizes ${shown(authorized)}, and a revoke was asked for.`,
      index,
    );
  }
  proof.sentences.push(`Takes the right to act on the wallet's lending positions from ${shown(authorized)}.`);
}

function takeAuthorization(proof: Proof, authorized: string): { index: number; isGranted: boolean } {
  const { index, decoded } = takeDecoded(proof, proof.chain.contracts.morphoBlue, 'Morpho Blue', AUTHORIZE);
  const [given, isGranted] = decoded.args;
  requireSameAddress(index, 'authorization', 'it is about the rights of', given, authorized);
  return { index, isGranted };
}
