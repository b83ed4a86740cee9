import { getAddress, numberToHex, pad } from 'viem';
import { createCatalog, curatedChains } from '../../src/catalog/index.ts';
import { composeChain } from '../../src/domain/compose.ts';
import { composeWallet } from '../../src/domain/position/wallet.ts';
import { createAlertIndex, evaluateSubject } from '../../src/features/alerts/domain/index-by-subject.ts';
import { createAlertWorld, observeSubject } from '../../src/features/alerts/domain/observe.ts';
import { CONDITIONS_OF } from '../../src/features/alerts/domain/rules.ts';
import { stepAlert } from '../../src/features/alerts/domain/step.ts';
import type { AlertSubject, EvaluatedAlert } from '../../src/features/alerts/domain/types.ts';
import { Decimal } from '../../src/shared/decimal.ts';
import { completeFacts, NOW_MS, PARAMS } from '../../test/domain/world.ts';
import { serve } from '../serve.ts';
import { PER_WALLET, syntheticReader } from '../synthetic-wallets.ts';

export interface AlertsInput {
  /** Number of conditions. */
  readonly conditions: number;
  /** Conditions of each subject. */
  readonly perSubject: number;
}

export interface AlertsResult extends AlertsInput {
  /** CPU of one evaluation that observes each subject once, median, ms. */
  readonly bySubjectMs: number;
  /** The same with one observation per condition, ms. */
  readonly byConditionMs: number;
}

const CHAIN_ID = 4663;
const ROUNDS = 7;

/** Evaluate conditions on positions: each subject observed once, and for comparison each condition by itself. */
serve<AlertsInput>(async ({ conditions, perSubject }) => {
  const chain = createCatalog(curatedChains).chain(CHAIN_ID);
  if (!chain) throw new Error(`no chain ${CHAIN_ID}`);
  const composed = composeChain(chain, completeFacts(chain), PARAMS);
  const subjects = subjectsOf(conditions / perSubject);
  const owners = [...new Set(subjects.map(({ wallet }) => wallet))];
  const { reader } = syntheticReader(chain, owners);
  const holdings = (await reader.readHoldings(owners, {} as never)).wallets.values;
  const wallets = new Map(
    [...holdings].map(([wallet, held]) => {
      const found = composeWallet(chain, composed.lookup.markets, held, new Map());
      return [wallet as string, { asOfMs: NOW_MS, wallet: found }] as const;
    }),
  );
  const world = () =>
    createAlertWorld({
      composed,
      vaults: [],
      contract: { isPaused: false },
      wallets,
      walletStaleAfterSec: 300,
      history: null,
      nowMs: NOW_MS,
    });
  const alerts = subjects.flatMap((subject, n) => alertsOf(subject, n, perSubject));
  const index = createAlertIndex<EvaluatedAlert>();
  for (const alert of alerts) index.put(alert);

  const bySubject = () => {
    let changes = 0;
    const shared = world();
    for (const entry of index.subjects(CHAIN_ID)) {
      const seen = observeSubject(entry.subject, shared);
      if (seen !== undefined) changes += evaluateSubject(entry, seen, NOW_MS).length;
    }
    return changes;
  };
  const byCondition = () => {
    let changes = 0;
    const shared = world();
    for (const { rule, state } of alerts) {
      const seen = observeSubject(rule.subject, shared);
      if (seen !== undefined && stepAlert(rule, state, seen, NOW_MS) !== null) changes += 1;
    }
    return changes;
  };
  if (bySubject() !== byCondition() || bySubject() === 0) throw new Error('the two evaluations differ');
  const result: AlertsResult = {
    conditions: alerts.length,
    perSubject,
    bySubjectMs: medianCpu(bySubject),
    byConditionMs: medianCpu(byCondition),
  };
  return { url: '', report: { result }, stop: async () => {} };
});

function subjectsOf(count: number): Extract<AlertSubject, { kind: 'position' }>[] {
  return Array.from({ length: count }, (_, n) => ({
    kind: 'position',
    chainId: CHAIN_ID,
    wallet: getAddress(pad(numberToHex(Math.floor(n / PER_WALLET) * 7_919 + 1), { size: 20 })),
    positionIndex: n % PER_WALLET,
  }));
}

/** Alerts in turn of each condition, a part of them below their threshold. */
function alertsOf(subject: AlertSubject, subjectNumber: number, count: number): EvaluatedAlert[] {
  const conditions = CONDITIONS_OF[subject.kind];
  return Array.from({ length: count }, (_, n) => {
    const condition = conditions[(subjectNumber + n) % conditions.length] ?? 'stale';
    const threshold = condition.endsWith('_below') ? new Decimal((subjectNumber + n) % 40) : null;
    return {
      id: `${subjectNumber}-${n}`,
      rule: { subject, condition, threshold, rearmAt: threshold },
      state: { status: 'unknown', value: null, observedMs: null, reported: null },
    };
  });
}

function medianCpu(work: () => unknown): number {
  const times = Array.from({ length: ROUNDS }, () => {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  }).sort((a, b) => a - b);
  return times[Math.floor(ROUNDS / 2)] ?? 0;
}
