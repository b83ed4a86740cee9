import { readFileSync } from 'node:fs';
import { conformanceTo } from './openapi.ts';
import type { Json } from './service.ts';

const { operations, violation } = conformanceTo(JSON.parse(readFileSync('openapi.json', 'utf8')));
const HEADERS = { 'content-type': 'application/json; charset=utf-8', 'x-correlation-id': 'none' };

/** What the body of a 200 has otherwise than openapi.json says of the operation; `null` = nothing. */
export function bodyViolation(operationId: string, body: Json): string | null {
  const operation = operations.find((each) => each.operation.operationId === operationId);
  if (!operation) throw new Error(`no operation is named ${operationId}`);
  return violation(operation, { status: 200, headers: new Headers(HEADERS), text: JSON.stringify(body), body });
}
