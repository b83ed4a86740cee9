import { createHmac } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { verifyWebhook, type WebhookInput } from '../../../../packages/client/src/verify-webhook.ts';
import { makeAlertEvent } from '../domain/event.ts';
import { ALERT_EVENT_TYPES } from '../domain/records.ts';
import { signatureHeader } from '../webhooks/sign.ts';

const FOLDER = join('node_modules/.cache/spiral-gateway', `receiver-${process.pid}`);
const SECRET = 'whsec_test';
const NOW_MS = Date.UTC(2026, 5, 10, 12);
const NOW_SEC = NOW_MS / 1_000;
const { body } = makeAlertEvent({
  id: '00000000-0000-4000-8000-000000000001',
  type: 'fired',
  alert: {
    id: '00000000-0000-4000-8000-000000000002',
    ownerId: 'owner',
    label: 'Größe',
    rule: {
      subject: { kind: 'wallet', chainId: 1, wallet: '0x90F79bf6EB2c4f870365E785982E1f101E93b906' },
      condition: 'stale',
      threshold: null,
      rearmAt: null,
    },
  },
  state: { status: 'firing', value: null, observedMs: NOW_MS },
  receiver: 'receiver.example:443',
  occurredMs: NOW_MS,
});

const sign = (text: string, atSec = NOW_SEC, secrets = [{ version: 1, secret: SECRET }]) =>
  signatureHeader(secrets, atSec, text);

describe('verifyWebhook', () => {
  const signature = sign(body);
  const verify = (over: Partial<WebhookInput> = {}) =>
    verifyWebhook({ body, signature, secret: SECRET, nowMs: NOW_MS, ...over });

  test('default: reads the event of a signed body, as text or as bytes', async () => {
    expect(await verify()).toEqual(JSON.parse(body));
    expect(await verify({ body: new TextEncoder().encode(body) })).toEqual(JSON.parse(body));
  });

  test.each(ALERT_EVENT_TYPES)('default: knows every type of event: %s', async (type) => {
    const text = body.replace('alert.fired', `alert.${type}`);
    const signed = { body: text, signature: sign(text) };
    expect(await verify(signed)).toMatchObject({ type: `alert.${type}` });
  });

  test.each<[string, Partial<WebhookInput>, string]>([
    ['no header', { signature: undefined }, 'no_signature'],
    ['another form', { signature: 'sha256=00' }, 'no_signature'],
    ['another secret', { secret: 'whsec_other' }, 'wrong_signature'],
    ['another body', { body: body.replace('firing', 'armed') }, 'wrong_signature'],
    ['another time', { signature: signature.replace(`t=${NOW_SEC}`, `t=${NOW_SEC + 1}`) }, 'wrong_signature'],
    ['an old one', { nowMs: NOW_MS + 301_000 }, 'too_old'],
    ['one from the future', { nowMs: NOW_MS - 301_000 }, 'too_old'],
    ['no secret', { secret: '' }, 'invalid_input'],
  ])('error: %s', async (_name, over, code) => {
    await expect(verify(over)).rejects.toMatchObject({ code });
  });

  test.each(['no JSON', '[]', '{"id":"a","type":"other","alert":{}}'])(
    'error: a signed text that is no event: %s',
    async (text) => {
      const signed = { body: text, signature: sign(text) };
      await expect(verify(signed)).rejects.toMatchObject({ code: 'malformed' });
    },
  );

  test('behavior: during a rotation each of the two secrets verifies, and a receiver may have both', async () => {
    const both = sign(body, NOW_SEC, [
      { version: 2, secret: 'whsec_new' },
      { version: 1, secret: SECRET },
    ]);
    for (const secret of [SECRET, 'whsec_new', ['whsec_unused', 'whsec_new'], [SECRET]])
      expect(await verify({ signature: both, secret })).toEqual(JSON.parse(body));
    await expect(verify({ signature: both, secret: 'whsec_other' })).rejects.toMatchObject({ code: 'wrong_signature' });
    await expect(verify({ signature: both.replace(`t=${NOW_SEC}`, `t=${NOW_SEC + 1}`) })).rejects.toMatchObject({
      code: 'wrong_signature',
    });
    await expect(verify({ signature: both, secret: [] })).rejects.toMatchObject({ code: 'invalid_input' });
    await expect(verify({ signature: both, secret: [SECRET, ''] })).rejects.toMatchObject({ code: 'invalid_input' });
  });

  test('behavior: parts that a later version may add are ignored, and many signatures are refused', async () => {
    const later = signature.replace(',k=1', ',alg=x,k=1').concat(',v2=abc');
    expect(await verify({ signature: later })).toEqual(JSON.parse(body));
    const many = `t=${NOW_SEC}${`,k=1,v1=${'0'.repeat(64)}`.repeat(11)}`;
    await expect(verify({ signature: many })).rejects.toMatchObject({ code: 'no_signature' });
    for (const broken of [`${signature},t=1`, signature.replace('v1=', 'v1=x'), 't=1', `t=1,k=1`, 'x'.repeat(10_000)])
      await expect(verify({ signature: broken })).rejects.toMatchObject({ code: 'no_signature' });
  });

  test('the signature is the documented one', () => {
    const mac = createHmac('sha256', SECRET).update(`${NOW_SEC}.${body}`).digest('hex');
    expect(signature).toBe(`t=${NOW_SEC},k=1,v1=${mac}`);
  });
});

describe('docs/alerts.md', () => {
  const servers: Server[] = [];
  beforeAll(() => mkdirSync(FOLDER, { recursive: true }));
  afterAll(() => {
    for (const server of servers) server.close();
    rmSync(FOLDER, { recursive: true, force: true });
  });

  test('default: the receiver takes a signed event, prints it once, and refuses others', async () => {
    const [, code = ''] = /^```js\n([\s\S]*?)^```$/m.exec(readFileSync('docs/alerts.md', 'utf8')) ?? [];
    const client = join(FOLDER, 'client.mjs');
    await build({
      entryPoints: ['packages/client/src/verify-webhook.ts'],
      outfile: client,
      bundle: true,
      format: 'esm',
    });
    const file = join(FOLDER, 'receiver.mjs');
    const runnable = code
      .replace('@spiral-gateway/client', pathToFileURL(client).href)
      .replace('createServer(async', 'export const server = createServer(async')
      .replace('8790', '0');
    writeFileSync(file, runnable);
    process.env.ALERT_SECRET = SECRET;
    const printed = vi.spyOn(console, 'log').mockReturnValue(undefined);
    try {
      const { server } = (await import(/* @vite-ignore */ pathToFileURL(file).href)) as { server: Server };
      servers.push(server);
      if (!server.listening) await new Promise((resolve) => server.once('listening', resolve));
      const { port } = server.address() as { port: number };
      const post = async (signature: string) =>
        (
          await fetch(`http://127.0.0.1:${port}/`, {
            method: 'POST',
            body,
            headers: { 'x-spiral-signature': signature },
          })
        ).status;
      const now = sign(body, Math.floor(Date.now() / 1_000));
      expect([await post(now), await post(now), await post(now.replace('v1=', 'v1=0'))]).toEqual([204, 204, 400]);
      expect(printed.mock.calls).toEqual([['alert.fired', 'stale', null]]);
    } finally {
      printed.mockRestore();
      delete process.env.ALERT_SECRET;
    }
  });
});
