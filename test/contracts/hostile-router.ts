import { type Address, decodeErrorResult, encodeDeployData, getContractAddress, type Hex, parseAbi } from 'viem';
import { artifactOf, compileContracts } from '../../devnet/chain/compile.ts';
import { sendMined } from '../../devnet/chain/receipt.ts';
import { encodeFunctionData } from '../../src/abi/calldata.ts';
import { mallory, OWNER, productErrors, type World } from './world.ts';

export const hostileRouterAbi = parseAbi([
  'function reenter(address target, bytes data) payable',
  'function take(address tokenIn, uint256 amountIn)',
  'function fill(address tokenIn, uint256 amountIn, address tokenOut, uint256 amountOut) payable',
]);

/** The creation code of a contract with its arguments. */
export async function creationOf(contract: string, args: readonly unknown[] = []): Promise<Hex> {
  const { abi, bytecode } = artifactOf(await compileContracts(), contract);
  return encodeDeployData({ abi, bytecode, args });
}

/** Deploy a contract from an unrelated account. */
export async function deploy({ client }: World, contract: string, args?: readonly unknown[]): Promise<Address> {
  const nonce = await client.getTransactionCount({ address: mallory });
  await client.impersonateAccount({ address: mallory });
  await sendMined(client, { from: mallory, data: await creationOf(contract, args) });
  return getContractAddress({ from: mallory, nonce: BigInt(nonce) });
}

/** Deploy the hostile swap router, and let the contract's owner allow it. */
export async function allowHostileRouter(world: World): Promise<Address> {
  const hostile = await deploy(world, 'HostileRouter');
  await world.chain.call(OWNER, world.flashLeverage, 'FlashLeverage', 'setSwapRouter', [hostile, true]);
  return hostile;
}

interface Frame {
  readonly error?: string;
  readonly output?: Hex;
  readonly calls?: readonly Frame[];
}

/** The error of the innermost call that failed: the product's contracts do not pass on why a swap router did. */
export async function innerReason(
  { client }: World,
  { from, to, data }: { from: Address; to: Address; data: Hex },
): Promise<string | undefined> {
  const params = [{ from, to, data }, 'latest', { tracer: 'callTracer' }];
  let frame = (await client.request({ method: 'debug_traceCall', params } as never)) as Frame;
  for (;;) {
    const inner = frame.calls?.findLast(({ error }) => error !== undefined);
    if (inner === undefined) break;
    frame = inner;
  }
  return decodeErrorResult({ abi: productErrors, data: frame.output ?? '0x' }).errorName;
}

/** Calldata of the hostile router that calls another contract in the middle of a swap. */
export const reenter = (target: Address, data: Hex): Hex =>
  encodeFunctionData({ abi: hostileRouterAbi, functionName: 'reenter', args: [target, data] });
