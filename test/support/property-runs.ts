import { inject } from 'vitest';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Cases of a property that many are drawn of. */
    propertyRuns: number;
  }
}

/** The cases of a property over a large space: 1,000 in the quick tests, 10,000 in the sweeps, which run its file again. */
export const manyRuns = (): { readonly numRuns: number } => ({ numRuns: inject('propertyRuns') });
