import { describe, expect, test } from 'vitest';
import { chainOf, completeFacts } from '../../../../test/domain/world.ts';
import { CHAIN_IDS, contextOf, servicesOf } from '../../../../test/resolvers/world.ts';
import { ChainReadError } from '../../../chain/rpc/errors.ts';
import type { WalletReading } from '../../../resolvers/position/position-services.ts';
import { createAlert } from '../resolvers/alerts.ts';

const WALLET = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';

/** Register an alert on a position of a wallet that is read as given. */
async function register(positionIndex: number, reading: WalletReading | Error) {
  const services = servicesOf(CHAIN_IDS.map((chainId) => completeFacts(chainOf(chainId))));
  const positions = { ...services.positions, read: async () => new Map([[WALLET, reading] as const]) };
  const ctx = contextOf({ ...services, positions });
  const caller = { kind: 'key', keyId: 'k', tier: 'partner' } as const;
  const input = {
    wallet: WALLET,
    positionId: { index: positionIndex, text: String(positionIndex) },
    condition: 'stale',
    webhookUrl: 'https://a.example',
  };
  return createAlert({ chainId: 1, input } as Parameters<typeof createAlert>[0], { ...ctx, caller });
}
const holding = (count: number) =>
  ({
    holdings: {
      chainId: 1,
      wallet: WALLET,
      block: { number: 7n, timestamp: 1n },
      stocks: [],
      positions: Array.from({ length: count }, (_, id) => ({ id })),
    },
    tags: new Map(),
  }) as unknown as WalletReading;

describe('an alert on a position', () => {
  test('default: is registered if the wallet has it, and if the chain cannot be asked', async () => {
    await expect(register(1, holding(2))).resolves.toBeDefined();
    await expect(register(77, new ChainReadError('timeout'))).resolves.toBeDefined();
  });

  test.each([
    [2, 2, '2 positions, 0 to 1', { min: 0, max: 1 }],
    [1, 1, '1 position, 0 to 0', { min: 0, max: 0 }],
    [0, 0, 'no position', { positions: 0 }],
  ])('error: index %i of %i', async (index, count, message, limit) => {
    const refused = register(index, holding(count));
    await expect(refused).rejects.toThrow(
      `positionId is ${index}, and at block 7 the wallet has ${message} on chain 1`,
    );
    await expect(refused).rejects.toMatchObject({ details: { field: 'input.positionId', limit } });
  });
});
