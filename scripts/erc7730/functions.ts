/** One argument as a wallet shows it. */
export interface DescribedField {
  readonly path: string;
  readonly label: string;
  readonly as: 'raw' | 'addressName' | 'tokenAmount' | 'repaid' | 'rights';
  /** Of an amount: the token at a path, or a token of the market whose id stands at a path. */
  readonly token?: { readonly path: string } | { readonly map: 'collateral' | 'loan'; readonly keyPath: string };
}

/** The effect of a function, in words for the person who signs. */
export interface Described {
  readonly intent: string;
  /** With `{path}` in place of the fields. */
  readonly sentence: string;
  readonly fields: readonly DescribedField[];
}

const raw = (path: string, label: string): DescribedField => ({ path, label, as: 'raw' });
const address = (path: string, label: string): DescribedField => ({ path, label, as: 'addressName' });
const position = raw('positionId', 'Position');
const inMarket = (path: string, label: string, map: 'collateral' | 'loan', keyPath: string): DescribedField => ({
  path,
  label,
  as: 'tokenAmount',
  token: { map, keyPath },
});
const paid: DescribedField = { path: 'amountIn', label: 'Pay', as: 'tokenAmount', token: { path: 'tokenIn' } };
/** A call that names only a position does not tell its tokens. */
const units = (path: string, label: string) => raw(path, `${label} (base units)`);

const opening = (base: string): readonly DescribedField[] => [
  inMarket(`${base}.amountFlashLoan`, 'Borrow', 'loan', `${base}.marketId`),
  inMarket(`${base}.minTokenOut`, 'Collateral from the loan, at least', 'collateral', `${base}.marketId`),
  address(`${base}.swapData.extRouter`, 'Swap at'),
];

/** Functions of FlashLeverage. */
export const LEVERAGE: Readonly<Record<string, Described>> = {
  leverage: {
    intent: 'Open a leveraged position',
    sentence:
      'Open a position of {user} with {params.amountCollateral}, borrowing {params.amountFlashLoan} for at least {params.minTokenOut} more',
    fields: [
      address('user', 'Owner'),
      inMarket('params.amountCollateral', 'Pay', 'collateral', 'params.marketId'),
      ...opening('params'),
    ],
  },
  increaseLeverage: {
    intent: 'Increase leverage',
    sentence:
      'Borrow {amountFlashLoan} (base units) more against position {positionId} for at least {minTokenOut} (base units) of collateral',
    fields: [
      position,
      units('amountFlashLoan', 'Borrow'),
      units('minTokenOut', 'Collateral, at least'),
      address('swapData.extRouter', 'Swap at'),
    ],
  },
  deleverage: {
    intent: 'Close a position or a part of it',
    sentence:
      'Sell {amountCollateral} (base units, 0 is all) of the collateral of position {positionId} for at least {minTokenOut} (base units), repay debt with it and receive the rest',
    fields: [
      position,
      units('amountCollateral', 'Collateral to sell, 0 is all'),
      units('minTokenOut', 'Proceeds, at least'),
      address('swapData.extRouter', 'Swap at'),
    ],
  },
  supplyCollateral: {
    intent: 'Add collateral',
    sentence: 'Add {amountCollateral} (base units) of collateral to position {positionId} of {user}',
    fields: [address('user', 'Owner'), position, units('amountCollateral', 'Pay')],
  },
  withdrawCollateral: {
    intent: 'Remove collateral',
    sentence: 'Take {amountWithdraw} (base units) of collateral out of position {positionId}',
    fields: [position, units('amountWithdraw', 'Receive, less the yield fee')],
  },
  repay: {
    intent: 'Repay debt',
    sentence: 'Repay {borrowShares} of position {positionId} of {user} with at most {amountRepay} (base units)',
    fields: [
      address('user', 'Owner'),
      position,
      units('amountRepay', 'Pay at most'),
      { path: 'borrowShares', label: 'Repay', as: 'repaid' },
    ],
  },
  borrow: {
    intent: 'Borrow',
    sentence: 'Borrow {amountBorrow} (base units) against position {positionId}',
    fields: [position, units('amountBorrow', 'Receive')],
  },
};

/** Functions of FlashLeverageRouter. */
export const ROUTER: Readonly<Record<string, Described>> = {
  swapAndLeverage: {
    intent: 'Swap and open a leveraged position',
    sentence:
      'Swap {amountIn} into at least {minTokenOut}, and open a position with it that borrows {leverageParams.amountFlashLoan} for at least {leverageParams.minTokenOut} more',
    fields: [
      paid,
      inMarket('minTokenOut', 'Collateral from the payment, at least', 'collateral', 'leverageParams.marketId'),
      address('swapData.extRouter', 'Swap the payment at'),
      ...opening('leverageParams'),
    ],
  },
  reallocateAndLeverage: {
    intent: 'Move liquidity and open a leveraged position',
    sentence:
      'Open a position with {leverageParams.amountCollateral}, borrowing {leverageParams.amountFlashLoan} for at least {leverageParams.minTokenOut} more, once vaults have moved liquidity into its market',
    fields: [
      inMarket('leverageParams.amountCollateral', 'Pay', 'collateral', 'leverageParams.marketId'),
      ...opening('leverageParams'),
    ],
  },
  reallocateSwapAndLeverage: {
    intent: 'Move liquidity, swap and open a leveraged position',
    sentence:
      'Swap {amountIn} into at least {minTokenOut}, and open a position with it that borrows {leverageParams.amountFlashLoan} for at least {leverageParams.minTokenOut} more, once vaults have moved liquidity into its market',
    fields: [
      paid,
      inMarket('minTokenOut', 'Collateral from the payment, at least', 'collateral', 'leverageParams.marketId'),
      address('swapData.extRouter', 'Swap the payment at'),
      ...opening('leverageParams'),
    ],
  },
  swapAndSupplyCollateral: {
    intent: 'Swap and add collateral',
    sentence: 'Swap {amountIn} and add at least {minTokenOut} of collateral to position {positionId} of {user}',
    fields: [
      address('user', 'Owner'),
      position,
      paid,
      inMarket('minTokenOut', 'Collateral, at least', 'collateral', 'marketId'),
      address('swapData.extRouter', 'Swap at'),
    ],
  },
  swapAndRepay: {
    intent: 'Swap and repay debt',
    sentence: 'Swap {amountIn} into at least {minTokenOut} and repay {borrowShares} of position {positionId} of {user}',
    fields: [
      address('user', 'Owner'),
      position,
      paid,
      inMarket('minTokenOut', 'From the payment, at least', 'loan', 'marketId'),
      { path: 'borrowShares', label: 'Repay', as: 'repaid' },
      address('swapData.extRouter', 'Swap at'),
    ],
  },
};

/** Functions of the equity router. */
export const ENTRY: Readonly<Record<string, Described>> = {
  equityEntry: {
    intent: 'Deposit into an equity vault',
    sentence:
      'Deposit {params.amountIn}: buy at least {params.stockMinOut} as collateral, borrow {params.stockBorrowAmount} against it for at least {params.yieldMinOut}, and open a position with it that borrows {params.leverageParams.amountFlashLoan} for at least {params.leverageParams.minTokenOut} more',
    fields: [
      { path: 'params.amountIn', label: 'Pay', as: 'tokenAmount', token: { path: 'params.depositToken' } },
      inMarket('params.stockMinOut', 'Stock, at least', 'collateral', 'params.stockMarketId'),
      inMarket('params.stockBorrowAmount', 'Borrow against the stock', 'loan', 'params.stockMarketId'),
      inMarket('params.yieldMinOut', 'Yield collateral, at least', 'collateral', 'params.leverageParams.marketId'),
      ...opening('params.leverageParams'),
    ],
  },
};

export const EXIT: Readonly<Record<string, Described>> = {
  equityExit: {
    intent: 'Close the stock leg of an equity vault',
    sentence:
      'Sell all stock of the vault for at least {params.minLoanOut}, repay its debt out of it and receive the rest',
    fields: [
      inMarket('params.minLoanOut', 'Proceeds, at least', 'loan', 'params.stockMarketId'),
      address('params.stockSwapData.extRouter', 'Swap at'),
    ],
  },
};

/** The function of Morpho Blue with which the batches of vaults begin and end. */
export const MORPHO: Readonly<Record<string, Described>> = {
  setAuthorization: {
    intent: 'Allow or forbid a contract to act on your lending positions',
    sentence: '{newIsAuthorized} {authorized} to act on all your lending positions on Morpho',
    fields: [
      { path: 'newIsAuthorized', label: 'Right to act on all your lending positions', as: 'rights' },
      address('authorized', 'Contract'),
    ],
  },
};
