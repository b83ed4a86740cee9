import { at, badge, el, fillTable, SEVERITY_TONES } from './dom.js';
import { age, amount, DRIFT_WORDS, REASON_WORDS, UNKNOWN, usd, when, words } from './format.js';
import { chainName, explorerLink, positionLink, walletLink } from './links.js';

function blockLink({ chainId, onChain }) {
  const number = String(onChain.readAt.blockNumber);
  return el('span', {}, number, explorerLink(chainId, ['block', number], `Block ${number}`));
}

/** Browsers have no clipboard for a page without TLS on another host, and may refuse it. */
async function isCopied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

/** A statement to copy; the page never sends it anywhere. */
function repair({ suggestedSql, positionIndex }) {
  if (!suggestedSql) return null;
  const state = el('span', { role: 'status' });
  const copy = el('button', { type: 'button', 'aria-label': `Copy the SQL of position ${positionIndex}` }, 'Copy');
  const code = el('pre', { tabindex: '0' }, suggestedSql);
  copy.addEventListener('click', async () => {
    state.textContent = (await isCopied(suggestedSql)) ? 'Copied.' : 'Press Ctrl+C or ⌘C: the SQL is selected.';
    if (state.textContent !== 'Copied.') getSelection()?.selectAllChildren(code);
  });
  const note = suggestedSql.includes(':deposited_usd') ? 'Set the deposit first: \\set deposited_usd 0.00' : '';
  return el(
    'details',
    { class: 'repair' },
    el('summary', {}, 'Suggested repair (SQL)'),
    code,
    copy,
    ' ',
    state,
    ` ${note}`,
  );
}

/** The number of earlier occurrences, as text. */
function before(earlier) {
  if (earlier.length === 0) return '';
  const times = earlier.length === 1 ? 'once' : `${earlier.length} times`;
  return ` · ${times} before, gone ${when(earlier[0].goneAt)}`;
}

/** Disagreements with the evidence of both sides. */
export function showDrift({ totalCount, nodes }, byUnresolvedReason) {
  at('drift-count').textContent = nodes.length === totalCount ? `${totalCount}` : `${nodes.length} of ${totalCount}`;
  const side = (title, facts) =>
    el(
      'div',
      { class: 'side' },
      el('h4', {}, title),
      el('dl', {}, ...facts.flatMap(([name, value]) => [el('dt', {}, name), el('dd', {}, value)])),
    );
  const entries = nodes.map((drift) =>
    el(
      'li',
      { class: `drift-entry ${words(drift.severity)}` },
      el(
        'div',
        { class: 'drift-head' },
        badge(words(drift.severity), SEVERITY_TONES[drift.severity]),
        el('h3', {}, DRIFT_WORDS[drift.kind]),
        el(
          'span',
          { class: 'drift-where' },
          walletLink(drift.chainId, drift.wallet),
          ` · ${chainName(drift.chainId)} · `,
          positionLink(
            { ...drift, market: `${drift.marketId} market`, proxy: drift.onChain.proxy },
            `#${drift.positionIndex}`,
          ),
        ),
        el('span', { class: 'drift-since' }, `since ${when(drift.firstSeenAt)}${before(drift.earlier)}`),
      ),
      el('p', {}, drift.message),
      el(
        'div',
        { class: 'sides' },
        side('Chain', [
          ['Status', words(drift.onChain.status)],
          ['Net value', usd(drift.onChain.netValueUsd)],
          ['Collateral', amount(drift.onChain.collateralAmount)],
          ['Debt', amount(drift.onChain.debtAmount)],
          ['Block', blockLink(drift)],
        ]),
        drift.inRegister
          ? side('Register', [
              ['Status', drift.inRegister.isOpen ? 'open' : 'closed'],
              ['Deposited', usd(drift.inRegister.depositedUsd)],
              ['Returned', usd(drift.inRegister.returnedUsd)],
              ['Updated', when(drift.inRegister.updatedAt)],
              ['Closed', when(drift.inRegister.closedAt)],
            ])
          : side('Register', [['Row', 'none']]),
      ),
      repair(drift),
    ),
  );
  if (entries.length === 0)
    entries.push(el('li', { class: 'none' }, 'Register and chain agree about all entries that match.'));
  at('drift').replaceChildren(...entries);
  const reasons = byUnresolvedReason.filter(({ count }) => count > 0);
  at('unresolved').textContent =
    reasons.length === 0
      ? 'Every row of the register has a position on chain.'
      : `Rows of the register without a position: ${reasons.map(({ reason, count }) => `${count} ${REASON_WORDS[reason]}`).join(', ')}.`;
}

const GONE_COLUMNS = [
  { name: 'Drift', show: ({ kind }) => DRIFT_WORDS[kind] },
  { name: 'Severity', show: ({ severity }) => badge(words(severity), SEVERITY_TONES[severity]) },
  {
    name: 'Position',
    show: (row) => positionLink({ ...row, market: `${row.marketId} market` }, `#${row.positionIndex}`),
  },
  { name: 'Wallet', show: (row) => walletLink(row.chainId, row.wallet) },
  { name: 'Chain', show: ({ chainId }) => chainName(chainId) },
  { name: 'First seen', numeric: true, show: ({ firstSeenAt }) => when(firstSeenAt) },
  { name: 'Last seen', numeric: true, show: ({ lastSeenAt }) => when(lastSeenAt) },
  { name: 'Gone', numeric: true, show: ({ goneAt }) => when(goneAt) },
  {
    name: 'Lasted',
    numeric: true,
    show: ({ firstSeenAt, goneAt }) => (goneAt ? age((Date.parse(goneAt) - Date.parse(firstSeenAt)) / 1_000) : UNKNOWN),
  },
];

/** Disagreements that are gone. */
export function showGone(rows, totalCount) {
  at('gone-count').textContent = rows.length === totalCount ? `${totalCount}` : `${rows.length} of ${totalCount}`;
  fillTable(at('gone'), 'Drift that is gone', GONE_COLUMNS, rows, 'No disagreement that matches is gone.');
}
