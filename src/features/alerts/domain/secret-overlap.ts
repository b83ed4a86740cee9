/** For how long the secrets from before a rotation sign as well, seconds. */
export const OVERLAP_SEC = { min: 0, max: 604_800, default: 86_400 } as const;
