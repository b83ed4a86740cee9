import { z } from 'zod';

/** One answer of a provider with its request, without keys, in a file of its own. */
export const recordedAnswerSchema = z.strictObject({
  version: z.literal(1),
  recordedAt: z.iso.datetime(),
  /** A provider name of `src/upstreams/config.ts`. */
  provider: z.string(),
  /** The surface's name in the doctor, e.g. `quote`. */
  surface: z.string(),
  chainId: z.int().nullable(),
  request: z.strictObject({
    method: z.enum(['GET', 'POST']),
    /** Relative to the provider's base URL. */
    path: z.string(),
    query: z.record(z.string(), z.string()),
    body: z.unknown(),
  }),
  answer: z.strictObject({
    status: z.int(),
    headers: z.record(z.string(), z.string()),
    /** The body where it is JSON, else as text. */
    json: z.unknown().optional(),
    text: z.string().optional(),
  }),
});
export type RecordedAnswer = z.infer<typeof recordedAnswerSchema>;

/** Inputs of the requests beside the curated catalog, so that a recording can be replayed. */
export const recordingSchema = z.strictObject({
  version: z.literal(1),
  recordedAt: z.iso.datetime(),
  /** Content of CATALOG_OVERLAY. */
  overlay: z.unknown(),
  feeReceiver: z.string().nullable(),
});
export type Recording = z.infer<typeof recordingSchema>;

/** The file that holds a `Recording`; every other one holds a `RecordedAnswer`. */
export const RECORDING_FILE = 'recording.json';
