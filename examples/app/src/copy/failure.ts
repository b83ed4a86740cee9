import {
  AlreadyStartedError,
  ClientError,
  ConnectionError,
  ExecutionError,
  InsufficientBalanceError,
  RateLimitedError,
  ServiceError,
  TimeoutError,
} from '../client.ts';
import { amount, fromUnits, leverage, ltv } from './numbers.ts';
import { readable, tokenAt } from './words.ts';

/** A failure as a sentence, and what to do next. */
export interface Failure {
  readonly what: string;
  readonly next: string;
  /** Whether something of the plan was sent: it must not be sent again without a look. */
  readonly isSent: boolean;
  /** Whether the same request may succeed later. */
  readonly canRetry: boolean;
}

type Words = readonly [what: string, next: string];

const REVIEW = 'Review it again: the numbers are then new.';
const LOOK = 'Look at your positions before you try again: it may still go through.';

/** By `code` of an error of the client. */
const WORDS: Readonly<Record<string, Words>> = {
  rejected: ['You said no in the wallet.', 'Nothing more is sent. Confirm again when you are ready.'],
  expired: ['The quotes have run out.', REVIEW],
  worse_plan: ['The market has moved against you since the review.', 'Review it again, and decide on the new numbers.'],
  would_revert: ['The next step would fail on the chain now, so it was not sent.', REVIEW],
  reverted: ['The chain refused the transaction: nothing has changed but the gas that was paid.', REVIEW],
  unproven: [
    'This plan is not proven to do what you asked for, so it is not offered to sign.',
    'Review it again. If it happens again, do not use this service.',
  ],
  invalid_plan: ['The service sent a plan that cannot be used.', REVIEW],
  wrong_chain: ['Your wallet is on the wrong chain.', 'Switch the chain in the wallet, then review it again.'],
  no_code: [
    "There is no contract where the plan leads: your wallet's node may be on another network.",
    'Check the network of the wallet, then review it again.',
  ],
  wallet_failed: [
    'The wallet did not answer as it should.',
    'Open the wallet, see whether it waits for you, then confirm again.',
  ],
  receipt_timeout: ['The transaction is not confirmed yet.', LOOK],
  replaced: ['The wallet sent another transaction in its place.', LOOK],
  unexpected_outcome: [
    'What was confirmed is not what was planned.',
    'Look at your positions before you do anything else.',
  ],
  invalid_answer: ['The service sent an answer that cannot be read.', 'Try again in a moment.'],
  unauthorized: [
    'The service does not accept the key of this app.',
    'Reload the page. If it happens again, restart the local world.',
  ],
  not_found: ['This is not there, or no longer.', 'Go back to the list and choose again.'],
  not_ready: ['The service has only just started and has not measured everything.', 'Try again in some seconds.'],
  upstream_unavailable: ['A source that this needs does not answer.', 'Try again in a minute.'],
  stale_data: ['The prices behind this are too old to act on.', 'Try again when they are fresh: nothing was sent.'],
  no_route: ['No exchange can fill this amount now.', 'Try a smaller amount or another token.'],
  insufficient_liquidity: [
    'The market does not have that much to lend now.',
    'Try a smaller amount or a lower leverage.',
  ],
  simulation_reverted: [
    'A test run of the transaction failed, so it was not built.',
    'Try a smaller amount, or again in a minute.',
  ],
  simulation_mismatch: ['A test run gave less than was planned, so it was not built.', 'Try again in a minute.'],
  internal: ['The service failed.', 'Try again in a minute.'],
};

/** What was asked for has to change. */
const ASKED: readonly string[] = ['bad_request', 'conflict', 'not_found'];

const UNKNOWN_FAILURE: Words = ['Something went wrong.', 'Try again. If it happens again, reload the page.'];

export function failureOf(error: unknown, chainId?: number): Failure {
  const isSent = error instanceof ExecutionError && error.sent.length > 0;
  const [what, next] = wordsOf(error, chainId);
  // A refusal after a first step: that step stays done.
  const isRest = isSent && error instanceof ExecutionError && error.code !== 'reverted' && next !== LOOK;
  const canRetry = !(error instanceof PageError) && !(error instanceof ServiceError && ASKED.includes(error.code));
  return { what, next: isRest ? `The steps that are done stay done. ${REVIEW}` : next, isSent, canRetry };
}

function wordsOf(error: unknown, chainId: number | undefined): Words {
  if (error instanceof InsufficientBalanceError) return balanceWords(error, chainId);
  if (error instanceof AlreadyStartedError) {
    return error.isRunning
      ? ['This is being sent already.', 'Wait until it is confirmed.']
      : ['This was sent before.', LOOK];
  }
  if (error instanceof RateLimitedError) {
    return ['Too many requests in a short time.', `Try again in ${error.retryAfter ?? 60} seconds.`];
  }
  if (error instanceof ConnectionError || error instanceof TimeoutError) {
    return ['The service does not answer.', 'Check your connection, then try again.'];
  }
  if (error instanceof ServiceError && (error.code === 'bad_request' || error.code === 'conflict')) {
    return requestWords(error, chainId);
  }
  if (error instanceof ServiceError && error.code === 'insufficient_liquidity') return liquidityWords(error);
  const known = error instanceof ClientError ? WORDS[error.code] : undefined;
  if (known !== undefined) return known;
  return error instanceof PageError ? [error.message, error.next] : UNKNOWN_FAILURE;
}

/** A fault of this page's own, in words. */
export class PageError extends Error {
  readonly next: string;
  constructor(message: string, next = 'Go back to the list and choose again.') {
    super(message);
    this.next = next;
  }
}

function balanceWords({ token, needed, available }: InsufficientBalanceError, chainId = 1): Words {
  const of = tokenAt(chainId, token ?? `0x${'0'.repeat(40)}`) ?? { symbol: '', decimals: 18 };
  const text = (units: bigint) => amount(fromUnits(units, of.decimals), of.symbol);
  return [
    `Your wallet has ${text(available)}, and this needs ${text(needed)}.`,
    'Enter a smaller amount, or top the wallet up.',
  ];
}

/** What the market can lend, and the amount that fits, where the service knows them. */
function liquidityWords({ details }: ServiceError): Words {
  const { available, symbol, maxAmount } = (details ?? {}) as Readonly<Record<string, string | null | undefined>>;
  const [what, next] = WORDS.insufficient_liquidity ?? UNKNOWN_FAILURE;
  return [
    available && symbol ? `The market can lend only ${amount(available, symbol, 'trunc')} now.` : what,
    maxAmount ? `Enter at most ${amount(maxAmount, '', 'trunc')}, or choose a lower leverage.` : next,
  ];
}

interface Details {
  readonly reason?: string;
  readonly field?: string;
  readonly limit?: Readonly<Record<string, string>>;
}

/** A refused number: the limit, where the service names one. Its own words are for programs. */
function requestWords({ message, details }: ServiceError, chainId: number | undefined): Words {
  const { reason, limit = {} } = (details ?? {}) as Details;
  if (reason === 'nothing_to_do') return ['The position is there already.', 'Choose another target.'];
  if (limit.maxAmount !== undefined)
    return [`At most ${amount(limit.maxAmount)} is possible now.`, 'Enter a smaller amount.'];
  if (limit.minAmount !== undefined)
    return [`At least ${amount(limit.minAmount)} is needed.`, 'Enter a larger amount.'];
  if (limit.maxLeverage !== undefined) {
    return [
      `At most ${leverage(limit.maxLeverage)} is safe here, an LTV of ${ltv(limit.maxLtvPct)}.`,
      'Choose a lower leverage.',
    ];
  }
  // The first sentence says what is wrong; what follows names fields of the interface.
  const [first = message] = readable(message.replace(/^(body|query|path)\.\w+: /, ''), chainId).split(
    /(?<=[.:]) (?=[A-Z])/,
  );
  return [first.charAt(0).toUpperCase() + first.slice(1), 'Change the request, then try again.'];
}
