import type { Client } from '@modelcontextprotocol/client';
import { GraphQLError } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTools } from '../../src/mcp/tools.ts';
import { ERROR_CODES, type ErrorCode } from '../../src/shared/errors.ts';
import { type Front, PARTNER_KEY, startTestGateway, UNLIMITED } from '../http/test-gateway.ts';
import { connect, failureOf } from './client.ts';
import { routes } from './routes.ts';

/** The error of every execution. */
let thrown: GraphQLError;
let front: Front;
let client: Client;
beforeAll(async () => {
  const failed = async () => ({ result: { errors: [thrown] }, again: async () => ({ errors: [thrown] }) });
  front = await startTestGateway({ env: UNLIMITED, execute: failed });
  client = await connect(front.url, PARTNER_KEY);
});
afterAll(async () => {
  await client?.close();
  await front?.stop();
});

/** Codes of the gateway and of HTTP, which no execution has. */
const EARLIER: readonly ErrorCode[] = ['unauthorized'];

const rows = [...createTools(routes).values()];

describe.each(rows.map((row) => [row.tool.name, row] as const))('%s', (name, { route }) => {
  const [{ params = {}, query = {}, body = {} } = {}] = route.examples;
  const args = { ...params, ...query, ...(body as object) };
  const codes = route.errors.filter((code) => !EARLIER.includes(code));

  test.each(codes)('error: %s', async (code) => {
    const { status, retryable } = ERROR_CODES[code];
    const details = { field: 'variables.input.amount', why: 'because' };
    thrown = new GraphQLError(`the message of ${code}`, {
      extensions: { code, status, details, retryAfterSec: retryable ? 7 : undefined },
    });
    const error = failureOf(await client.callTool({ name, arguments: args }));
    expect(error).toMatchObject({
      code,
      message: `the message of ${code}`,
      retryable,
      details: { why: 'because' },
      correlationId: expect.stringMatching(/^[A-Za-z0-9._-]{8,64}$/),
    });
    expect(error.retryAfterSec).toBe(retryable ? 7 : undefined);
    expect(error.nextStep.length).toBeGreaterThan(20);
    if (code === 'not_found') expect(error.nextStep).toContain('list_positions');
    // An argument is named as the tool has it.
    expect(error.details.field).not.toMatch(/^(path|query|body)\./);
    expect(front.toolCalls.at(-1)).toEqual([name, code]);
  });
});

test('behavior: a path in a message or a detail is the tool that reads it', async () => {
  const address = `0x${'9'.repeat(40)}`;
  thrown = new GraphQLError(`Send an id from /v1/partner/positions/${address}?chainId=1.`, {
    extensions: { code: 'bad_request', status: 400, details: { reason: 'manual_mode', pointer: '/v1/strategies' } },
  });
  const error = failureOf(await client.callTool({ name: 'list_positions', arguments: { address } }));
  expect(error).toMatchObject({
    message: `Send an id from list_positions (address: ${address}, chainId: 1).`,
    nextStep: expect.stringContaining('list_strategies'),
    details: { pointer: 'list_strategies' },
  });
});

test('error: internal: the text of an unexpected error is not shown', async () => {
  thrown = new GraphQLError('a secret of the database');
  const error = failureOf(await client.callTool({ name: 'get_tvl', arguments: {} }));
  expect(error.code).toBe('internal');
  expect(JSON.stringify(error)).not.toContain('secret');
});
