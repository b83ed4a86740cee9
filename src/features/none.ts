import type { Feature } from '../app/feature.ts';

/** The core alone: it compiles and passes its tests without any feature. */
export const features: readonly Feature[] = [];
