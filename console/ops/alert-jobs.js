import { at, badge, fillTable } from './dom.js';
import { when, words } from './format.js';

const NOT_READ = 'could not be read; Refresh asks again';
const TONES = { running: 'good', late: 'warn', unknown: 'bad', stopped: 'bad', failing: 'bad', never: 'plain' };
const LATE = ['failing', 'unknown', 'stopped', 'late'];

const COLUMNS = [
  { name: 'Job', show: ({ name }) => name },
  { name: 'State', show: ({ status }) => badge(words(status), TONES[status] ?? 'plain') },
  { name: 'Latest run', numeric: true, show: ({ lastRun }) => when(lastRun) },
  {
    name: 'Failure',
    show: ({ statusReason, failure, failingSince }) =>
      failure === undefined ? (statusReason ?? 'none') : `${words(failure)} since ${when(failingSince)}`,
  },
];

let jobs = [];

/** The shown rows, for files. */
export const shownAlertJobs = () => jobs;

/** Show the jobs of alerts and their undelivered events, as the health page has them; absent = they could not be read. */
export function showAlertJobs(health) {
  const { evaluation, delivery, ...events } = health?.alerts ?? {};
  jobs = evaluation
    ? [
        { name: 'Evaluation', ...evaluation },
        { name: 'Delivery', ...delivery },
      ]
    : [];
  const late = jobs.filter(({ status }) => LATE.includes(status));
  at('alert-jobs-count').textContent = countOf(late, jobs);
  at('alert-jobs-events').textContent = evaluation ? eventsLine(events) : '';
  fillTable(at('alert-jobs'), 'Jobs of alerts', COLUMNS, jobs, 'No job is known.');
}

function countOf(late, all) {
  if (all.length === 0) return NOT_READ;
  return late.length === 0 ? '' : `${late.length} of ${all.length} late`;
}

function eventsLine({ undelivered, oldestUndelivered, dueSince, deadLetters }) {
  return [
    `Events that wait: ${undelivered}`,
    oldestUndelivered === undefined ? '' : `, the oldest of ${when(oldestUndelivered)}`,
    dueSince === undefined ? '' : `, due since ${when(dueSince)}`,
    `. Given up within 30 days: ${deadLetters}.`,
  ].join('');
}
