import { encodeFunctionResult, getAddress, type Hex, keccak256, numberToHex, pad, zeroAddress } from 'viem';
import { decodeFunctionData } from '../../src/abi/calldata.ts';
import { flashLeverageAbi, userProxyAbi } from '../../src/abi/flash-leverage.ts';
import { morphoBlueAbi } from '../../src/abi/morpho-blue.ts';
import { type Chain, createCatalog, curatedChains } from '../../src/catalog/index.ts';
import { proxyAddress } from '../../src/chain/plans/wallets.ts';
import { createPositionReader, type PositionReader } from '../../src/chain/positions.ts';
import { systemClock } from '../../src/shared/clock.ts';
import type { Address, ChainId, MarketId } from '../../src/shared/ids.ts';
import { fixedNode } from './fixed-node.ts';
import { type Answer, type ScriptedNode, startScriptedNode } from './scripted-node.ts';

export const catalog = createCatalog(curatedChains);

export interface ScriptedPosition {
  readonly marketId: MarketId;
  readonly open: boolean;
  readonly deposited: bigint;
  readonly collateral: bigint;
  readonly borrowShares: bigint;
}

export interface PositionWorld {
  readonly node: ScriptedNode;
  readonly chain: Chain;
  readonly reader: PositionReader;
  /** HTTP requests since the last reset. */
  requests: number;
  /** Calls to `s_user` since the last reset. */
  ownerReads: number;
  genesisHash: Hex;
  /** Number of final contracts. */
  finalCount: number;
  /** Wallets that let the equity router act for them, and proxies in manual mode. */
  readonly authorized: Set<Address>;
  readonly manual: Set<Address>;
  /** Whether both views do not answer. */
  silent: boolean;
  /** Open a position: the next proxy of FlashLeverage is its wallet's. */
  open(wallet: Address, position?: Partial<ScriptedPosition>): void;
  /** A wallet's own position on a market. */
  hold(wallet: Address, marketId: MarketId, amounts: { collateral: bigint; borrowShares: bigint }): void;
  /** Give the proxy of a nonce another owner. */
  reorganize(nonce: number, wallet: Address): void;
  /** Replace a wallet's answer. */
  poison(wallet: Address, answer: Answer): void;
}

export function walletOf(n: number): Address {
  return getAddress(pad(numberToHex(0xabc0000 + n), { size: 20 }));
}

/** A scripted chain: FlashLeverage with any positions, and the necessary part of Morpho. */
export async function startPositionWorld(chainId: ChainId = 1): Promise<PositionWorld> {
  const chain = catalog.chain(chainId);
  if (!chain) throw new Error(`no chain ${chainId}`);
  const { flashLeverage, morphoBlue, multicall3 } = chain.contracts;
  const owners: Address[] = [zeroAddress];
  const arrays = new Map<Address, { position: ScriptedPosition; proxy: Address }[]>();
  const held = new Map<string, { collateral: bigint; borrowShares: bigint }>();
  const poisoned = new Map<Address, Answer>();
  const byProxy = new Map<Address, number>();
  const ofMarkets = new Set(chain.markets.flatMap(({ oracle, irm }) => [oracle, irm]));
  const keyOf = (marketId: MarketId, account: Address) => `${marketId}:${account}`;

  const contracts = (to: Address, data: Hex): Answer => {
    if (to === flashLeverage) {
      const { functionName, args } = decodeFunctionData({ abi: flashLeverageAbi, data });
      if (functionName !== 'getUserLeveragePositions') throw new Error(functionName);
      const [wallet] = args;
      const poison = poisoned.get(wallet);
      if (poison !== undefined) return poison;
      const result = (arrays.get(wallet) ?? []).map(({ position, proxy }) => ({
        open: position.open,
        marketId: position.marketId,
        userProxy: proxy,
        amountDepositedInLoanToken: position.deposited,
        amountReturnedInLoanToken: 0n,
      }));
      return encodeFunctionResult({ abi: flashLeverageAbi, functionName, result });
    }
    if (to === morphoBlue) {
      const { functionName, args } = decodeFunctionData({ abi: morphoBlueAbi, data });
      // The markets are not readable here: wallets are valued with known values.
      if (functionName === 'market') return 'revert';
      if (functionName === 'isAuthorized') {
        if (world.silent) return 'revert';
        const result = world.authorized.has(args[0]);
        return encodeFunctionResult({ abi: morphoBlueAbi, functionName, result });
      }
      if (functionName !== 'position') throw new Error(functionName);
      const amounts = held.get(keyOf(args[0] as MarketId, args[1])) ?? { collateral: 0n, borrowShares: 0n };
      const result = [0n, amounts.borrowShares, amounts.collateral] as const;
      return encodeFunctionResult({ abi: morphoBlueAbi, functionName, result });
    }
    if (ofMarkets.has(to)) return 'revert';
    const nonce = byProxy.get(to);
    if (nonce === undefined) throw new Error(`call to ${to}`);
    const { functionName } = decodeFunctionData({ abi: userProxyAbi, data });
    if (functionName === 's_manualMode') {
      if (world.silent) return 'revert';
      return encodeFunctionResult({ abi: userProxyAbi, functionName, result: world.manual.has(to) });
    }
    world.ownerReads += 1;
    const owner = owners[nonce - 1] ?? zeroAddress;
    return encodeFunctionResult({ abi: userProxyAbi, functionName: 's_user', result: owner });
  };

  const node = await startScriptedNode(multicall3, contracts);
  node.chainId = chainId;
  node.methods.set('eth_getTransactionCount', ([account, block]) => {
    if (account !== flashLeverage) throw new Error(`transaction count of ${account}`);
    if (block === 'finalized') return numberToHex(world.finalCount + 1);
    node.blocks.add(block as string);
    return numberToHex(owners.length + 1);
  });
  node.methods.set('eth_getBlockByNumber', ([block]) => {
    if (block !== '0x0') throw new Error(`block ${block}`);
    return { hash: world.genesisHash };
  });
  byProxy.set(proxyAddress(flashLeverage, 1), 1);

  const nodes = fixedNode({
    chainId,
    rpcUrl: node.url,
    timeoutMs: 5_000,
    onRequest: () => {
      world.requests += 1;
    },
  });
  const world: PositionWorld = {
    node,
    chain,
    reader: createPositionReader({ nodes, clock: systemClock, chain }),
    requests: 0,
    ownerReads: 0,
    genesisHash: keccak256('0x01'),
    finalCount: 1_000_000,
    authorized: new Set(),
    manual: new Set(),
    silent: false,
    open: (wallet, over = {}) => {
      owners.push(wallet);
      const proxy = proxyAddress(flashLeverage, owners.length);
      byProxy.set(proxy, owners.length);
      const marketId = over.marketId ?? (chain.markets[0]?.id as MarketId);
      const position = { marketId, open: true, deposited: 100n, collateral: 1_000n, borrowShares: 700n, ...over };
      const array = arrays.get(wallet) ?? [];
      array.push({ position, proxy });
      arrays.set(wallet, array);
      held.set(keyOf(marketId, proxy), { collateral: position.collateral, borrowShares: position.borrowShares });
    },
    hold: (wallet, marketId, amounts) => held.set(keyOf(marketId, wallet), amounts),
    reorganize: (nonce, wallet) => {
      owners[nonce - 1] = wallet;
    },
    poison: (wallet, answer) => poisoned.set(wallet, answer),
  };
  return world;
}
