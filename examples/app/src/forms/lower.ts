import type { RowAnswer, RowInput } from '../client.ts';
import { amount, leverage, ltv, readable, usd } from '../copy/index.ts';
import { el, facts as factList } from '../dom.ts';
import { choices, slider } from '../parts/fields.ts';
import { createPanel } from '../parts/panel.ts';
import { compared, costText, issueNotes, type Pair, type Side } from '../parts/result.ts';
import { reviewPlan } from '../parts/review.ts';
import { failed, loading } from '../parts/state.ts';
import type { ChainId, ViewContext } from '../views/view.ts';
import type { Managed } from './manage.ts';

type Options = RowAnswer<'deleverageOptions'>;
type Option = Options['options'][number];
type Step = Option['steps'][number];

const LEAST = 1.1;
const REST_MS = 350;

const NAMES: Readonly<Record<Option['action'], string>> = {
  repay: 'Repay with the wallet',
  add_collateral: 'Add collateral',
  close: 'Sell a part and repay',
};

/** Lower the leverage: a target, and the ways that lead there with their costs. */
export function lowerForm(context: ViewContext, { position, facts, signal, onDone }: Managed): HTMLElement {
  const { client, account } = context;
  const chainId = position.chainId as ChainId;
  const now = Number(position.currentLeverage ?? LEAST);
  const most = Math.max(LEAST, Math.round(now * 10 - 1) / 10);
  const level = slider({
    id: 'leverage',
    name: 'New leverage',
    min: LEAST,
    max: most,
    step: 0.1,
    initial: Math.max(LEAST, Math.min(most, Math.round(now * 7.5) / 10)),
    text: leverage,
  });
  const ways = el('div', { id: 'ways' });
  const next = el('div', {});
  const form = el('form', { class: 'form', 'aria-label': 'Lower' }, level.node, ways);
  const pair: Pair = { collateral: facts.collateral.symbol, loan: facts.loan.symbol };
  let found: Options | undefined;
  let chosen: Option | undefined;
  let running = new AbortController();
  let resting: ReturnType<typeof setTimeout> | undefined;

  const read = async () => {
    running.abort();
    running = new AbortController();
    const own = AbortSignal.any([running.signal, signal]);
    found = undefined;
    chosen = undefined;
    ways.replaceChildren(loading('prices and quotes', 3));
    const targetLtvPct = (100 - 100 / level.value()).toFixed(2);
    try {
      const answer = await client.deleverageOptions(
        { address: account, id: String(position.id), chainId, targetLtvPct },
        { signal: own },
      );
      if (own.aborted) return;
      found = answer;
      const usual = answer.options.find(({ action }) => action === (answer.cheapestAffordable ?? answer.cheapest));
      chosen = usual ?? answer.options.find(({ preview }) => preview);
      ways.replaceChildren(...waysOf(answer, chosen));
    } catch (error) {
      if (own.aborted) return;
      ways.replaceChildren(failed(error, () => void read(), chainId));
    }
    panel.refresh();
  };
  form.addEventListener('input', ({ target }) => {
    if (target instanceof HTMLInputElement && target.type === 'radio') {
      chosen = found?.options.find(({ action }) => action === target.value);
      return;
    }
    running.abort();
    found = undefined;
    chosen = undefined;
    next.replaceChildren();
    // The ways of the old target lead elsewhere.
    ways.replaceChildren(loading('prices and quotes', 3));
    clearTimeout(resting);
    resting = setTimeout(() => void read(), REST_MS);
  });
  signal.addEventListener('abort', () => clearTimeout(resting));
  const bodyOf = ({ action, amount: size, token, full }: Step) =>
    ({
      action,
      chainId,
      id: position.id,
      userAddress: account,
      ...(action === 'close' ? {} : { payToken: token }),
      ...(full ? { full: true } : { amount: size }),
    }) as RowInput<'manageBuild'>;
  const panel = createPanel<Option>({
    context,
    chainId,
    action: 'lower',
    form,
    signal,
    read() {
      if (chosen?.preview) return { kind: 'ready', body: chosen };
      return {
        kind: 'empty',
        hint: found?.needed === false ? 'The position is at or below this leverage already.' : '',
      };
    },
    preview: async ({ preview }) => (preview ? previewNodes(preview, position, pair, facts.limits) : []),
    build: ({ steps: [first] }) => client.manageBuild(bodyOf(first as Step)),
    onDone() {
      const [, second] = chosen?.steps ?? [];
      if (second === undefined) return onDone();
      next.replaceChildren(secondPart(context, chainId, second, () => client.manageBuild(bodyOf(second)), onDone));
      return onDone();
    },
  });
  void read();
  panel.node.append(next);
  return panel.node;
}

function waysOf(answer: Options, chosen: Option | undefined): readonly Node[] {
  const { underWater, options, needed } = answer;
  return [
    ...(underWater
      ? [el('p', { class: 'note warn', 'data-under-water': '' }, readable(underWater.message, answer.chainId))]
      : []),
    ...(needed
      ? [
          choices(
            'How',
            options.map((option) => ({
              value: option.action,
              text: NAMES[option.action],
              note: noteOf(option, answer.chainId),
              isOff: !option.preview,
            })),
            chosen?.action,
          ),
        ]
      : []),
  ];
}

function noteOf({ steps, unavailable, costUsd, gasUsd, affordability }: Option, chainId: number): string {
  if (unavailable) return `Not possible now. ${readable(unavailable.message, chainId)}`;
  const amounts = steps.map(textOf).join(', then ');
  const costs = [`Costs ${usd(costUsd)}`, gasUsd ? `gas about ${usd(gasUsd)}` : undefined].filter(
    (text) => text !== undefined,
  );
  const held = affordability === 'not_affordable' ? ' Your wallet does not hold that.' : '';
  return `${amounts.charAt(0).toUpperCase()}${amounts.slice(1)}. ${costs.join(', ')}.${held}`;
}

function textOf({ action, amount: size, symbol, full, fromProceeds }: Step): string {
  const verb = action === 'close' ? 'sell' : action === 'repay' ? 'repay' : 'add';
  return `${verb} ${full ? 'all debt, about ' : ''}${amount(size, symbol)}${fromProceeds ? ' of the proceeds' : ''}`;
}

function previewNodes(
  { positionPreview: shown, issues }: NonNullable<Option['preview']>,
  position: Managed['position'],
  pair: Pair,
  limits: Managed['facts']['limits'],
): readonly Node[] {
  const before: Side = {
    collateralAmount: position.amountLeveragedCollateral ?? '0',
    debtAmount: position.amountLoan ?? '0',
    equity: '0',
    ltv: position.ltvPct ?? null,
    apyPct: position.currentLeverageApyPct ?? null,
    liquidation: { price: position.liquidationPrice ?? '0', dropPct: position.priceDropToLiquidationPct ?? undefined },
  } as Side;
  const after: Side = {
    collateralAmount: shown.amountLeveragedCollateral,
    debtAmount: shown.amountLoan,
    equity: shown.equity,
    ltv: shown.effectiveLtv,
    apyPct: shown.expectedLeverageApy,
    liquidation: shown.liquidation,
  } as Side;
  return [
    compared(before, after, pair, limits),
    factList(
      [
        [
          'Cost of the swaps',
          costText(shown.costs, shown.costs.length === 0 ? undefined : shown.totalSwapCostPctOfEquity),
        ],
        ['LTV in the worst fill', ltv(shown.worstCase?.ltv)],
      ],
      'lines',
    ),
    ...issueNotes(issues, position.chainId),
  ];
}

/** The repayment out of what was sold: a transaction of its own, because the proceeds are in the wallet first. */
function secondPart(
  context: ViewContext,
  chainId: number,
  step: Step,
  build: Parameters<typeof reviewPlan>[0]['build'],
  onDone: () => void,
): HTMLElement {
  const place = el('div', {});
  const review = el('button', { type: 'button', class: 'primary', id: 'second' }, 'Review part 2');
  const show = () => {
    review.disabled = true;
    void reviewPlan({
      context,
      chainId,
      place,
      build,
      onReviewed: () => {
        review.hidden = true;
      },
      onRunning: () => undefined,
      onDone,
      again: show,
    }).then(() => {
      review.disabled = false;
    });
  };
  review.addEventListener('click', show);
  return el(
    'section',
    { 'aria-label': 'Part 2 of 2' },
    el('h3', {}, 'Part 2 of 2'),
    el('p', {}, `Now ${textOf(step)}: the LTV falls with this part.`),
    review,
    place,
  );
}
