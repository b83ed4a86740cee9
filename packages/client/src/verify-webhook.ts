import { ClientError, InputError } from './errors.ts';
import { isRecord } from './json.ts';
import { secondsOf, timeOf } from './option-checks.ts';

/** An event of an alert, as its webhook carries it. */
export interface WebhookEvent {
  /** The same in every attempt: an event that was seen before has to be ignored. */
  readonly id: string;
  /** `alert.ended`: it had fired, and no open position is left; that is no recovery. */
  readonly type: 'alert.fired' | 'alert.cleared' | 'alert.ended' | 'alert.ping';
  readonly occurredAt: string;
  readonly alert: {
    readonly id: string;
    readonly label: string;
    readonly condition: string;
    readonly subject: string;
    readonly chainId: number;
    readonly wallet: string | null;
    readonly positionIndex: number | null;
    readonly strategyId: string | null;
    readonly threshold: string | null;
    readonly rearmAt: string | null;
    readonly unit: string | null;
  };
  readonly status: string;
  readonly value: string | null;
  readonly observedAt: string | null;
  /** The liquidation that fired; `null` for other conditions. Without `txHash` only the loss of the whole collateral is known. */
  readonly liquidation: {
    /** `null` = the stock leg of the vault `strategyId`. */
    readonly positionIndex: number | null;
    /** `null` = a position. */
    readonly strategyId: string | null;
    readonly blockNumber: string;
    readonly at: string;
    readonly txHash: string | null;
    readonly basis: 'event' | 'state';
  } | null;
}

/** A webhook that its secret did not sign, or that was sent at another time. `code` says which. */
export class WebhookError extends ClientError {
  constructor(code: 'no_signature' | 'wrong_signature' | 'too_old' | 'malformed', message: string) {
    super(code, message);
  }
}

export interface WebhookInput {
  /** The body as it arrived, before any parsing. */
  readonly body: string | Uint8Array;
  /** Value of the header `x-spiral-signature`. */
  readonly signature: string | null | undefined;
  /** Secret that the registration of the alert or the rotation returned; during a rotation it may be both. */
  readonly secret: string | readonly string[];
  /** Accepted distance between the time of sending and now, seconds; default 300. */
  readonly toleranceSec?: number | undefined;
  /** Time now, ms; default: the clock. */
  readonly nowMs?: number | undefined;
}

const MAC = /^[0-9a-f]{64}$/;
/** During a rotation each secret makes a signature; no service has more at once. */
const MAX_SIGNATURES = 10;
const MAX_HEADER = 4_096;
const TOLERANCE_SEC = 300;
const TYPES: readonly string[] = [
  'alert.fired',
  'alert.cleared',
  'alert.ended',
  'alert.ping',
] satisfies WebhookEvent['type'][];

/**
 * Verify the signature of a webhook and read its event. An event is delivered at least once: remember the ids that were handled.
 * @throws WebhookError, and InputError for an empty secret, or a time that is no number
 */
export async function verifyWebhook(input: WebhookInput): Promise<WebhookEvent> {
  const { secret } = input;
  // A comparison with what is no number would find no webhook too old.
  const toleranceSec = secondsOf('toleranceSec', input.toleranceSec ?? TOLERANCE_SEC);
  const nowMs = timeOf('nowMs', input.nowMs ?? Date.now());
  const secrets = typeof secret === 'string' ? [secret] : secret;
  if (secrets.length === 0 || secrets.includes('')) {
    throw new InputError('secret is empty: give the one that the registration or the rotation returned.');
  }
  const { timestamp, macs } = readHeader(input.signature ?? '');
  const encoder = new TextEncoder();
  const body = typeof input.body === 'string' ? encoder.encode(input.body) : input.body;
  const prefix = encoder.encode(`${timestamp}.`);
  const signed = new Uint8Array(prefix.length + body.length);
  signed.set(prefix);
  signed.set(body, prefix.length);
  const algorithm = { name: 'HMAC', hash: 'SHA-256' } as const;
  const checks = secrets.map(async (text) => {
    const key = await crypto.subtle.importKey('raw', encoder.encode(text), algorithm, false, ['verify']);
    // The comparison of the platform takes the same time for every signature.
    const results = await Promise.all(macs.map((mac) => crypto.subtle.verify('HMAC', key, bytesOf(mac), signed)));
    return results.includes(true);
  });
  if (!(await Promise.all(checks)).includes(true)) {
    throw new WebhookError('wrong_signature', 'The secret did not sign this body at this time.');
  }
  if (Math.abs(nowMs / 1_000 - Number(timestamp)) > toleranceSec) {
    throw new WebhookError('too_old', `The webhook was sent more than ${toleranceSec} s away from now.`);
  }
  return eventOf(body);
}

/** Read the time and the signatures of the header. Parts with other names may be of a later version. */
function readHeader(header: string): { readonly timestamp: string; readonly macs: readonly string[] } {
  const parts = header.length > MAX_HEADER ? [] : header.split(',').map((part) => part.split('='));
  const valuesOf = (wanted: string) => parts.flatMap(([name, value = '']) => (name === wanted ? [value] : []));
  const [timestamp = '', ...others] = valuesOf('t');
  const macs = valuesOf('v1');
  const isWellFormed =
    /^\d{1,12}$/.test(timestamp) &&
    others.length === 0 &&
    macs.length > 0 &&
    macs.length <= MAX_SIGNATURES &&
    macs.every((mac) => MAC.test(mac));
  if (!isWellFormed) {
    throw new WebhookError('no_signature', 'The header x-spiral-signature is missing or malformed.');
  }
  return { timestamp, macs };
}

function bytesOf(hex: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(hex.length / 2);
  for (let i = 0; i < bytes.length; i += 1) bytes[i] = Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16);
  return bytes;
}

function eventOf(body: Uint8Array): WebhookEvent {
  let event: unknown;
  try {
    event = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    throw new WebhookError('malformed', 'The signed body is not JSON in UTF-8.');
  }
  if (
    !isRecord(event) ||
    typeof event.id !== 'string' ||
    !isRecord(event.alert) ||
    !TYPES.includes(String(event.type))
  ) {
    throw new WebhookError('malformed', 'The signed body is no event that this version of the client knows.');
  }
  return event as unknown as WebhookEvent;
}
