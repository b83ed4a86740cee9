import type { Feature } from '../app/feature.ts';
import { alerts } from './alerts/index.ts';

/** What the service has beyond its core. The import `#features` means this list, or an empty one. */
export const features: readonly Feature[] = [alerts];
