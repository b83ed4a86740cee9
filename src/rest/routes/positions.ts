import { z } from 'zod';
import { addressParam, chainIdParam } from '../schemas/common.ts';
import { freshParams } from '../schemas/fresh-reads.ts';
import type { AnyRoute } from '../types.ts';
import { PARTNER_ERRORS, type RouteOptions } from './shared.ts';

export function positionRoutes({ chainIds, derive }: RouteOptions): AnyRoute[] {
  const [defaultChainId = 1] = chainIds;
  return [
    derive({
      method: 'GET',
      path: '/v1/partner/positions/{address}',
      surface: 'Partner',
      summary: "A wallet's positions",
      description:
        'Plain loop positions, newest first, and open equity vaults of a wallet, read live from the chain. The yield loops of a vault are listed in the vault, not among the positions. A wallet without positions has empty lists, and so has the contract that holds a position: ask for its owner.',
      operation: 'WalletPositions',
      tool: { name: 'list_positions', list: { fields: ['positions', 'equityPositions'], limit: 10 } },
      params: z.object({ address: addressParam, chainId: chainIdParam({ chainIds, defaultChainId }), ...freshParams }),
      variables: ({ params }) => params,
      errors: [...PARTNER_ERRORS, 'not_ready', 'upstream_unavailable'],
      examples: [
        {
          summary: 'Ethereum, the default',
          params: { address: '0x90F79bf6EB2c4f870365E785982E1f101E93b906' },
        },
        {
          summary: 'Robinhood Chain, with an equity vault',
          params: { address: '0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc' },
          query: { chainId: '4663' },
        },
      ],
    }),
  ];
}
