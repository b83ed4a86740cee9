import { z } from 'zod';
import { absenceOf } from '../absence.ts';
import type { WalletPositionsQuery } from '../generated/operations.ts';
import { addressParam, chainIdParam } from '../schemas/common.ts';
import { freshParams } from '../schemas/fresh-reads.ts';
import { equityPositionSchema, positionSchema, walletPositions } from '../schemas/position.ts';
import { type AnyRoute, defineRoute } from '../types.ts';
import { bodyCall } from './builds.ts';
import { noneIn, PARTNER_ERRORS, type RouteOptions } from './shared.ts';

const inPosition = absenceOf(positionSchema);
const inEquityPosition = absenceOf(equityPositionSchema);

type WalletData = NonNullable<WalletPositionsQuery['wallet']>;

/** Names of fields that differ between the contract of /v1 and the schema. The fields may be `null`. */
const NAMES: Readonly<Record<string, string>> = {
  currentLeverage: 'leverage',
  currentLeverageApyPct: 'leverageApyPct',
  currentNetApyPct: 'netApyPct',
};

/** The gaps of a P&L are its own. */
const PNL = 'pnl.';

/** Whether a field of a position is measured as none, by its name in the contract. */
export function isNoneIn(gaps: Parameters<typeof noneIn>[0]): (path: string) => boolean {
  const isNone = noneIn(gaps);
  return (path) => isNone(NAMES[path] ?? path);
}

/** Project a position to the contract: an unknown field is left out, a field that does not apply is null. */
function projectPosition(position: WalletData['positions']['nodes'][number]): unknown {
  const { manualModeCalls, collateralToken, loanToken, ...fields } = position;
  const collateralSymbol = collateralToken?.displaySymbol ?? null;
  const loanSymbol = loanToken?.symbol ?? null;
  const body = { ...fields, collateralSymbol, loanSymbol, manualModeCalls: manualModeCalls?.map(bodyCall) ?? null };
  const [isNone, isNoneInPnl] = [isNoneIn(position.gaps), noneIn(position.pnl?.gaps ?? [])];
  return inPosition(body, (path) => (path.startsWith(PNL) ? isNoneInPnl(path.slice(PNL.length)) : isNone(path)));
}

/** Shape a vault in the same way, its loops by their own gaps. */
export function projectEquityPosition(held: WalletData['equityPositions'][number]): object {
  const { yieldLoops, stockToken, ...position } = held;
  const stock = { symbol: stockToken.displaySymbol, ...position.stock };
  const body = inEquityPosition({ ...position, stock, yieldLoops: [] }, isNoneIn(position.gaps));
  return { ...(body as object), yieldLoops: yieldLoops.map(projectPosition) };
}

export function positionRoutes({ chainIds }: RouteOptions): AnyRoute[] {
  const [defaultChainId = 1] = chainIds;
  return [
    defineRoute({
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
      project: ({ wallet }: WalletPositionsQuery) => {
        const [onChain] = wallet?.onChains ?? [];
        if (!wallet || !onChain) throw new Error('A wallet without an error must be there.');
        return {
          chainId: onChain.chainId,
          userAddress: wallet.address,
          positions: wallet.positions.nodes.map(projectPosition),
          equityPositions: wallet.equityPositions.map(projectEquityPosition),
          leftAuthorizations: onChain.leftAuthorizations?.map(({ authorized, call }) => ({
            authorized,
            call: bodyCall(call),
          })),
        };
      },
      response: walletPositions,
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
