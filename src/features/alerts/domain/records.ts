import type { AlertCondition, AlertSubjectKind, EvaluatedAlert } from './types.ts';

export const ALERT_EVENT_TYPES = ['fired', 'cleared', 'ended', 'ping'] as const;
export const DELIVERY_STATUSES = ['pending', 'delivered', 'dead'] as const;
/** Why a receiver did not take a webhook. */
export const WEBHOOK_FAILURES = [
  'address_not_public',
  'unknown_host',
  'unreachable',
  'tls',
  'certificate_expired',
  'certificate_not_yet_valid',
  'certificate_host',
  'certificate_self_signed',
  'certificate_authority',
  'certificate_revoked',
  'certificate_weak',
  'certificate_refused',
  'timeout',
  'redirect',
  'status',
  'malformed',
  'invalid_url',
] as const;

/** A registered alert. */
export interface AlertRecord extends EvaluatedAlert {
  /** Place in the order of registration. */
  readonly seq: bigint;
  /** The key that registered it; keys that were rotated from one another count as one. */
  readonly ownerId: string;
  readonly label: string;
  /** Address of the receiver. */
  readonly url: string;
  readonly createdMs: number;
  /** Time of the latest change of its status, ms; `null` = it was not evaluated yet. */
  readonly changedMs: number | null;
  /** Grows with every change of the row. */
  readonly revision: bigint;
  readonly secret: AlertSecret;
  /** Secrets from before the latest rotations that still sign, the newest first. */
  readonly earlierSecrets: readonly EarlierSecret[];
}

/** The stored part of a signing secret. The secret itself is derived from it and from KEY_PEPPER. */
export interface AlertSecret {
  readonly salt: Buffer;
  readonly version: number;
}

/** A secret of an earlier version; it is derived from the same salt. */
export interface EarlierSecret {
  readonly version: number;
  /** Time from which it signs no more, ms. */
  readonly untilMs: number;
}

export interface NewAlertRecord
  extends Pick<AlertRecord, 'id' | 'ownerId' | 'rule' | 'label' | 'url' | 'createdMs' | 'secret'> {
  /** Key under which the same registration may be sent again; absent = each one makes an alert. */
  readonly idempotency?: Idempotency | undefined;
}

export interface Idempotency {
  readonly key: string;
  /** Hash of the registration. */
  readonly hash: Buffer;
}

/** The registration that an idempotency key was sent with before. */
export interface EarlierRegistration {
  readonly alert: AlertRecord;
  readonly hash: Buffer;
  readonly isDeleted: boolean;
}

export type AlertEventType = (typeof ALERT_EVENT_TYPES)[number];

export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** An event of an alert, before it is stored. */
export interface NewAlertEvent {
  /** The same in every attempt to deliver it. */
  readonly id: string;
  readonly alertId: string;
  readonly ownerId: string;
  readonly type: AlertEventType;
  /** The signed text, JSON. */
  readonly body: string;
  /** Host and port of the receiver. */
  readonly receiver: string;
  readonly occurredMs: number;
}

/** An event with the state of its delivery. */
export interface AlertDelivery extends Omit<NewAlertEvent, 'ownerId'> {
  /** Grows in the order in which events can be read. */
  readonly seq: bigint;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  /** Time of the next attempt, ms; `null` = there is none. */
  readonly nextAttemptMs: number | null;
  /** Time at which it was delivered or given up, ms; `null` = it is pending. */
  readonly finishedMs: number | null;
  /** Status of the latest answer; `null` = there was none. */
  readonly httpStatus: number | null;
  /** Why the latest attempt failed; `null` = it did not, or there was none. */
  readonly failure: string | null;
}

export interface AlertPageQuery {
  readonly ownerId: string;
  readonly size: number;
  readonly fromEnd: boolean;
  readonly after?: bigint | undefined;
  readonly before?: bigint | undefined;
}

export interface AlertListQuery extends AlertPageQuery {
  readonly subject?: AlertSubjectKind | undefined;
  readonly condition?: AlertCondition | undefined;
}

export interface DeliveryListQuery extends AlertPageQuery {
  readonly alertId?: string | undefined;
  readonly status?: DeliveryStatus | undefined;
}

export interface AlertPage<T> {
  readonly items: readonly T[];
  readonly totalCount: number;
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
}
