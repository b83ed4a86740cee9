import type { NodeCapabilities } from '../../src/chain/rpc/capabilities.ts';
import type { Line, LineMaker } from '../core/types.ts';

/** Below this gas limit the multicalls of readings run out of gas. */
const MIN_CALL_GAS = 30_000_000n;

/** Judge a node by the capabilities that the service uses. */
export function describeCapabilities(make: LineMaker, can: NodeCapabilities): readonly Line[] {
  return [simulations(make, can), batches(make, can), gas(make, can), naming(make, can), others(make, can)];
}

function simulations(make: LineMaker, { simulateV1, stateOverrides }: NodeCapabilities): Line {
  const found = `eth_simulateV1 ${simulateV1}, code overrides ${stateOverrides}`;
  if (simulateV1 === 'works' || stateOverrides === 'works') return make.ok('simulation', found);
  if (simulateV1 === 'unknown' || stateOverrides === 'unknown') {
    return make.warning(
      'simulation',
      `${found}: it did not answer every probe`,
      'Run the check again; if it persists, check its quota.',
    );
  }
  return make.failure(
    'simulation',
    `${found}: transactions cannot be simulated, and actions that add risk are refused`,
    'Use another node (docs/upstreams.md, Nodes), or another plan of this one.',
  );
}

function batches(make: LineMaker, { batchSize }: NodeCapabilities): Line {
  if (batchSize === null)
    return make.warning('batches', 'it did not answer the probe of batches', 'Run the check again; check its quota.');
  return batchSize === 1
    ? make.warning(
        'batches',
        'supports no batches: every call of a reading is a separate request',
        'Use a node with batches, or a plan that allows all requests of a reading in a second.',
      )
    : make.ok('batches', `supports batches of ${batchSize}`);
}

function gas(make: LineMaker, { callGas }: NodeCapabilities): Line {
  if (callGas === null) return make.ok('call_gas', 'the gas of a call is unknown');
  const found = `${callGas / 1_000_000n} million gas for a call`;
  return callGas < MIN_CALL_GAS
    ? make.warning(
        'call_gas',
        `${found}: readings of many markets may run out of gas`,
        'Raise it (geth: --rpc.gascap), or use another node.',
      )
    : make.ok('call_gas', found);
}

function naming(make: LineMaker, { blockHash }: NodeCapabilities): Line {
  return blockHash === 'works'
    ? make.ok('block_hash', 'blocks can be named by hash')
    : make.warning(
        'block_hash',
        `blocks cannot be named by hash (${blockHash}): a reading may mix two forks`,
        'Use a node that supports EIP-1898.',
      );
}

/** Capabilities that the service does not depend on: listed, never a failure. */
function others(make: LineMaker, { blockTags, logRange }: NodeCapabilities): Line {
  const logs = logRange === null ? 'logs unknown' : `logs of ${logRange} blocks`;
  return make.ok('extras', `safe ${blockTags.safe}, finalized ${blockTags.finalized}, ${logs}`);
}
