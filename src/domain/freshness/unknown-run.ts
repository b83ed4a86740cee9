/** Explain the state `unknown` of a job, whose latest run has a time in the future; `null` = it has another state. */
export function reasonOfUnknown(status: string): string | null {
  return status === 'unknown'
    ? 'The latest run has a time in the future: the clock of this process or of the one that ran the job is wrong.'
    : null;
}
