import type { Plan, RowInput } from '../client.ts';
import {
  actionTitle,
  amount,
  chainName,
  leverage,
  ltv,
  PageError,
  percent,
  shortened,
  symbolAt,
} from '../copy/index.ts';
import { el, facts, type Row } from '../dom.ts';
import { createPanel } from '../parts/panel.ts';
import { costText, issueNotes, managedNodes } from '../parts/result.ts';
import { strategyFacts } from '../queries.ts';
import { strategyView } from './strategy.ts';
import type { View, ViewContext } from './view.ts';

/** Where `meta.signingUrl` of a plan leads: the same request again, to be reviewed and signed. */
export const signView: View = async (context) => {
  const { account, query, signal, place } = context;
  const action = query.get('action') ?? '';
  const strategyId = query.get('strategyId') ?? '';
  const wallet = query.get('userAddress');
  if (wallet?.toLowerCase() !== account.toLowerCase()) {
    throw new PageError(
      wallet === null
        ? 'This link names no wallet.'
        : `This link is for the wallet ${shortened(wallet)}, which is not in the local world.`,
      'Ask for a new link, or start from the strategies.',
    );
  }
  // An open and a deposit are shown with their forms, prefilled.
  if (action === 'equity_deposit' || (action === 'open_leverage' && query.has('leverage'))) {
    return strategyView({ ...context, parts: [strategyId] });
  }
  const request = requestOf(context, action);
  const chainId = Number(query.get('chainId') ?? 1);
  const panel = createPanel<typeof request>({
    context,
    chainId,
    action,
    form: el('form', {}),
    signal,
    read: () => ({ kind: 'ready', body: request }),
    preview: (asked, own) => asked.preview(own),
    build: (asked) => asked.build(),
  });
  place(
    el('h1', {}, actionTitle(action)),
    el('p', { class: 'muted' }, 'A link asks for this. Nothing is sent before you confirm.'),
    el(
      'div',
      { class: 'sides' },
      el(
        'section',
        { class: 'card head-of', 'aria-labelledby': 'asked' },
        el('h2', { id: 'asked' }, 'What the link asks for'),
        facts(rowsOf(context, chainId), 'lines'),
      ),
      panel.node,
    ),
  );
};

/** The request of the link in words; the technical names stay for what has no other. */
function rowsOf({ query, chains }: ViewContext, chainId: number): readonly Row[] {
  const token = query.get('payToken');
  const words: Readonly<Record<string, (value: string) => Row | undefined>> = {
    action: () => undefined,
    userAddress: (value) => ['Wallet', shortened(value)],
    chainId: () => ['Chain', chainName(chainId, chains)],
    id: (value) => ['Position', value],
    strategyId: (value) => ['Strategy', shortened(value.replace('equity-', ''))],
    payToken: (value) => ['Token', symbolAt(chainId, value)],
    amount: (value) => ['Amount', amount(value, token === null ? '' : symbolAt(chainId, token))],
    full: () => ['Amount', 'all of it'],
    leverage: (value) => ['Leverage', leverage(value)],
    desiredLtv: (value) => ['LTV', ltv(value)],
    stockLtvPct: (value) => ['LTV of the stock', ltv(value)],
    slippage: (value) => ['Slippage at most', percent(Number(value) * 100)],
    maxSwapLossPct: (value) => ['Swaps lose at most', percent(value)],
    minAmountOut: (value) => ['Output at least', amount(value)],
    yieldPositionIds: (value) => ['Loops', value === '' ? 'none' : value.replaceAll(',', ', ')],
  };
  return [...query].flatMap(([name, value]) => {
    const row = words[name] === undefined ? ([name, value] as const) : words[name](value);
    return row === undefined ? [] : [row];
  });
}

const NUMBERS = ['chainId', 'id', 'leverage', 'slippage', 'maxSwapLossPct'];

interface LinkRequest {
  preview(signal: AbortSignal): Promise<readonly (Node | null)[]>;
  build(): Promise<Plan>;
}

/** The request that the link was made from. The service checks every value of it again. */
function requestOf({ query, client, graphql }: ViewContext, action: string): LinkRequest {
  const body: Record<string, unknown> = Object.fromEntries(
    [...query].map(([name, value]) => [name, NUMBERS.includes(name) ? Number(value) : value]),
  );
  if (body.full === 'true') body.full = true;
  if (typeof body.yieldPositionIds === 'string') body.yieldPositionIds = body.yieldPositionIds.split(',').map(Number);
  const { action: _action, ...rest } = body;
  if (action === 'equity_exit') {
    const asked = rest as unknown as RowInput<'equityExitBuild'>;
    return {
      async preview(signal) {
        const { costs, totalSwapCostPctOfEquity, issues, chainId } = await client.equityExitSimulate(asked, { signal });
        return [
          facts([['Cost of the swaps', costText(costs, totalSwapCostPctOfEquity)]], 'lines'),
          ...issueNotes(issues, chainId),
        ];
      },
      build: () => client.equityExitBuild(asked),
    };
  }
  if (action === 'open_leverage') {
    const asked = rest as unknown as RowInput<'leverageBuild'>;
    const { userAddress: _user, ...simulated } = rest;
    return {
      async preview(signal) {
        const found = await client.leverageSimulate(simulated as unknown as RowInput<'leverageSimulate'>, { signal });
        const { effectiveLtv, expectedLeverageApy, costs, totalSwapCostPctOfEquity } = found.positionPreview;
        return [
          facts(
            [
              ['LTV', ltv(effectiveLtv)],
              ['Net APY', percent(expectedLeverageApy)],
              ['Cost to open', costText(costs, totalSwapCostPctOfEquity)],
            ],
            'lines',
          ),
          ...issueNotes(found.issues, Number(query.get('chainId') ?? 1)),
        ];
      },
      build: () => client.leverageBuild(asked),
    };
  }
  const asked = body as unknown as RowInput<'manageBuild'>;
  return {
    async preview(signal) {
      const found = await client.manageSimulate(body as unknown as RowInput<'manageSimulate'>, { signal });
      const known = (await strategyFacts(graphql, [found.strategyId], signal)).get(found.strategyId);
      const pair = { collateral: known?.collateral.symbol ?? '', loan: known?.loan.symbol ?? '' };
      return managedNodes(found, pair, known?.limits ?? {});
    },
    build: () => client.manageBuild(asked),
  };
}
