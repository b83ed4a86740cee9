import type { Feature } from '../app/feature.ts';
import { alerts } from './alerts/index.ts';
import { driftHistory } from './drift-history/index.ts';
import { positionHistory } from './position-history/index.ts';
import { risk } from './risk/index.ts';

/** What the service has beyond its core. The import `#features` means this list, or an empty one. */
export const features: readonly Feature[] = [risk, positionHistory, driftHistory, alerts];
