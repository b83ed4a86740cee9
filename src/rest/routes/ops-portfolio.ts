import { absenceOf } from '../absence.ts';
import type { OpsPortfolioQuery } from '../generated/operations.ts';
import { loopSchema, portfolioEntry, vaultSchema } from '../schemas/portfolio.ts';
import { isNoneIn } from './positions.ts';
import { noneIn } from './shared.ts';

type PortfolioData = NonNullable<NonNullable<OpsPortfolioQuery['ops']>['portfolio']>;
type Item = PortfolioData['items']['nodes'][number];
type Loop = Extract<Item, { readonly __typename: 'PortfolioLoop' }>;
type LoopFields = Omit<Loop, '__typename'>;
type Vault = Extract<Item, { readonly __typename: 'PortfolioVault' }>;

const inLoop = absenceOf(loopSchema);
const inVault = absenceOf(vaultSchema);
const inPortfolio = absenceOf(portfolioEntry.omit({ positions: true, equityPositions: true, closed: true }));

const PNL = 'pnl.';
/** Null where no statement can be suggested. */
const SQL = 'drift.suggestedSql';

/** Shape the typed portfolio of a wallet as an entry of the list of all wallets. */
export function projectPortfolio({ items, unresolvedRows, ...portfolio }: PortfolioData): object {
  const { nodes } = items;
  const loops = nodes.filter((item): item is Loop => item.__typename === 'PortfolioLoop');
  const vaults = nodes.filter((item): item is Vault => item.__typename === 'PortfolioVault');
  const unresolved = unresolvedRows.nodes.map(({ registration, ...row }) => {
    const { marketId, positionIndex, ...registered } = registration;
    return { ...row, marketId, positionIndex, registered };
  });
  const isNoneInPnl = noneIn(portfolio.pnl.gaps);
  const entry = inPortfolio({ ...portfolio, unresolved }, (path) => isNoneInPnl(path.slice(PNL.length)));
  return {
    ...(entry as object),
    positions: loops.filter(({ position }) => position.status === 'open').map(projectLoop),
    equityPositions: vaults.filter(({ status }) => status === 'open').map(projectVault),
    closed: nodes.flatMap((item): object[] => {
      if (item.__typename === 'PortfolioLoop') {
        return item.position.status === 'open' ? [] : [{ kind: 'position', ...projectLoop(item) }];
      }
      return item.status === 'open' ? [] : [{ kind: 'equity', ...projectVault(item) }];
    }),
  };
}

function projectLoop({ position, pnl, registration, drift }: LoopFields): object {
  const { collateralToken, loanToken, ...holding } = position;
  const symbols = { collateralSymbol: collateralToken?.displaySymbol, loanSymbol: loanToken?.symbol };
  const body = { ...holding, ...symbols, pnl, registered: registration, dbDrift: drift?.kind, drift: driftOf(drift) };
  const [isNone, isNoneInPnl] = [isNoneIn(position.gaps), noneIn(pnl.gaps)];
  return inLoop(body, (path) =>
    path.startsWith(PNL) ? isNoneInPnl(path.slice(PNL.length)) : path === SQL || isNone(path),
  ) as object;
}

function driftOf(drift: LoopFields['drift']) {
  if (drift === null) return null;
  const { onChain, ...rest } = drift;
  const { readAt, ...evidence } = onChain;
  return { ...rest, chain: { ...evidence, ...readAt } };
}

function projectVault({ stockToken, vaultPnl: pnl, equityPosition, loops, ...vault }: Vault): object {
  const { stockToken: heldStock, stock, ...held } = equityPosition ?? NOTHING;
  const body = {
    ...held,
    ...vault,
    stock: stock && { symbol: heldStock?.displaySymbol, ...stock },
    stockSymbol: stockToken?.displaySymbol,
    pnl,
    yieldLoops: [],
    dbDrift: loops.nodes.find(({ drift }) => drift !== null)?.drift?.kind,
  };
  const [isNone, isNoneInPnl] = [isNoneIn(equityPosition?.gaps ?? []), noneIn(pnl.gaps)];
  const found = inVault(body, (path) => (path.startsWith(PNL) ? isNoneInPnl(path.slice(PNL.length)) : isNone(path)));
  return { ...(found as object), yieldLoops: loops.nodes.map(projectLoop) };
}

const NOTHING: Partial<NonNullable<Vault['equityPosition']>> = {};
