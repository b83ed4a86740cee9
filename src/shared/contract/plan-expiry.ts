/** How long a quote is good, and a plan may be signed and sent after it was made, seconds. A repayment counts the interest of that time. */
export const PLAN_EXPIRY_SEC = 60;
