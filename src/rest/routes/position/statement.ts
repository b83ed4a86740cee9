import { toCsv } from '../../csv.ts';
import type { WalletStatementQuery } from '../../generated/operations.ts';

type Row = NonNullable<NonNullable<WalletStatementQuery['wallet']>['statement']>['nodes'][number];
type Amounts = Row['event']['paid'];

const COLUMNS = [
  'time',
  'chainId',
  'positionId',
  'event',
  'block',
  'transaction',
  'collateral',
  'loan',
  'collateralChange',
  'debtChange',
  'paidCollateral',
  'paidLoan',
  'receivedCollateral',
  'receivedLoan',
  'feeCollateral',
  'feeLoan',
  'oraclePrice',
  'complete',
  'paidBy',
] as const;

const both = (amounts: Amounts) => [amounts?.collateralAmount ?? null, amounts?.loanAmount ?? null];

/** Write a statement as CSV. */
export function statementCsv(rows: readonly Row[]): string {
  return toCsv([COLUMNS, ...rows.map(cellsOf)]);
}

function cellsOf({ chainId, positionId, collateralSymbol, loanSymbol, isComplete, event }: Row) {
  return [
    event.at,
    String(chainId),
    positionId,
    event.kind,
    event.blockNumber,
    event.txHash,
    collateralSymbol,
    loanSymbol,
    event.collateralChange,
    event.debtChange,
    ...both(event.paid),
    ...both(event.received),
    ...both(event.fee),
    event.oraclePrice,
    isComplete ? 'yes' : 'no',
    event.paidBy,
  ];
}
