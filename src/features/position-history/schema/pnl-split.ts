import { builder } from '../../../schema/builder.ts';
import { gapsOf } from '../../../schema/common/gaps.ts';
import type { PnlDifference } from '../domain/pnl-difference.ts';
import type { PnlSplitView, SplitValue } from '../resolvers/history-views.ts';

const SplitAmountRef = builder.objectRef<{ amount: string; usd: string | null }>('PnlSplitAmount').implement({
  description: 'A part of a profit and loss; costs and losses are negative.',
  fields: (t) => ({
    amount: t.expose('amount', { type: 'Decimal', description: 'Whole loan tokens, exact to the base unit. Signed.' }),
    usd: t.expose('usd', {
      type: 'Decimal',
      nullable: true,
      description: 'USD at the price of the loan token of now, exact; `null` = the price is unknown. Signed.',
    }),
  }),
});

export const PnlSplitRef = builder.objectRef<PnlSplitView>('PnlSplit').implement({
  description:
    'Profit and loss of a position since its opening by its parts, in loan tokens. `yield`, `borrowCost`, `price`, `incentives`, `fees`, `slippage`, `liquidation` and `paidByOthers` add up to `total` to the base unit; the remainder of rounding, at most one base unit per part, is in `price`, or in `yield` where the oracle follows the redemption rate. A part that is not known is `null`, never 0, and so is every sum with it.',
  fields: (t) => {
    const part = (name: SplitValue, description: string) =>
      t.field({ type: SplitAmountRef, nullable: true, description, resolve: ({ amounts }) => amounts[name] });
    return {
      yield: part(
        'yield',
        'Yield of the collateral: all of the change of its price where the oracle follows the redemption rate, otherwise by its recorded APYs.',
      ),
      borrowCost: part('borrowCost', 'Interest of the debt.'),
      price: part('price', "Change of the oracle's price of the collateral beyond its yield."),
      incentives: part('incentives', 'Incentives of the market, by its recorded campaigns; not part of `result`.'),
      fees: part('fees', 'Fees that the contract has taken.'),
      slippage: part('slippage', "Loss of swaps against the oracle's price of their block, referral fees included."),
      liquidation: part('liquidation', 'Loss of liquidations, less bad debt, which no borrower has to repay.'),
      paidByOthers: part(
        'paidByOthers',
        "Payments of other accounts for the position (anyone may add collateral and repay), at the oracle's prices of the time: a gain of the owner.",
      ),
      yieldAndPrice: part('yieldAndPrice', '`yield` and `price` together.'),
      paid: part('paid', "Paid in by the owner, at the oracle's prices of the time."),
      paidDirectly: part(
        'paidDirectly',
        "The part of `paid` that the owner paid to the lending protocol directly. The product's contract does not record it, so `pnl` does not have it.",
      ),
      received: part('received', "Paid out to the owner, at the oracle's prices of the time."),
      netValue: part('netValue', 'Collateral less debt now; 0 under water and after the end.'),
      result: part('result', '`received` and `netValue` less `paid`.'),
      total: part('total', '`result` and `incentives`.'),
      gaps: t.field(gapsOf(({ gaps }: PnlSplitView) => gaps, 'Fields that are `null`')),
    };
  },
});

export const PnlDifferenceRef = builder.objectRef<PnlDifference>('PnlDifference').implement({
  description:
    "Excess of `pnl`, which follows the record of the product's contract, over `pnlSplit`, which follows the events. `pnl.baseResultUsd` is `pnlSplit.result.usd` and `paidDirectlyUsd` and `recordUsd`; `pnl.totalUsd` is `pnlSplit.total.usd` and all three. Of both, `pnlSplit` is the gain of the owner.",
  fields: (t) => {
    const amount = (field: 'paidDirectlyUsd' | 'recordUsd' | 'incentivesUsd', description: string) =>
      t.expose(field, { type: 'Decimal', nullable: true, description: `${description} Exact USD. Signed.` });
    return {
      paidDirectlyUsd: amount(
        'paidDirectlyUsd',
        'Paid by the owner to the lending protocol directly: the contract does not record it as a deposit.',
      ),
      recordUsd: amount(
        'recordUsd',
        'Payments that the contract has recorded otherwise: fees of deposits, withdrawals and loans beyond the deposits, payments of others through the router, amounts taken out of the lending protocol directly, and rounding.',
      ),
      incentivesUsd: amount(
        'incentivesUsd',
        'Incentives on the amounts of now over the registered life, as in `pnl`, less those on the amounts of each time.',
      ),
      gaps: t.field(gapsOf(({ gaps }: PnlDifference) => gaps, 'Fields that are `null`')),
    };
  },
});
