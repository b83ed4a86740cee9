import type { NodeCapabilities } from '../../chain/rpc/capabilities.ts';
import type { Line, LineMaker } from '../core/types.ts';

/** Below this gas limit the multicalls of readings run out of gas. */
const LEAST_CALL_GAS = 30_000_000n;

/** Judge a node by the capabilities that the service uses. */
export function describeCapabilities(make: LineMaker, can: NodeCapabilities): readonly Line[] {
  return [simulations(make, can), batches(make, can), gas(make, can), naming(make, can), others(make, can)];
}

function simulations(make: LineMaker, { simulateV1, stateOverrides }: NodeCapabilities): Line {
  const shown = `eth_simulateV1 ${simulateV1}, code overrides ${stateOverrides}`;
  if (simulateV1 === 'works' || stateOverrides === 'works') return make.ok('simulation', shown);
  if (simulateV1 === 'unknown' || stateOverrides === 'unknown') {
    return make.warning(
      'simulation',
      `${shown}: it did not answer to every probe`,
      'Check again; if it stays so, see its quota.',
    );
  }
  return make.failure(
    'simulation',
    `${shown}: transactions cannot be tried out, and what adds risk is refused`,
    'Use another node (docs/operations.md, Nodes), or another plan of this one.',
  );
}

function batches(make: LineMaker, { batchSize }: NodeCapabilities): Line {
  if (batchSize === null)
    return make.warning('batches', 'it did not say what it takes at once', 'Check again; see its quota.');
  return batchSize === 1
    ? make.warning(
        'batches',
        'takes no batches: every request of a reading goes alone, and counts alone',
        'Use a node that takes batches, or a plan with as many requests a second as a reading has.',
      )
    : make.ok('batches', `takes batches of ${batchSize}`);
}

function gas(make: LineMaker, { callGas }: NodeCapabilities): Line {
  if (callGas === null) return make.ok('call_gas', 'gas of a call is not told');
  const shown = `${callGas / 1_000_000n} million gas for a call`;
  return callGas < LEAST_CALL_GAS
    ? make.warning(
        'call_gas',
        `${shown}: readings of many markets may end for lack of it`,
        'Raise it (geth: --rpc.gascap), or use another node.',
      )
    : make.ok('call_gas', shown);
}

function naming(make: LineMaker, { blockHash }: NodeCapabilities): Line {
  return blockHash === 'works'
    ? make.ok('block_hash', 'blocks can be named by hash')
    : make.warning(
        'block_hash',
        `blocks cannot be named by hash (${blockHash}): a reading may mix two forks`,
        'Use a node that knows EIP-1898.',
      );
}

/** Capabilities that the service does not depend on: listed, never a failure. */
function others(make: LineMaker, { blockTags, logRange }: NodeCapabilities): Line {
  const logs = logRange === null ? 'logs unknown' : `logs of ${logRange} blocks`;
  return make.ok('extras', `safe ${blockTags.safe}, finalized ${blockTags.finalized}, ${logs}`);
}
