import { expect, test } from 'vitest';
import { sentenceOf } from '../../src/telemetry/sentences.ts';

test.each([
  [
    '{"level":40,"time":"2026-11-26T21:00:00.000Z","provider":"coingecko","failures":3,"msg":"provider failing"}\n',
    'Warning: provider failing (provider coingecko, failures 3).\n',
  ],
  ['{"level":50,"msg":"stop failed","err":{"type":"Error"}}\n', 'Error: stop failed (err {"type":"Error"}).\n'],
  ['{"level":40,"msg":"waiting"}\n', 'Warning: waiting.\n'],
  ['no JSON\n', 'no JSON\n'],
])('default: %s', (line, sentence) => {
  expect(sentenceOf(line)).toBe(sentence);
});
