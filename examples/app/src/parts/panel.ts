import type { Plan } from '../client.ts';
import { actionHint, actionTitle } from '../copy/index.ts';
import { button, el } from '../dom.ts';
import type { ViewContext } from '../views/view.ts';
import { reviewPlan } from './review.ts';
import { failed } from './state.ts';

/** What a form asks for, as far as it is filled in. */
export type Reading<Body> =
  | {
      readonly kind: 'ready';
      readonly body: Body /** Why it may be previewed, and not built. */;
      readonly unpayable?: string;
    }
  /** Not filled in: no error. */
  | { readonly kind: 'empty'; readonly hint: string }
  /** The form says what is wrong. */
  | { readonly kind: 'wrong' };

export interface PanelOptions<Body> {
  readonly context: ViewContext;
  readonly chainId: number;
  readonly action: string;
  /** Fires `input` when the request changes. */
  readonly form: HTMLElement;
  read(): Reading<Body>;
  /** What the request leads to, with live numbers. */
  preview(body: Body, signal: AbortSignal): Promise<readonly (Node | null)[]>;
  build(body: Body): Promise<Plan>;
  /** The form rests, and asks for nothing that can be previewed. */
  onUnready?(): void;
  /** The chain has confirmed everything. */
  onDone?(): void;
  readonly signal: AbortSignal;
}

export interface Panel {
  readonly node: HTMLElement;
  /** Preview again, e.g. after the form was changed by a script. */
  refresh(): void;
}

/** How long a form rests before a preview is requested, ms. */
const REST_MS = 250;

/** A form with a live preview, a review of the built plan, and its execution. */
export function createPanel<Body>(options: PanelOptions<Body>): Panel {
  const { action, form, signal, chainId } = options;
  const preview = el('div', { id: 'preview', 'aria-live': 'polite' });
  const plan = el('div', { id: 'plan', 'aria-live': 'polite' });
  const review = button('Review', { id: 'build', class: 'primary', disabled: true }, () => void showPlan());
  let running = new AbortController();

  const show = async () => {
    running.abort();
    running = new AbortController();
    const own = AbortSignal.any([running.signal, signal]);
    const reading = options.read();
    if (reading.kind !== 'ready') {
      options.onUnready?.();
      preview.removeAttribute('aria-busy');
      preview.replaceChildren(...(reading.kind === 'empty' ? [el('p', { class: 'muted' }, reading.hint)] : []));
      return;
    }
    preview.setAttribute('aria-busy', 'true');
    try {
      const nodes = await options.preview(reading.body, own);
      if (own.aborted) return;
      preview.replaceChildren(...nodes.filter((node) => node !== null));
      review.disabled = reading.unpayable !== undefined;
    } catch (error) {
      if (own.aborted) return;
      preview.replaceChildren(failed(error, () => void show(), chainId));
    }
    preview.removeAttribute('aria-busy');
  };
  let resting: ReturnType<typeof setTimeout> | undefined;
  const changed = () => {
    clearTimeout(resting);
    // A preview or a plan that no longer fits the form is gone.
    running.abort();
    plan.replaceChildren();
    review.hidden = false;
    review.disabled = true;
    const { kind } = options.read();
    if (kind === 'ready') preview.setAttribute('aria-busy', 'true');
    if (kind === 'wrong') preview.replaceChildren();
    resting = setTimeout(() => void show(), REST_MS);
  };
  const showPlan = async () => {
    const reading = options.read();
    if (reading.kind !== 'ready') return;
    review.disabled = true;
    await reviewPlan({
      context: options.context,
      chainId,
      place: plan,
      build: () => options.build(reading.body),
      onReviewed: () => {
        review.hidden = true;
      },
      onRunning: (isRunning) => {
        form.inert = isRunning;
      },
      onDone: () => options.onDone?.(),
      again: () => {
        changed();
        clearTimeout(resting);
        void show().then(showPlan);
      },
    });
    review.disabled = false;
  };
  form.addEventListener('input', changed);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (!review.disabled) void showPlan();
  });
  signal.addEventListener('abort', () => clearTimeout(resting));
  const node = el(
    'section',
    { class: 'card panel', 'aria-labelledby': 'panel-title' },
    el('h2', { id: 'panel-title' }, actionTitle(action)),
    el('p', { class: 'muted' }, actionHint(action)),
    form,
    preview,
    review,
    plan,
  );
  void show();
  return { node, refresh: changed };
}
