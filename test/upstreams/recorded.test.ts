import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { RECORDING_FILE } from '../../doctor/recording/format.ts';
import { describeAdapter } from './conformance.ts';
import { loadRecording, recordedCases } from './recorded.ts';

/** The output of `npm run doctor -- --record`: the folder of this name, or another one. */
const FOLDER = process.env.UPSTREAM_RECORDINGS ?? join(import.meta.dirname, 'recorded');

describe('recorded answers of providers', () => {
  it('behavior: a named folder has a recording', () => {
    const isNamed = process.env.UPSTREAM_RECORDINGS !== undefined;
    expect(isNamed && !existsSync(join(FOLDER, RECORDING_FILE))).toBe(false);
  });

  if (existsSync(join(FOLDER, RECORDING_FILE))) {
    for (const adapter of recordedCases(loadRecording(FOLDER))) describeAdapter(adapter);
  }
});
