import type { EquityPosition } from '../../domain/equity/position.ts';
import { gap } from '../../domain/freshness/gaps.ts';
import type { Gap } from '../../domain/freshness/types.ts';
import { composePortfolio } from '../../domain/portfolio/compose.ts';
import { portfolioContext } from '../../domain/portfolio/context.ts';
import { unknownPnl } from '../../domain/portfolio/pnl.ts';
import type { Pnl, Portfolio } from '../../domain/portfolio/types.ts';
import {
  addTotals,
  type TotalParts,
  totalParts,
  unknownParts,
  type WalletTotals,
} from '../../domain/portfolio/wallet-totals.ts';
import { readAtOf } from '../../domain/position/types.ts';
import type { ComposedWallet } from '../../domain/position/wallet.ts';
import type { ChainId } from '../../shared/ids.ts';
import { momentOf } from '../common/age.ts';
import type { AppContext } from '../common/context.ts';
import { blockOf } from '../common/fresh-reads.ts';
import { type MissingChain, readComposed, requireChain } from '../market/chains.ts';
import { UNREADABLE, wasSoldInPart } from './position-result.ts';
import type { WalletReading } from './position-services.ts';
import type { WalletView } from './wallets.ts';

/** Sum what a wallet holds over its chains. A chain that could not be read makes every sum unknown. */
export async function totalsOf({ readings, missingChains }: WalletView, ctx: AppContext): Promise<WalletTotals> {
  const parts = await Promise.all(readings.map((wallet) => partsOf(wallet, ctx)));
  return addTotals([...missingChains.map((missing) => unknownParts(gapOf(missing))), ...parts]);
}

/** Sum what a wallet holds on one chain. */
export async function totalsOnChain(wallet: ComposedWallet, ctx: AppContext): Promise<WalletTotals> {
  return addTotals([await partsOf(wallet, ctx)]);
}

/** The profit and loss of an open vault; its deposits are those that the app registered. `null` = the vault has ended. */
export async function vaultPnlOf(vault: EquityPosition, ctx: AppContext): Promise<Pnl | null> {
  const reading = await readingOf(vault, ctx);
  const portfolio = await portfolioOf(vault.chainId, reading, ctx);
  if ('reason' in portfolio) return unknownPnl(portfolio);
  return portfolio.equityPositions.find(({ vaultId }) => vaultId === vault.strategyId)?.pnl ?? null;
}

function gapOf({ chainId, reason, message }: MissingChain): Gap {
  const why = `What the wallet has on chain ${chainId} is not known. ${message}`;
  return gap('', reason === 'not_ready' ? 'NOT_MEASURED' : 'SOURCE_FAILED', why);
}

async function partsOf(wallet: ComposedWallet, ctx: AppContext): Promise<TotalParts> {
  const { chainId, block } = wallet;
  const reading = await readingOf({ chainId, wallet: wallet.wallet, readAt: readAtOf(block) }, ctx);
  const portfolio = await portfolioOf(chainId, reading, ctx);
  const markets = ctx.loaders.marketsAt(chainId, reading.holdings.markets);
  const pnl = 'reason' in portfolio ? unknownPnl(portfolio) : portfolio.pnl;
  return totalParts(requireChain(ctx, chainId), markets, reading.holdings, wallet, pnl);
}

function readingOf(at: Pick<EquityPosition, 'chainId' | 'wallet' | 'readAt'>, ctx: AppContext): Promise<WalletReading> {
  return ctx.loaders.wallet.load({ chainId: at.chainId, wallet: at.wallet, block: blockOf(at, ctx) });
}

/** Portfolios by their readings, which last as long as a request. */
const composed = new WeakMap<WalletReading, Promise<Portfolio | Gap>>();

/** The wallet joined with the register, once per reading; a gap while the register cannot be read. */
function portfolioOf(chainId: ChainId, reading: WalletReading, ctx: AppContext): Promise<Portfolio | Gap> {
  const known = composed.get(reading) ?? composeOnce(chainId, reading, ctx);
  composed.set(reading, known);
  return known;
}

async function composeOnce(chainId: ChainId, { holdings }: WalletReading, ctx: AppContext): Promise<Portfolio | Gap> {
  const { wallet, block } = holdings;
  const rows = await ctx.loaders.registered.load({ chainId, wallet }).catch(() => null);
  if (rows === null) return UNREADABLE;
  const sold = await Promise.all(
    holdings.positions.map(async (held) =>
      (await wasSoldInPart({ chainId, wallet, blockNumber: block.number, held }, ctx)) ? [held.id] : [],
    ),
  );
  const context = portfolioContext(
    ctx.services.catalog,
    requireChain(ctx, chainId),
    readComposed(ctx, chainId),
    ctx.loaders.facts(chainId),
    { known: new Map(), nowMs: momentOf(ctx) },
  );
  return composePortfolio(context, holdings, rows, new Set(sold.flat()));
}
