/** Values that the history of drift refuses: its arguments in GraphQL, the query of the row, and the parameter that is named. */
const ID = `0x${'ab'.repeat(32)}`;
const WALLET = ID.slice(0, 42);

export const REFUSED_FILTERS = [
  ['an unsupported chain', 'chainIds: [7]', 'chainId=7', 'chainId'],
  ['a number that is no chain id', 'chainIds: [-1]', 'chainId=4663.0', 'chainId'],
  ['SQL for a kind', 'filter: { kinds: ["no_db_row\' or true"] }', "kind=no_db_row' or true", 'kind'],
  ['an unknown severity', 'filter: { severities: [URGENT] }', 'severity=HIGH', 'severity'],
  ['a short address', 'filter: { wallets: ["0x12"] }', 'address=0x12', 'address'],
  ['an address before a zero byte', `filter: { wallets: ["${WALLET}\\u0000"] }`, `address=${WALLET}%00`, 'address'],
  ['a pattern for a market', 'filter: { marketIds: ["%"] }', 'marketId=%25', 'marketId'],
  ['a market for a vault', `filter: { vaultIds: ["${ID}"] }`, `vaultId=${ID}`, 'vaultId'],
  ['a long list', `filter: { wallets: [${`"${WALLET}" `.repeat(501)}] }`, `address=${WALLET},${WALLET}`, 'address'],
  ['an unknown condition', 'filter: { wallet: "0x12" }', 'wallet=0x12', 'wallet'],
  ['a text for a truth value', 'isGone: "yes"', 'isGone=1', 'isGone'],
  ['a page that is too long', 'first: 501', 'limit=501', 'limit'],
  ['a page without entries', 'first: 0', 'limit=0', 'limit'],
  ['an ambiguous page', 'first: 1, last: 1', 'limit=1e2', 'limit'],
  ['a cursor of another list', `after: "${btoa('drift:1')}"`, `after=${btoa('drift:1')}`, 'after'],
  ['a cursor without a number', `before: "${btoa('driftHistory:-1')}"`, `after=${btoa('driftHistory:9e9')}`, 'after'],
].map(([what = '', args = '', query = '', name = '']) => ({ what, args, query, name }));
