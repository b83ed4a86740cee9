import { featureKey } from '../../../resolvers/common/feature-services.ts';
import type { AlertDelivery, AlertListQuery, AlertPage, AlertRecord, DeliveryListQuery } from '../domain/records.ts';
import type { AlertRule } from '../domain/types.ts';

/** An alert to register. */
export interface NewAlert {
  readonly rule: AlertRule;
  readonly url: string;
  readonly label: string;
  /** Under the same key the same registration is made once. */
  readonly idempotencyKey?: string | undefined;
}

export interface AlertWithSecret {
  readonly alert: AlertRecord;
  readonly secret: string;
}

/** Alerts of the caller's key and of keys that were rotated from it or into it. Every call may throw `UpstreamUnavailableError`. */
export interface AlertsPort {
  /**
   * Register an alert. The secret is returned here only.
   * @throws BadRequestError for a URL that is not allowed, or too many alerts
   * @throws ConflictError for an idempotency key that was sent with another registration, or whose alert is no more what it was
   */
  create(keyId: string, alert: NewAlert): Promise<AlertWithSecret>;
  /**
   * Begin a new secret; the one before signs as well for `overlapSec`. `null` = there is no such alert.
   * @throws BadRequestError while too many secrets sign
   */
  rotateSecret(keyId: string, id: string, overlapSec: number): Promise<AlertWithSecret | null>;
  find(keyId: string, id: string): Promise<AlertRecord | null>;
  list(keyId: string, query: Omit<AlertListQuery, 'ownerId'>): Promise<AlertPage<AlertRecord>>;
  /** `false` = there was none. */
  remove(keyId: string, id: string): Promise<boolean>;
  /** Send a test event; `null` = there is no such alert. */
  ping(keyId: string, id: string): Promise<AlertDelivery | null>;
  deliveries(keyId: string, query: Omit<DeliveryListQuery, 'ownerId'>): Promise<AlertPage<AlertDelivery>>;
  /** Deliver an event again; `null` = there is no such event, or it is being delivered. */
  redeliver(keyId: string, id: string): Promise<AlertDelivery | null>;
  /** Find the place of an event by its id or its place; `null` = there is none, or none any more. */
  placeOf(keyId: string, event: string | bigint): Promise<bigint | 'other_key' | null>;
  /** Read events that follow a place, the oldest first. */
  eventsAfter(keyId: string, seq: bigint, limit: number): Promise<readonly AlertDelivery[]>;
  /** The place of the newest event of all keys, 0 without one; read at most once a second, unless it is asked for `now`. */
  newestEvent(asOf?: 'now'): Promise<bigint>;
  /** The place of the newest event of a key since this process first asked for one, 0 without one; read as `newestEvent`. */
  newestEventOf(keyId: string): Promise<bigint>;
}

/** The key of the alerts of partners. */
export const alertServices = featureKey<AlertsPort>('alerts');
