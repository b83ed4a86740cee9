import { seededWallet } from '../../../../../devnet/seed/wallets.ts';

export const OWNER = seededWallet('looper').account.address;
export const MARKET = '0x90ef0c5a0dc7c4de4ad4585002d44e9d411d212d2f6258e94948beecf8b4c0d5';

/** Bodies, the field that is refused, and its message. */
export const REFUSED_INPUTS: readonly (readonly [string, object, string, RegExp])[] = [
  ['no subject', {}, 'body.wallet', /either wallet.*or strategyId/],
  [
    'a strategy that is no vault, of a wallet',
    { wallet: OWNER, strategyId: MARKET },
    'body.strategyId',
    /id of an equity vault.*Send positionIndex/,
  ],
  [
    'an index of a vault',
    { wallet: OWNER, strategyId: MARKET, positionIndex: 0 },
    'body.positionIndex',
    /not one position/,
  ],
  ['an index of a strategy', { strategyId: MARKET, positionIndex: 0 }, 'body.positionIndex', /no position/],
  [
    'a position that is not there',
    { wallet: OWNER, positionIndex: 77 },
    'body.positionIndex',
    /the wallet has \d+ positions, 0 to \d+ on chain 1.*Send the index of one/,
  ],
  ['an unknown strategy', { strategyId: `0x${'1'.repeat(64)}` }, 'body.strategyId', /No chain has a strategy/],
  [
    'a condition of wallets',
    { strategyId: MARKET, condition: 'liquidated' },
    'body.condition',
    /Send one of apy_below/,
  ],
  ['no threshold', { strategyId: MARKET, condition: 'apy_below' }, 'body.threshold', /needs a threshold/],
  ['a threshold too many', { strategyId: MARKET, threshold: '1' }, 'body.threshold', /Leave threshold out/],
  [
    'a headroom above 100',
    { wallet: OWNER, condition: 'headroom_below', threshold: '100.5' },
    'body.threshold',
    /0 to 100 percent/,
  ],
  [
    'a rearmAt below',
    { wallet: OWNER, condition: 'headroom_below', threshold: '5', rearmAt: '4' },
    'body.rearmAt',
    /Send 5 or more/,
  ],
  ['a long label', { strategyId: MARKET, label: 'x'.repeat(101) }, 'body.label', /100/],
  ['an unprintable label', { strategyId: MARKET, label: 'a\u0000b' }, 'body.label', /cannot be shown/],
  ['another chain', { strategyId: MARKET, chainId: 5 }, 'body.chainId', /1 or 4663/],
  [
    'a URL with a password',
    { strategyId: MARKET, webhookUrl: 'https://a:b@c.example/' },
    'body.webhookUrl',
    /user name or a password/,
  ],
  ['no URL', { strategyId: MARKET, webhookUrl: 'example' }, 'body.webhookUrl', /is not a URL/],
  ['a file', { strategyId: MARKET, webhookUrl: 'file:///etc/passwd' }, 'body.webhookUrl', /not an http/],
];
