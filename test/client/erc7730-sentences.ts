import { erc20Abi, toFunctionSelector } from 'viem';
import { describe, expect, it } from 'vitest';
import { DESCRIPTORS, renderDescriptor } from '../../scripts/client-erc7730.ts';
import { localCatalog } from '../e2e/leverage/support.ts';
import { type Descriptor, render } from './erc7730-render.ts';
import { type Bundle, localChains } from './verify-bundles.ts';
import { callsIn } from './verify-mutants.ts';

/** With the principal token that only the local world has. */
const descriptors: readonly Descriptor[] = DESCRIPTORS.map((file) =>
  JSON.parse(renderDescriptor(file, localCatalog.chains)),
);
const APPROVE = toFunctionSelector(
  erc20Abi.find((item) => item.type === 'function' && item.name === 'approve') as never,
);

/** Define the tests of the sentences that a wallet with the descriptors shows for plans of the service. */
export function describeSentences(samples: () => readonly Bundle[]): void {
  describe('ERC-7730', () => {
    it('default: every call of a plan is shown as a sentence with its amounts', () => {
      const said = new Map<string, string>();
      for (const { kind, plan } of samples()) {
        const chain = localChains.find(({ chainId }) => chainId === plan.chainId);
        if (!chain) throw new Error(`no chain ${plan.chainId}`);
        // Tokens have a descriptor of their own; a position in manual mode is left at Morpho and at its own contract.
        const calls = callsIn(plan).filter(({ data }) => data.slice(0, 10) !== APPROVE && kind !== 'manual exit');
        for (const call of calls) {
          const shown = render(descriptors, call, chain);
          expect(shown, `${kind}: no descriptor for ${call.data.slice(0, 10)} at ${call.to}`).toBeDefined();
          if (shown) said.set(shown.intent, shown.sentence);
        }
      }
      const plain = [...said].map(([intent, text]) => [
        intent,
        text
          .replaceAll(/0x\w+/g, 'ADDRESS')
          .replaceAll(/PT-sUSDe-\w+/g, 'PT-sUSDe')
          .replaceAll(/\d+\.\d+|\d{4,}/g, '#'),
      ]);
      expect(Object.fromEntries(plain)).toMatchInlineSnapshot(`
        {
          "Add collateral": "Add # (base units) of collateral to position 0 of ADDRESS",
          "Allow or forbid a contract to act on your lending positions": "Forbid ADDRESS to act on all your lending positions on Morpho",
          "Borrow": "Borrow # (base units) against position 0",
          "Close a position or a part of it": "Sell 0 (base units, 0 is all) of the collateral of position 1 for at least # (base units), repay debt with it and receive the rest",
          "Close the stock leg of an equity vault": "Sell all stock of the vault for at least # USDG, repay its debt out of it and receive the rest",
          "Deposit into an equity vault": "Deposit # USDG: buy at least # NVDA as collateral, borrow # USDG against it for at least # syrupUSDG, and open a position with it that borrows # USDG for at least # syrupUSDG more",
          "Increase leverage": "Borrow # (base units) more against position 0 for at least # (base units) of collateral",
          "Move liquidity and open a leveraged position": "Open a position with # wsrUSD, borrowing # USDC for at least # wsrUSD more, once vaults have moved liquidity into its market",
          "Move liquidity, swap and open a leveraged position": "Swap 4 ETH into at least # wsrUSD, and open a position with it that borrows # USDC for at least # wsrUSD more, once vaults have moved liquidity into its market",
          "Open a leveraged position": "Open a position of ADDRESS with # PT-sUSDe, borrowing # USDC for at least # PT-sUSDe more",
          "Remove collateral": "Take # (base units) of collateral out of position 0",
          "Repay debt": "Repay the whole debt of position 0 of ADDRESS with at most # (base units)",
          "Swap and add collateral": "Swap 90 USDe and add at least # syrupUSDG of collateral to position 0 of ADDRESS",
          "Swap and open a leveraged position": "Swap 302 USDe into at least # syrupUSDG, and open a position with it that borrows # USDG for at least # syrupUSDG more",
          "Swap and repay debt": "Swap # USDe into at least # USDG and repay the whole debt of position 0 of ADDRESS",
        }
      `);
    });

    it('behavior: nothing is shown for another chain or contract', () => {
      const [bundle] = samples();
      const [call] = callsIn(bundle?.plan ?? { chainId: 1 });
      const other = localChains.find(({ chainId }) => chainId !== bundle?.plan.chainId);
      if (!call || !other) throw new Error('no plan');
      expect(render(descriptors, { ...call, to: '0x000000000000000000000000000000000000dEaD' }, other)).toBeUndefined();
    });
  });
}
