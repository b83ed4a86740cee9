import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PROVIDERS } from '../../src/upstreams/limits.ts';
import { describeAdapter } from '../upstreams/conformance.ts';
import { type LoadedRecording, laterCases, loadRecording } from '../upstreams/recorded.ts';
import { complaints, type DoctorWorld, startDoctorWorld } from './world.ts';

/** Secrets of a run, one for each way in which a provider takes them. */
const KEYS = {
  STABLEWATCH_API_KEY: 'stable-secret-1',
  ROYCO_API_KEY: 'royco-secret-2',
  COINGECKO_API_KEY: 'gecko-secret-3',
  OPENOCEAN_API_KEY: 'ocean-secret-4',
};

let doctor: DoctorWorld;
let folder: string;
let recording: LoadedRecording;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'spiral-gateway-recorded-'));
  doctor = await startDoctorWorld();
  const report = await doctor.examine(KEYS, { recordTo: folder });
  expect(complaints(report)).toEqual([]);
  recording = loadRecording(folder);
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await doctor?.stop();
});

describe('--record', () => {
  it('default: stores each answer of every provider in one file with its request', () => {
    expect(new Set(recording.answers.map(({ provider }) => provider))).toEqual(new Set(PROVIDERS));
    expect(recording.answers.every(({ answer }) => answer.status === 200 && answer.json !== undefined)).toBe(true);
  });

  it('behavior: no file has a key or the address of a machine', () => {
    for (const name of readdirSync(folder)) {
      const text = readFileSync(join(folder, name), 'utf8');
      for (const secret of Object.values(KEYS)) expect(text).not.toContain(secret);
      expect(text).not.toContain('127.0.0.1');
      expect(text).not.toMatch(/api_key|"authorization"|x-api-key/i);
    }
  });
});

describe('the suite on recorded answers', () => {
  for (const adapter of laterCases(() => recording)) describeAdapter(adapter);
});
