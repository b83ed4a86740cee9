import type { Client, Plan, RowInput } from '../client.ts';
import { el, facts } from '../dom.ts';
import { planPanel } from '../plan-panel.ts';
import { strategyView } from './strategy.ts';
import type { View, ViewContext } from './view.ts';

/** Where `meta.signingUrl` of a plan leads: the same request again, to be reviewed and signed. */
export const signView: View = async (context) => {
  const { client, wallet, account, query, signal, place } = context;
  const action = query.get('action') ?? '';
  const strategyId = query.get('strategyId') ?? '';
  if (query.get('userAddress')?.toLowerCase() !== account.toLowerCase()) {
    throw new Error(`This link is for the wallet ${query.get('userAddress')}, which is not in the local world.`);
  }
  // An open and a deposit are shown with their previews, prefilled.
  if (action === 'equity_deposit' || (action === 'open_leverage' && query.has('leverage'))) {
    return strategyView({ ...context, id: strategyId });
  }
  const build = requestOf(context, action);
  place(
    el('h1', {}, TITLES[action] ?? `Review: ${action}`),
    facts([...query].map(([name, value]) => [name, value])),
    planPanel({ client, wallet, account, signal, build: () => build(client) }).node,
  );
};

const TITLES: Readonly<Record<string, string>> = {
  open_leverage: 'Open a position',
  increase_leverage: 'Increase the leverage',
  add_collateral: 'Add collateral',
  remove_collateral: 'Remove collateral',
  borrow: 'Borrow',
  repay: 'Repay',
  close: 'Close a position',
  equity_exit: 'Exit a vault',
};
const NUMBERS = ['chainId', 'id', 'leverage', 'slippage', 'maxSwapLossPct'];

/** The request that the link was made from. The service checks every value of it again. */
function requestOf({ query }: ViewContext, action: string): (client: Client) => Promise<Plan> {
  const body: Record<string, unknown> = Object.fromEntries(
    [...query].map(([name, value]) => [name, NUMBERS.includes(name) ? Number(value) : value]),
  );
  if (body.full === 'true') body.full = true;
  if (typeof body.yieldPositionIds === 'string') body.yieldPositionIds = body.yieldPositionIds.split(',').map(Number);
  const { action: _action, ...rest } = body;
  if (action === 'equity_exit') return (to) => to.equityExitBuild(rest as unknown as RowInput<'equityExitBuild'>);
  if (action === 'open_leverage') return (to) => to.leverageBuild(rest as unknown as RowInput<'leverageBuild'>);
  return (to) => to.manageBuild(body as unknown as RowInput<'manageBuild'>);
}
