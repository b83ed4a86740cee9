import type { Plan, Position, RowInput } from '../client.ts';
import { type ActionName, amount, fromUnits, leverage, percentTick, toUnits } from '../copy/index.ts';
import { el } from '../dom.ts';
import { type AmountField, amountField, type PaidToken, type Slider, slider } from '../parts/fields.ts';
import { createPanel, type Reading } from '../parts/panel.ts';
import { highestLeverage, managedNodes, type Pair } from '../parts/result.ts';
import type { StrategyFacts } from '../queries.ts';
import type { ChainId, ViewContext } from '../views/view.ts';
import { lowerForm } from './lower.ts';
import { type Held, offerBalance, payTokens } from './open.ts';

export interface Managed {
  readonly position: Position;
  readonly facts: StrategyFacts;
  /** Ends with the form. */
  readonly signal: AbortSignal;
  onDone(): void;
}

type Body = RowInput<'manageSimulate'>;
type Fields = Omit<Body, 'chainId' | 'id' | 'userAddress' | 'positionId'>;

/** What a form of an action has: its fields, and the request that they make. */
interface Form {
  readonly node: HTMLElement;
  read(): Reading<Fields>;
}

const HINT = 'Enter an amount to see what it changes.';
const CLOSE_STEP = 5;

/** The form of an action on a position, with its preview and its plan. */
export function manageForm(context: ViewContext, action: ActionName, managed: Managed): HTMLElement {
  if (action === 'lower') return lowerForm(context, managed);
  const { position, facts, signal, onDone } = managed;
  const { client, account } = context;
  const chainId = position.chainId as ChainId;
  const of = { chainId, id: position.id, userAddress: account };
  const pair: Pair = { collateral: facts.collateral.symbol, loan: facts.loan.symbol };
  const form = FORMS[action]?.(context, managed);
  if (form === undefined) throw new Error(`There is no form of ${action}.`);
  const bodyOf = (fields: Fields) => ({ ...fields, ...of }) as Body;
  return createPanel<Fields>({
    context,
    chainId,
    action,
    form: form.node,
    signal,
    read: form.read,
    preview: async (fields, own) =>
      managedNodes(await client.manageSimulate(bodyOf(fields), { signal: own }), pair, facts.limits),
    build: (fields): Promise<Plan> => client.manageBuild(bodyOf(fields) as RowInput<'manageBuild'>),
    onDone,
  }).node;
}

const formOf = (name: string, ...fields: readonly (Node | null)[]): HTMLElement =>
  el('form', { class: 'form', 'aria-label': name }, ...fields);

type MakeForm = (context: ViewContext, managed: Managed) => Form;

const FORMS: Readonly<Partial<Record<ActionName, MakeForm>>> = {
  add_collateral: (context, { position, facts }) => {
    const { chainId } = position;
    const money = amountField({ name: 'You add', tokens: payTokens(chainId, [facts.collateral, facts.loan], null) });
    const node = formOf('Add collateral', money.node);
    const held = followHeld(context, chainId, money, node);
    return {
      node,
      read: () =>
        paid(money, held, (text) => ({ action: 'add_collateral', payToken: money.token().address, amount: text })),
    };
  },
  repay: (context, { position, facts }) => {
    const { chainId } = position;
    const money = amountField({ name: 'You repay', tokens: payTokens(chainId, [facts.loan, facts.collateral], null) });
    const all = el('input', { type: 'checkbox', id: 'full' });
    const owed = amount(position.amountLoan, facts.loan.symbol);
    const node = formOf('Repay', money.node, el('label', { class: 'check' }, all, `Repay the whole debt, ${owed}`));
    const held = followHeld(context, chainId, money, node);
    node.addEventListener('input', () => {
      money.node.inert = all.checked;
    });
    return {
      node,
      read: () =>
        all.checked
          ? { kind: 'ready', body: { action: 'repay', payToken: money.token().address, full: true } as Fields }
          : paid(money, held, (text) => ({ action: 'repay', payToken: money.token().address, amount: text })),
    };
  },
  increase_leverage: (_, { position, facts }) => {
    const now = Number(position.currentLeverage ?? 1);
    const most = facts.limits.safe === undefined ? now : highestLeverage(facts.limits.safe);
    if (now + 0.1 > most) return nothing(`The leverage is at the highest safe one already, ${leverage(most)}.`);
    const least = Math.round(now * 10 + 1) / 10;
    const level = levelOf(least, most, Math.min(most, least + 1));
    return {
      node: formOf('Increase', level.node),
      read: () => ({ kind: 'ready', body: { action: 'increase_leverage', leverage: level.value() } }),
    };
  },
  borrow: (context, managed) => takeOut(context, managed, 'borrow', 'You borrow', managed.facts.loan),
  remove_collateral: (context, managed) =>
    takeOut(context, managed, 'remove_collateral', 'You withdraw', managed.facts.collateral),
  close: (_, { position, facts }) => {
    const { decimals } = facts.collateral;
    const all = toUnits(position.amountLeveragedCollateral ?? '0', decimals);
    const share = slider({
      id: 'share',
      name: 'How much of it',
      min: CLOSE_STEP,
      max: 100,
      step: CLOSE_STEP,
      initial: 100,
      text: (pct) => (pct === 100 ? 'everything' : percentTick(pct)),
    });
    return {
      node: formOf('Close', share.node),
      read() {
        const pct = share.value();
        const part = fromUnits((all * BigInt(pct)) / 100n, decimals);
        return { kind: 'ready', body: pct === 100 ? { action: 'close' } : { action: 'close', amount: part } };
      },
    };
  },
};

const levelOf = (min: number, max: number, initial: number): Slider =>
  slider({
    id: 'leverage',
    name: 'New leverage',
    min,
    max,
    step: 0.1,
    initial,
    text: leverage,
    ends: [leverage(min), `${leverage(max)}, highest safe`],
  });

const nothing = (hint: string): Form => ({ node: formOf('Nothing to do'), read: () => ({ kind: 'empty', hint }) });

function paid(money: AmountField, held: Held | undefined, of: (text: string) => Fields): Reading<Fields> {
  const read = money.read();
  if (read.kind === 'empty') return { kind: 'empty', hint: HINT };
  if (read.kind === 'wrong') return read;
  return { kind: 'ready', body: of(read.text), ...held?.excess(read.text) };
}

function followHeld(context: ViewContext, chainId: number, money: AmountField, form: HTMLElement): Held {
  const held = offerBalance(context, chainId, money);
  form.addEventListener('input', ({ target }) => {
    if (target instanceof HTMLSelectElement) void held.read();
  });
  return held;
}

/** Borrowing and withdrawing: the most that is safe comes from a preview of the least. */
function takeOut(
  { client, account }: ViewContext,
  { position, signal }: Managed,
  action: 'borrow' | 'remove_collateral',
  name: string,
  token: PaidToken,
): Form {
  const money = amountField({ name, tokens: [token] });
  const least = fromUnits(1n, token.decimals);
  const of = { chainId: position.chainId as ChainId, id: position.id, userAddress: account };
  client
    .manageSimulate({ ...of, action, amount: least } as Body, { signal })
    .then(({ amounts }) => {
      const most = amounts?.largest ?? undefined;
      if (most !== undefined) money.offer('Safe', most, amount(most, token.symbol, 'trunc'));
    })
    // The form works without it.
    .catch(() => undefined);
  return { node: formOf(name, money.node), read: () => paid(money, undefined, (text) => ({ action, amount: text })) };
}
