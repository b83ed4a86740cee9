import { toCsv } from '../../../rest/csv.ts';
import type { Conversions } from '../../../rest/derive/conversion.ts';

interface Amounts {
  readonly collateralAmount: string;
  readonly loanAmount: string;
}

/** An entry of a statement, as the operation selects it. */
interface Entry {
  readonly chainId: number;
  readonly positionId: string;
  readonly collateralSymbol: string;
  readonly loanSymbol: string;
  readonly isComplete: boolean;
  readonly event: Readonly<
    Record<'at' | 'kind' | 'blockNumber' | 'txHash' | 'collateralChange' | 'debtChange', string> &
      Record<'paid' | 'received' | 'fee', Amounts | null> &
      Record<'oraclePrice' | 'paidBy', string | null>
  >;
}

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

const both = (amounts: Amounts | null) => [amounts?.collateralAmount ?? null, amounts?.loanAmount ?? null];

/** The statement of a wallet as a file. */
export const statementConversions = {
  /** The entries as CSV by RFC 4180. */
  statementCsv: {
    takesNull: true,
    schema: () => ({
      type: 'string',
      description:
        'Every event of its positions by RFC 4180, with a header, oldest first. Texts that a spreadsheet would run begin with an apostrophe.',
    }),
    convert: (_entries, { raw }) => {
      if (raw === null) throw new Error('The answer lacks the statement.');
      return toCsv([COLUMNS, ...(raw as { readonly nodes: readonly Entry[] }).nodes.map(cellsOf)]);
    },
  },
} as const satisfies Conversions;

function cellsOf({ chainId, positionId, collateralSymbol, loanSymbol, isComplete, event }: Entry) {
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
