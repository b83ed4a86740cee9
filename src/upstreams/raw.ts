import { z } from 'zod';

/** A value that may be anything or absent: `readings.ts` judges it on its own, so that its neighbours stay. */
export const raw = z.unknown().optional();
