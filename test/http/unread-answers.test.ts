import { connect } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { type Front, PARTNER_KEY, startTestGateway } from './test-gateway.ts';

let front: Front | undefined;
afterEach(() => front?.stop());

describe('a caller that leaves in the middle of its body', () => {
  test.each(['/graphql', '/v1/partner/leverage/build'])('behavior: of %s does not count as a failure', async (path) => {
    front = await startTestGateway();
    const { port } = new URL(front.url);
    const socket = connect(Number(port), '127.0.0.1');
    const head = [`POST ${path} HTTP/1.1`, 'host: here', `authorization: ${PARTNER_KEY.authorization}`];
    const more = ['content-type: application/json', 'content-length: 100', '', '{"query"'];
    const lines: string[] = [];
    await new Promise<void>((resolve) => socket.write([...head, ...more].join('\r\n'), () => resolve()));
    socket.end();
    socket.destroy();
    await expect
      .poll(() => {
        lines.push(...(front?.logs.take() ?? []));
        return lines.join('\n');
      })
      .toContain('"status":499');
    // Every other log line of it comes before the answer to another request.
    await front.send('/v1/prices');
    lines.push(...front.logs.take());
    expect(lines.join('\n')).not.toMatch(/^error/m);
  });
});
