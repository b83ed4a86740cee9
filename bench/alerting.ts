import { serviceFlags, startChild } from './child.ts';
import type { AlertsInput, AlertsResult } from './servers/alerts.ts';
import { say } from './table.ts';

const CONDITIONS = 100_000;
/** From one condition for each position to five of the six. */
const PER_SUBJECT = [1, 2, 5] as const;

/** Measure one evaluation of 100,000 conditions on positions, beside one that observes the position for each condition. */
export async function alerting(): Promise<void> {
  say('\n| conditions | positions | each position observed once, CPU | for each condition, CPU | ratio |');
  say('|--:|--:|--:|--:|--:|');
  for (const perSubject of PER_SUBJECT) {
    const input: AlertsInput = { conditions: CONDITIONS, perSubject };
    const child = await startChild('alerts', input, serviceFlags);
    const { conditions, bySubjectMs, byConditionMs } = child.report.result as AlertsResult;
    await child.stop();
    say(
      `| ${conditions} | ${conditions / perSubject} | ${bySubjectMs.toFixed(0)} ms | ${byConditionMs.toFixed(0)} ms ` +
        `| ${(byConditionMs / bySubjectMs).toFixed(1)} |`,
    );
  }
}
