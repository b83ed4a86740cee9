// Show the health of the service to people.

const NAMES = { 1: 'Ethereum', 4663: 'Robinhood Chain' };
/** Groups of facts as people call them. */
const GROUPS = {
  lendingState: 'Markets',
  oracle: 'Oracle prices',
  prices: 'USD prices',
  priceReferences: 'Second prices',
  collateralApy: 'Collateral APY',
  incentives: 'Incentives',
  exitLiquidity: 'Exit liquidity',
  borrowHistory: 'Borrow-APY history',
  deployment: 'Contracts',
  tvl: 'TVL',
};
const TIMEOUT_MS = 10_000;

function at(id) {
  return document.getElementById(id);
}

/** Make an element. Text is always text, never markup. */
function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

function durationOf(seconds) {
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3_600)} h`;
  return `${Math.round(seconds / 86_400)} days`;
}

function ageOf(seconds) {
  return typeof seconds === 'number' ? `${durationOf(seconds)} ago` : 'never';
}

/** Words for a name in camel case that is not in the table, e.g. of a later version. */
function wordsOf(name) {
  const words = String(name).replace(/([A-Z])/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const groupName = ({ group, source }) => `${GROUPS[group] ?? wordsOf(group)}${source ? ` (${source})` : ''}`;

function badge(kind, text) {
  return el('span', { class: `badge ${kind}` }, text);
}

const KIND_OF = { fresh: 'good', stale: 'bad', failing: 'warn' };

function chainOf(chain) {
  const groups = chain.groups ?? [];
  const late = groups.filter(({ status }) => status === 'stale' || status === 'failing');
  const name = NAMES[chain.chainId] ?? `Chain ${chain.chainId}`;
  const state = !chain.ready
    ? badge('bad', 'not ready')
    : late.length > 0
      ? badge('warn', `${late.length} of ${groups.length} groups late or failing`)
      : badge('good', 'ready');
  const rows = groups.map((group) =>
    el(
      'tr',
      {},
      el('th', { scope: 'row' }, groupName(group)),
      el('td', {}, badge(KIND_OF[group.status] ?? 'plain', String(group.status))),
      el('td', {}, `${ageOf(group.ageSec)} (${durationOf(group.budgetSec)})`),
    ),
  );
  const heads = ['Data', 'State', 'Read (allowed age)'].map((text) => el('th', { scope: 'col' }, text));
  return el(
    'details',
    { class: 'chain' },
    el(
      'summary',
      {},
      el('strong', {}, name),
      ' ',
      state,
      ' ',
      el('span', { class: 'muted' }, `${chain.listed} strategies listed of ${chain.strategies}`),
    ),
    el(
      'div',
      { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': `Data of ${name}` },
      el('table', {}, el('thead', {}, el('tr', {}, ...heads)), el('tbody', {}, ...rows)),
    ),
  );
}

function summaryOf(health) {
  const chains = health.chains ?? [];
  const waiting = chains.filter(({ ready }) => !ready);
  const lines = [
    ...waiting.map(
      ({ chainId, missing }) =>
        `${NAMES[chainId] ?? `Chain ${chainId}`} is not ready${missing ? `: waiting for ${missing.join(', ')}` : ''}.`,
    ),
    ...(health.degraded ?? []).map((text) => `${text}.`),
  ];
  if (lines.length === 0)
    return [el('p', {}, badge('good', 'all well'), ' Every chain is ready and every source answers.')];
  const text = waiting.length > 0 ? 'not ready' : 'degraded';
  const about =
    waiting.length > 0
      ? ' Answers of these chains are incomplete.'
      : ' Answers use the last good value where a source fails, and say its age.';
  return [
    el('p', {}, badge(waiting.length > 0 ? 'bad' : 'warn', text), about),
    el('ul', {}, ...lines.map((line) => el('li', {}, line.charAt(0).toUpperCase() + line.slice(1)))),
  ];
}

async function show() {
  const status = at('status');
  status.setAttribute('aria-busy', 'true');
  try {
    const response = await fetch('health', {
      signal: AbortSignal.timeout(TIMEOUT_MS),
      headers: { accept: 'application/json' },
    });
    const health = await response.json();
    if (!response.ok) throw new Error(health.error?.message ?? `The service answers with status ${response.status}.`);
    const open = new Set(
      [...at('chains').querySelectorAll('details[open] strong')].map(({ textContent }) => textContent),
    );
    const chains = (health.chains ?? []).map(chainOf);
    for (const chain of chains) chain.open = open.has(chain.querySelector('strong').textContent);
    status.replaceChildren(...summaryOf(health), el('p', { class: 'muted' }, `As of ${health.now}`));
    at('chains').replaceChildren(...chains);
  } catch (error) {
    const text =
      error instanceof SyntaxError || error.name === 'TimeoutError'
        ? 'The service gives no readable answer.'
        : error.message;
    status.replaceChildren(el('p', {}, badge('bad', 'unknown'), ` ${text} Press "Read again".`));
    at('chains').replaceChildren();
  }
  status.setAttribute('aria-busy', 'false');
}

at('origin').textContent = new URL('.', document.baseURI).href;
at('again').addEventListener('click', show);
show();
