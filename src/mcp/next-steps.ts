import type { ErrorContent } from '../rest/envelope.ts';
import { recordOf } from './json-rpc.ts';

/** The tool that failed, as far as a next step names it. */
export interface FailedTool {
  readonly name: string;
  /** Names of its arguments. */
  readonly names: readonly string[];
}

export type Failure = Pick<ErrorContent, 'code' | 'details' | 'retryAfterSec'>;

/** Arguments that make an answer smaller, and those that change a swap. */
const SIZES = ['limit', 'points', 'days', 'chainId'];

/**
 * The next step of a model after an error. It names tools, arguments of the tool and details of the error that there are;
 * arguments are in backticks. Without a tool, the step of any of them.
 */
export function nextStepOf({ code, details, retryAfterSec }: Failure, tool?: FailedTool): string {
  const given = recordOf(details);
  const again = `call ${tool?.name ?? 'the tool'} again`;
  const wait = retryAfterSec === undefined ? 'Wait a minute' : `Wait for retryAfterSec (${retryAfterSec} s)`;
  const has = (name: string) => tool === undefined || tool.names.includes(name);
  switch (code) {
    case 'bad_request':
      return correction(given, again, has);
    case 'unauthorized':
      return 'This tool needs a valid API key. Ask the person who configured this server to send the header "Authorization: Bearer <API_KEY>" with every request. Do not ask for the key in the conversation. Tools without a key, such as list_strategies, go on.';
    case 'not_found':
      return `Look the id up with list_strategies or list_markets, that of a position with list_positions, and ${again}.`;
    case 'method_not_allowed':
    case 'unsupported_media_type':
      return 'Do not repeat the call: report it to the person, because a tool should not cause it.';
    case 'conflict':
      return 'Do not repeat the call as it is: an earlier one contradicts it, as error.message says.';
    case 'payload_too_large':
      return `Send shorter arguments: ${again}.`;
    case 'query_too_complex': {
      const sizes = SIZES.filter(has).map((name) => (name === 'chainId' ? 'one `chainId`' : `a smaller \`${name}\``));
      return sizes.length === 0
        ? 'Do not repeat the call: ask for less at once.'
        : `Ask for less, ${sizes.join(' or ')}: ${again}.`;
    }
    case 'rate_limited':
      return `${wait}, then ${again}. Every call of this key or address counts.`;
    case 'not_ready':
      return `What it asks for is not measured yet, after a start or while its source fails. ${wait}, then ${again}, at most three times; then tell the person.`;
    case 'upstream_unavailable':
      return `A provider fails. ${wait}, then ${again}.`;
    case 'stale_data':
      return `An input is too old for a transaction. ${wait}, then ${again}. Do not build from older answers.`;
    case 'no_route': {
      const ways = [has('amount') ? 'a smaller `amount`' : '', has('payToken') ? 'another `payToken`' : ''];
      const named = ways.filter((way) => way !== '').join(' or ');
      return named === ''
        ? `No venue makes this swap now. Wait a minute, then ${again}.`
        : `No venue makes this swap now: ${again} with ${named}, or later.`;
    }
    case 'insufficient_liquidity':
      return `${largest(given, again, has)}, or later. list_strategies has other strategies, with their liquidityUsd.`;
    case 'simulation_reverted':
      return typeof given.nextStep === 'string'
        ? `Do not send the transaction, which would fail. ${given.nextStep}`
        : 'Do not send the transaction, which would fail, and do not repeat the call as it is: error.message has the reason.';
    case 'simulation_mismatch':
      return `Prices moved: ${again} for a new build. Do not send an older one.`;
    case 'internal':
      return `${capital(again)} once. If it fails again, report the correlationId.`;
  }
}

/** The next step after a refused input. */
function correction(details: Readonly<Record<string, unknown>>, again: string, has: (name: string) => boolean): string {
  const { field, value, alternatives, reason, pointer, yieldPositionIds, owner } = details;
  const argument = typeof field === 'string' ? (field.split('.')[0] ?? '') : undefined;
  if (Array.isArray(alternatives) && alternatives.length > 0) {
    return 'Do not repeat the call. Each of details.alternatives leads there: call build_manage with its `action` and `amount`.';
  }
  if (typeof reason === 'string') {
    const where = typeof pointer === 'string' && !pointer.startsWith('/') ? ` Go on with ${pointer}.` : '';
    return `Do not repeat the call: details.reason forbids it, and error.message explains it.${where}`;
  }
  if (argument === undefined) return `Correct the arguments as error.message says, and ${again}.`;
  if (!has(argument)) return `Leave out the argument that details.field names, and ${again}.`;
  if (Array.isArray(yieldPositionIds)) {
    return `Ask the person which of details.yieldPositionIds to close, and ${again} with them as \`${argument}\`.`;
  }
  if (typeof owner === 'string') {
    const id = has('id') ? ', and `id` details.positionId' : '';
    return `${capital(again)}: \`${argument}\` is details.owner${id}.`;
  }
  const change = value === undefined ? 'Send' : 'Correct';
  return `${change} the argument that details.field names, as error.message says, and ${again}.`;
}

/** The largest inputs that liquidity allows. */
function largest(
  { maxAmount, maxLeverage, maxLtvPct }: Readonly<Record<string, unknown>>,
  again: string,
  has: (name: string) => boolean,
): string {
  if (Number(maxAmount) > 0 && has('amount')) return `${capital(again)} with an \`amount\` of at most ${maxAmount}`;
  if (maxLeverage !== undefined && has('leverage') && has('desiredLtv')) {
    return `${capital(again)} with a \`leverage\` of at most ${maxLeverage}, that is a \`desiredLtv\` of ${maxLtvPct}`;
  }
  return capital(again);
}

function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
