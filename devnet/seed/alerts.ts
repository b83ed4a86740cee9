import type { Catalog } from '../../src/catalog/index.ts';
import { makeAlertEvent } from '../../src/features/alerts/domain/event.ts';
import type { NewAlertEvent, NewAlertRecord } from '../../src/features/alerts/domain/records.ts';
import { receiverOf } from '../../src/features/alerts/webhooks/target.ts';
import { sampleKeyId } from '../../src/keys/owners.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import type { StrategyId } from '../../src/shared/ids.ts';
import { seededWallet } from './wallets.ts';

const OWNER = sampleKeyId('local-partner');

/** Ids of the alerts, and of an event that was given up; examples of the interface document name them. */
const idOf = (last: string) => `00000000-0000-4000-8000-${last.padStart(12, '0')}`;

/** Alerts of the sample key: two that fire at once, of a strategy and of a wallet, one that does not, and one to delete. */
export function seededAlerts(catalog: Catalog, receiverUrl: string, nowMs: number): readonly NewAlertRecord[] {
  const [chain] = catalog.chains;
  const strategyId = chain?.markets.find(({ kind }) => kind === 'loop')?.id as string | undefined;
  if (chain === undefined || strategyId === undefined) return [];
  const subject = { kind: 'strategy', chainId: chain.chainId, strategyId: strategyId as StrategyId } as const;
  const alert = (
    last: string,
    label: string,
    rule: Pick<NewAlertRecord['rule'], 'condition' | 'threshold' | 'rearmAt'>,
    of: NewAlertRecord['rule']['subject'] = subject,
  ): NewAlertRecord => ({
    id: idOf(last),
    ownerId: OWNER,
    label,
    url: `${receiverUrl}/webhooks`,
    rule: { subject: of, ...rule },
    createdMs: nowMs,
    secret: { salt: Buffer.from(`salt of the local world ${last}`), version: 1 },
  });
  const below = (condition: 'apy_below' | 'liquidity_below' | 'headroom_below', threshold: string) => ({
    condition,
    threshold: new Decimal(threshold),
    rearmAt: new Decimal(threshold),
  });
  return [
    alert('1', 'APY below 1000 %: fires at once', below('apy_below', '1000')),
    alert('2', 'Liquidity below 1 USD', below('liquidity_below', '1')),
    alert('3', 'An alert to delete', { condition: 'paused', threshold: null, rearmAt: null }),
    // It has a position above its safe LTV.
    alert('4', 'Headroom below 2 points: fires at once', below('headroom_below', '2'), {
      kind: 'wallet',
      chainId: chain.chainId,
      wallet: seededWallet('speculator').account.address,
    }),
  ];
}

/** An event whose delivery was given up, for the list of dead letters. */
export function seededDeadEvent(alert: NewAlertRecord): NewAlertEvent {
  const state = { status: 'unknown', value: null, observedMs: null } as const;
  const receiver = receiverOf(new URL(alert.url));
  return makeAlertEvent({ id: idOf('e'), type: 'ping', alert, state, receiver, occurredMs: alert.createdMs });
}
