import { type Client, ExecutionError, execute, type Plan, type Progress, type ProofOptions, prove } from './client.ts';
import { alertOf, el } from './dom.ts';
import { shortened } from './format.ts';
import type { DevelopmentWallet } from './wallet.ts';
import { askForWorth } from './worth.ts';

export interface PlanPanelOptions {
  readonly client: Client;
  readonly wallet: DevelopmentWallet;
  readonly account: string;
  readonly signal: AbortSignal;
  /** Ask the service for the plan. */
  readonly build: () => Promise<Plan>;
}

export interface PlanPanel {
  readonly node: HTMLElement;
  /** Remove a plan that no longer matches the form. */
  clear(): void;
}

/** A button that builds a plan, the effects of the plan, and a button that executes it. */
export function planPanel(options: PlanPanelOptions): PlanPanel {
  const shown = el('div', { class: 'plan', 'aria-live': 'polite' });
  const build = el('button', { type: 'button', class: 'primary', id: 'build' }, 'Build the transaction');
  build.addEventListener('click', async () => {
    build.disabled = true;
    const waiting = el('div', {}, 'Building …');
    shown.replaceChildren(waiting);
    const question = (form: HTMLElement) => {
      if (waiting.isConnected) waiting.replaceChildren(form);
    };
    const nodes = await planOf(options, { worth: askForWorth(question) }).catch((error: unknown) => [alertOf(error)]);
    // Skipped if the panel was cleared while the plan was built.
    if (waiting.isConnected) shown.replaceChildren(...nodes);
    build.disabled = false;
  });
  const clear = () => {
    shown.replaceChildren();
    // The question for a price may be among what is removed.
    build.disabled = false;
  };
  const node = el(
    'section',
    { 'aria-labelledby': 'plan-title' },
    el('h2', { id: 'plan-title' }, 'Transaction'),
    build,
    shown,
  );
  return { node, clear };
}

async function planOf(options: PlanPanelOptions, proof: ProofOptions): Promise<readonly Node[]> {
  const plan = await options.build();
  await switchChain(plan, options);
  // Against the request that the client has sent, with readings of the chain: the service has no say in it.
  const { sentences } = await prove(plan, options.wallet, { ...proof, account: options.account });
  const run = el('button', { type: 'button', class: 'primary', id: 'execute' }, 'Execute');
  const progress = el('ol', { class: 'progress', id: 'progress', 'aria-live': 'polite' });
  run.addEventListener('click', async () => {
    run.disabled = true;
    progress.replaceChildren();
    const say = (text: string) => progress.append(el('li', {}, text));
    try {
      await executePlan(plan, options, proof, say);
      say('Done.');
      progress.after(el('p', {}, el('a', { href: '#/positions' }, 'To the positions')));
    } catch (error) {
      progress.append(el('li', {}, alertOf(error)));
      // A sent transaction may still be mined: the same plan, sent again, would be executed twice.
      const isSent = error instanceof ExecutionError && error.sent.length > 0;
      if (isSent) say('Something was sent: look at the positions before you build a transaction again.');
      run.disabled = isSent;
    }
  });
  const { issues = [] } = plan.meta as { issues?: readonly { message: string }[] };
  return [
    el('h3', {}, 'What it does, read from its bytes'),
    el('ul', { id: 'proof' }, ...sentences.map((sentence) => el('li', {}, sentence))),
    ...(issues.length === 0
      ? []
      : [el('ul', { class: 'issues' }, ...issues.map(({ message }) => el('li', {}, message)))]),
    run,
    progress,
  ];
}

/** Send the plan. A plan that expired meanwhile is built and proven again. */
async function executePlan(
  plan: Plan,
  options: PlanPanelOptions,
  proof: ProofOptions,
  say: (text: string) => void,
): Promise<void> {
  const { client, wallet, account, signal } = options;
  await switchChain(plan, options);
  const execution = await execute(plan, wallet, {
    account,
    signal,
    proof,
    rebuild: client.rebuild,
    pollMs: 250,
    onProgress: (progress) => {
      const text = sentenceOf(progress);
      if (text !== undefined) say(text);
    },
  });
  for (const { event, index } of execution.outcome.positions) say(`${event}: position ${index}.`);
}

async function switchChain({ chainId }: Plan, { wallet }: PlanPanelOptions): Promise<void> {
  await wallet.request({ method: 'wallet_switchEthereumChain', params: [{ chainId: `0x${chainId.toString(16)}` }] });
}

function sentenceOf(progress: Progress): string | undefined {
  switch (progress.kind) {
    case 'checked':
      return `The plan fits the wallet and the chain: ${progress.calls} to sign.`;
    case 'rebuilt':
      return 'The plan had expired and was built again.';
    case 'signing':
      return `Signing ${progress.index + 1} of ${progress.total}, for ${shortened(progress.to)}.`;
    case 'mined':
      return `Mined: ${shortened(progress.hash)}.`;
    case 'revoking':
      return 'A call failed: revoking the authorization.';
    default:
      return undefined;
  }
}
