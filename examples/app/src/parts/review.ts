import {
  ClientError,
  type Execution,
  ExecutionError,
  execute,
  type Plan,
  type PlanProof,
  type Progress,
  type ProofOptions,
  prove,
} from '../client.ts';
import { failureOf, readable, reviewOf, shortened, stepsOf } from '../copy/index.ts';
import { button, el, facts } from '../dom.ts';
import type { ViewContext } from '../views/view.ts';
import { leftRight } from './authorization.ts';
import { switchChain } from './balance.ts';
import { failed, loading } from './state.ts';
import { askForWorth } from './worth.ts';

export interface ReviewOptions {
  readonly context: ViewContext;
  readonly chainId: number;
  readonly place: HTMLElement;
  /** Ask the service for the plan. */
  readonly build: () => Promise<Plan>;
  onReviewed(): void;
  onRunning(isRunning: boolean): void;
  onDone(): void;
  /** Build and review it anew. */
  again(): void;
}

/** Build a plan, prove it, and show what it does; a button executes it. */
export async function reviewPlan(options: ReviewOptions): Promise<void> {
  const { context, place, chainId } = options;
  const waiting = el('div', {}, loading('the plan and its proof'));
  place.replaceChildren(waiting);
  const question = (form: HTMLElement) => {
    if (waiting.isConnected) waiting.replaceChildren(form);
  };
  const proof: ProofOptions = { worth: askForWorth(question) };
  try {
    const plan = await options.build();
    await switchChain(context.wallet, plan.chainId);
    // Against the request that the client has sent, with readings of the chain: the service has no say in it.
    const proven = await prove(plan, context.wallet, { ...proof, account: context.account });
    // Skipped if the panel was cleared meanwhile.
    if (!waiting.isConnected) return;
    options.onReviewed();
    const shown = shownPlan(plan, proven, proof, options);
    place.replaceChildren(shown);
    // The button that had the focus is gone.
    shown.querySelector('h3')?.focus();
  } catch (error) {
    if (waiting.isConnected) place.replaceChildren(failed(error, options.again, chainId));
  }
}

function shownPlan(plan: Plan, proven: PlanProof, proof: ProofOptions, options: ReviewOptions): HTMLElement {
  const { effects, facts: bounds, permissions, proof: sentences } = reviewOf(proven);
  const steps = stepList(stepsOf(plan));
  const result = el('div', { class: 'result' });
  const run = button('Confirm', { id: 'execute', class: 'primary' }, () => void execution());
  const execution = async () => {
    run.disabled = true;
    run.textContent = 'Waiting for the chain …';
    options.onRunning(true);
    result.replaceChildren();
    try {
      const done = await executePlan(plan, proof, steps, options);
      run.remove();
      result.replaceChildren(...doneNodes(done, plan.chainId));
      result.querySelector('a')?.focus();
      options.onDone();
    } catch (error) {
      steps.fail();
      result.replaceChildren(...failureNodes(error, options));
      // A sent transaction may still be mined: the same plan, sent again, would be executed twice.
      const isOver = error instanceof ExecutionError && (error.sent.length > 0 || error.code !== 'rejected');
      if (isOver) run.remove();
      run.disabled = false;
      run.textContent = 'Confirm';
    }
    options.onRunning(false);
  };
  const { issues = [] } = plan.meta as { issues?: readonly { kind: string; message: string }[] };
  const notes = issues.filter(({ kind }) => kind !== 'approval_needed');
  return el(
    'div',
    { class: 'review' },
    el('h3', { tabindex: -1 }, 'What it does, proven from its bytes'),
    el('ul', { class: 'proof' }, ...effects.map((text) => el('li', {}, text))),
    facts(bounds, 'lines'),
    ...notes.map(({ message }) => el('p', { class: 'note warn' }, readable(message, plan.chainId))),
    el(
      'details',
      {},
      el('summary', {}, 'Who may take what'),
      el('ul', {}, ...permissions.map((text) => el('li', {}, text))),
    ),
    el(
      'details',
      {},
      el('summary', {}, 'Every sentence of the proof'),
      el('ul', { class: 'sentences' }, ...sentences.map((text) => el('li', {}, text))),
    ),
    el('h3', {}, 'Steps'),
    steps.node,
    run,
    result,
  );
}

/** Send the plan. A plan that expired meanwhile is built and proven again. */
async function executePlan(
  plan: Plan,
  proof: ProofOptions,
  steps: StepList,
  { context }: ReviewOptions,
): Promise<Execution> {
  const { client, wallet, account, signal } = context;
  await switchChain(wallet, plan.chainId);
  return execute(plan, wallet, {
    account,
    signal,
    proof,
    rebuild: client.rebuild,
    pollMs: 250,
    onProgress: (progress) => report(progress, steps),
  });
}

function report(progress: Progress, steps: StepList): void {
  switch (progress.kind) {
    case 'rebuilt':
      steps.say('The quotes had run out: it was built and proven again, within your limits.', stepsOf(progress.plan));
      break;
    case 'blocked':
      steps.say('Somebody has added collateral meanwhile: it is built again without that.');
      break;
    case 'signing':
      steps.mark(progress.index, 'sign', 'sign in the wallet');
      break;
    case 'sent':
      steps.mark(progress.index, 'sent', `sent, ${shortened(progress.hash)}`);
      break;
    case 'mined':
      steps.mark(progress.index, 'done', 'done');
      break;
    case 'revoking':
      steps.say('A step failed: the wallet is asked to take back the right that was given.');
      break;
    default:
  }
}

interface StepList {
  readonly node: HTMLElement;
  mark(index: number, state: string, text: string): void;
  /** The step under way has failed. */
  fail(): void;
  say(text: string, names?: readonly string[]): void;
}

function stepList(names: readonly string[]): StepList {
  const list = el('ol', { class: 'steps' });
  const said = el('p', { class: 'muted', role: 'status' });
  const itemOf = (name: string) =>
    el('li', { 'data-state': 'todo' }, el('span', {}, name), el('span', { class: 'muted small' }, 'not yet'));
  const fill = (all: readonly string[]) => list.replaceChildren(...all.map(itemOf));
  fill(names);
  const mark = (item: Element | null | undefined, state: string, text: string) => {
    item?.setAttribute('data-state', state);
    const shown = item?.lastElementChild;
    if (shown) shown.textContent = text;
  };
  return {
    node: el('div', {}, list, said),
    mark: (index, state, text) => mark(list.children[index], state, text),
    fail() {
      for (const item of list.querySelectorAll('[data-state=sign], [data-state=sent]')) mark(item, 'failed', 'failed');
    },
    say(text, all) {
      said.textContent = text;
      // What is done stays marked where the steps are the same.
      if (all !== undefined && all.length !== list.children.length) fill(all);
    },
  };
}

function doneNodes({ outcome }: Execution, chainId: number): readonly Node[] {
  const opened = outcome.positions.at(-1);
  const place = opened === undefined ? '' : `#/positions/${chainId}/${opened.index}`;
  const link =
    place === '' || location.hash.startsWith(place)
      ? el('a', { href: '#/positions' }, 'See your positions')
      : el('a', { href: place }, 'See the position');
  return [
    el(
      'div',
      { class: 'note good', role: 'status' },
      el('p', {}, el('strong', {}, 'Done.'), ' The chain has confirmed it. ', link),
    ),
  ];
}

/** What failed, what to do next, and what is left behind. */
function failureNodes(error: unknown, { context, chainId, again }: ReviewOptions): readonly Node[] {
  const { what, next, isSent } = failureOf(error, chainId);
  const isRefused = error instanceof ClientError && error.code === 'rejected' && !isSent;
  const note = el(
    'div',
    { class: 'note bad', role: 'alert' },
    el('p', {}, el('strong', {}, what), ' ', next),
    isRefused ? null : button('Review again', { class: 'plain' }, again),
    isSent ? el('a', { class: 'plain', href: '#/positions' }, 'See your positions') : null,
  );
  const revocation = error instanceof ExecutionError ? error.revocation : undefined;
  if (revocation === undefined) return [note];
  return [note, leftRight(context.wallet, revocation.chainId, revocation.call)];
}
