import { ask, KeyRefused } from './api.js';
import { at, badge, fillTable } from './dom.js';
import { when, words } from './format.js';
import { ALERT_JOBS } from './queries.js';

const NOT_READ = 'could not be read; Refresh asks again';
const TONES = { RUNNING: 'good', LATE: 'warn', UNKNOWN: 'bad', STOPPED: 'bad', FAILING: 'bad', NEVER: 'plain' };
const LATE = ['FAILING', 'UNKNOWN', 'STOPPED', 'LATE'];

const COLUMNS = [
  { name: 'Job', show: ({ name }) => name },
  { name: 'State', show: ({ status }) => badge(words(status), TONES[status] ?? 'plain') },
  { name: 'Latest run', numeric: true, show: ({ ranAt }) => when(ranAt) },
  {
    name: 'Failure',
    show: ({ statusReason, failure, failingSince }) =>
      failure === null ? (statusReason ?? 'none') : `${words(failure)} since ${when(failingSince)}`,
  },
];

let jobs = [];

/** The shown rows, for files. */
export const shownAlertJobs = () => jobs;

/** Show the jobs of alerts and their undelivered events. @throws KeyRefused */
export async function showAlertJobs(isLatest) {
  try {
    const { ops } = await ask(ALERT_JOBS, {});
    if (!isLatest()) return;
    const { evaluation, delivery, undeliveredCount, oldestUndeliveredAt, dueSince, deadLetterCount } = ops.alertJobs;
    jobs = [
      { name: 'Evaluation', ...evaluation },
      { name: 'Delivery', ...delivery },
    ];
    const late = jobs.filter(({ status }) => LATE.includes(status));
    at('alert-jobs-count').textContent = late.length === 0 ? '' : `${late.length} of ${jobs.length} late`;
    at('alert-jobs-events').textContent = [
      `Events that wait: ${undeliveredCount}`,
      oldestUndeliveredAt === null ? '' : `, the oldest of ${when(oldestUndeliveredAt)}`,
      dueSince === null ? '' : `, due since ${when(dueSince)}`,
      `. Given up within 30 days: ${deadLetterCount}.`,
    ].join('');
    fillTable(at('alert-jobs'), 'Jobs of alerts', COLUMNS, jobs, 'No job is known.');
  } catch (error) {
    if (error instanceof KeyRefused) throw error;
    if (isLatest()) at('alert-jobs-count').textContent = NOT_READ;
  }
}
