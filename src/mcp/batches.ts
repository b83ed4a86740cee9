import { recordOf } from './json-rpc.ts';

/** The first version of the protocol without batches. */
const WITHOUT_BATCHES = '2025-06-18';
const MAX_MESSAGES = 10;

/** Why an array of messages is refused; `undefined` = it is a batch of an older version of the protocol. */
export function batchProblem(messages: readonly unknown[], protocolVersion: string | undefined): string | undefined {
  if (protocolVersion !== undefined && protocolVersion >= WITHOUT_BATCHES) {
    return `Version ${WITHOUT_BATCHES} of the protocol and later have no batches. Send one message per request.`;
  }
  if (messages.length === 0) return 'A batch without messages. Send one message.';
  if (messages.length > MAX_MESSAGES) {
    return `A batch of ${messages.length} messages is too long. Send at most ${MAX_MESSAGES}, or one message per request.`;
  }
  if (messages.some((message) => recordOf(message).method === 'initialize')) {
    return 'An initialize message cannot be in a batch. Send it alone.';
  }
  return messages.some(namesVersion)
    ? 'A batch cannot have messages of a version of the protocol without batches. Send one message per request.'
    : undefined;
}

/** Messages of the versions without a handshake name their version themselves. */
const VERSION = 'io.modelcontextprotocol/protocolVersion';

function namesVersion(message: unknown): boolean {
  const meta = recordOf(recordOf(recordOf(message).params)._meta);
  return Object.hasOwn(meta, VERSION);
}
