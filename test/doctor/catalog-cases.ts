import { concat, createPublicClient, encodeFunctionData, type Hex, http, keccak256, numberToHex, pad } from 'viem';
import { expect, it } from 'vitest';
import { OWNER } from '../../devnet/seed/accounts.ts';
import { flashLeverageAbi } from '../../src/abi/flash-leverage.ts';
import { createCatalog, curatedChains } from '../../src/catalog/index.ts';
import type { OutsideWorld } from './world.ts';

/** Findings about the catalog, on chains whose contracts were changed. */
export function catalogCases({ doctor, of, look, examine }: OutsideWorld): void {
  const chainOf = (chainId: number) => {
    const found = createCatalog(curatedChains).chain(chainId);
    if (!found) throw new Error('no such chain');
    return found;
  };
  const asOwner = async (chainId: number, functionName: string, args: readonly unknown[] = []) => {
    const to = chainOf(chainId).contracts.flashLeverage as `0x${string}`;
    const data = encodeFunctionData({ abi: flashLeverageAbi, functionName, args } as never);
    await doctor().world.chains.on(chainId).send({ from: OWNER, to, data });
  };

  const onNode = async (method: string, params: readonly unknown[]): Promise<unknown> => {
    const response = await fetch(doctor().world.chains.on(4663).rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    return ((await response.json()) as { result?: unknown }).result;
  };
  const storageAt = (address: string, slot: Hex) => onNode('eth_getStorageAt', [address, slot, 'latest']);
  const store = (address: string, slot: Hex, value: bigint) =>
    onNode('anvil_setStorageAt', [address, pad(slot, { size: 32 }), numberToHex(value, { size: 32 })]);
  const entryOf = (key: string, slot: number) => keccak256(concat([key as Hex, numberToHex(slot, { size: 32 })]));
  /** The storage slot below 64 of which something is true. */
  const slotWhere = async (isIt: (slot: number) => Promise<boolean>): Promise<number> => {
    for (let slot = 0; slot < 64; slot += 1) if (await isIt(slot)) return slot;
    throw new Error('no such slot');
  };

  it('behavior: fees above the limits of the published source', async () => {
    const address = chainOf(4663).contracts.flashLeverage;
    const fees = [
      ['updateYieldFee', 12_345n],
      ['updateDepositFee', 54_321n],
    ] as const;
    for (const [update, fee] of fees) {
      await asOwner(4663, update, [fee]);
      const slot = await slotWhere(async (n) => BigInt(String(await storageAt(address, numberToHex(n)))) === fee);
      await store(address, numberToHex(slot), 10n ** 17n + 1n);
    }
    expect(await examine('catalog')).toEqual(
      ['yield_fee', 'deposit_fee'].map((check) => `failure catalog chain 4663 contract flashLeverage [${check}]`),
    );
  });

  it('behavior: a highest LTV that is not the liquidation LTV less the buffer', async () => {
    const { contracts, markets } = chainOf(4663);
    const [market] = markets.filter(({ kind }) => kind === 'loop');
    if (!market) throw new Error('no such market');
    const buffer = await createPublicClient({
      transport: http(doctor().world.chains.on(4663).rpcUrl),
    }).readContract({ address: contracts.flashLeverage, abi: flashLeverageAbi, functionName: 'LIQUIDATION_BUFFER' });
    const word = (value: bigint) => numberToHex(value, { size: 32 }).slice(2);
    const [right, wrong] = [market.lltv - buffer, market.lltv + buffer].map(word) as [string, string];
    const altered: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      return new Response((await response.text()).replaceAll(right, wrong), { status: response.status });
    };
    const report = await doctor().examine({}, { only: ['catalog'], fetch: altered });
    expect(of(report, 'catalog')).toContainEqual(
      expect.stringMatching(/^failure catalog chain 4663 market .* \[max_ltv\]$/),
    );
  });

  it('behavior: parameters that do not hash to the id, and a market that is correlated only on the chain', async () => {
    const { contracts, markets } = chainOf(4663);
    const loops = markets.filter(({ kind }) => kind === 'loop');
    const [one, other] = [loops.find(({ correlated }) => correlated), loops.find(({ correlated }) => !correlated)];
    if (!one || !other) throw new Error('no such market');
    const isSet = async (id: string, n: number) =>
      BigInt(String(await storageAt(contracts.flashLeverage, entryOf(id, n)))) === 1n;
    const slot = await slotWhere(async (n) => (await isSet(one.id, n)) && !(await isSet(other.id, n)));
    await store(contracts.flashLeverage, entryOf(other.id, slot), 1n);
    // Morpho Blue keeps the parameters by id in its ninth slot; the fifth of them is the liquidation LTV.
    await store(contracts.morphoBlue, numberToHex(BigInt(entryOf(one.id, 8)) + 4n), one.lltv - 10n ** 16n);
    const named = await examine('catalog');
    const about = ({ collateral, loan }: typeof one) => `market ${collateral.symbol}/${loan.symbol} `;
    expect(named).toContainEqual(expect.stringMatching(new RegExp(`^failure catalog .*${about(one)}.*\\[id\\]$`)));
    expect(named).toContainEqual(
      expect.stringMatching(new RegExp(`catalog chain 4663 ${about(other)}.*\\[correlated\\]$`)),
    );
  });

  it('behavior: a paused contract, a market that is not supported, and a router that is not allowed', async () => {
    const [market] = chainOf(4663).markets;
    const [router] = chainOf(4663).swapRouters.AggregatorOne ?? [];
    await asOwner(4663, 'pause');
    await asOwner(4663, 'setMarketEnabled', [market?.id, false]);
    await asOwner(4663, 'setSwapRouter', [router, false]);
    const named = await examine('catalog');
    expect(named).toHaveLength(3);
    expect(named).toEqual(
      expect.arrayContaining([
        'warning catalog chain 4663 contract flashLeverage [paused]',
        expect.stringMatching(/^warning catalog chain 4663 market spUSDG\/USDG .* \[supported\]$/),
        'failure catalog chain 4663 router of AggregatorOne [allowed]',
      ]),
    );
  });

  it('behavior: a frozen feed, and an oracle far from the price', async () => {
    const { control } = doctor().world;
    const post = (path: string, body: unknown) =>
      fetch(`${control.url}${path}`, { method: 'POST', body: JSON.stringify(body) });
    await post('/feed', { chainId: 4663, token: 'SPY', updatedAt: '9' });
    await post('/oracle', { chainId: 4663, token: 'PONS', price: '1000000000000' });
    const named = of(await look({}, 'catalog', 'providers'), 'catalog');
    expect(named).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^warning catalog chain 4663 market SPY\/USDG .* \[oracle_age\]$/),
        expect.stringMatching(/^warning catalog chain 4663 market PONS\/.* \[oracle_price\]$/),
      ]),
    );
    expect(named.every((line) => /SPY|PONS/.test(line))).toBe(true);
  });

  it('behavior: an address without code, and a token whose decimals differ from the catalog', async () => {
    const [usdg] = chainOf(4663).tokens.filter(({ symbol }) => symbol === 'USDG');
    const setCode = (address: string, code: string) => onNode('anvil_setCode', [address, code]);
    // Answers 7 to every question.
    await setCode(usdg?.address ?? '', '0x60075f5260205ff3');
    await setCode(chainOf(4663).contracts.flashLeverageRouter, '0x');
    const named = await examine('catalog');
    expect(named).toEqual(
      expect.arrayContaining([
        'failure catalog chain 4663 token USDG [decimals]',
        'warning catalog chain 4663 token USDG [symbol]',
        expect.stringMatching(/contract flashLeverageRouter \[no_code\]$/),
      ]),
    );
  });

  it('behavior: reports a chain a month ahead by its clock, and rejects its values', async () => {
    await fetch(`${doctor().world.control.url}/time`, {
      method: 'POST',
      body: JSON.stringify({ chainId: 4663, seconds: 2_592_000 }),
    });
    const report = await look({}, 'catalog', 'nodes', 'clocks');
    expect(of(report, 'clocks')).toEqual(['failure clocks RPC_URL_4663 #1 (newest block) [agreement]']);
    expect(of(report, 'catalog')).toEqual(['failure catalog chain 4663 [reading]']);
  });
}
