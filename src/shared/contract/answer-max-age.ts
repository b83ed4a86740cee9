/** How long a client or proxy may reuse a public answer without asking again, seconds. */
export const ANSWER_MAX_AGE_SEC = 5;
