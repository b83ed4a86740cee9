import { canBeFact } from '../../domain/outside-answer.ts';
import { ABSENT, type Documented, REFUSED } from '../http.ts';
import { providerCode } from '../provider-code.ts';

/** No route, no eligible pools. */
const NO_ROUTE_CODES: readonly number[] = [4008, 4010];
const TOKEN_NOT_FOUND_CODE = 4011;
const OVERLOADED_CODE = 50_301;
/** At the build of a route: its summary or its price is out of date. A fresh route may pass. */
const isMoved = (code: number): boolean => (code >= 4220 && code <= 4228) || code === 40_012 || code === 4003;

/** 503 comes with code 50301 ("overloaded"); the same request often succeeds a moment later. */
const overload: Documented = ({ status, body }) =>
  status === 503 || providerCode(body) === OVERLOADED_CODE ? 'overloaded' : undefined;

const noRoute: Documented = ({ body }) => (NO_ROUTE_CODES.includes(providerCode(body) ?? 0) ? ABSENT : undefined);

/** Any other code than 0 is a refusal, also with status 200. Codes of the server have five digits and begin with 5. */
const refusal: Documented = ({ status, body }) => {
  const code = providerCode(body) ?? 0;
  if (status >= 400 || code === 0) return undefined;
  return code >= 50_000 || (code >= 500 && code < 600) ? 'server_error' : code === 429 ? 'rate_limited' : 'rejected';
};

/** Codes of a route that somebody waits for. An unknown token is a reading that may pass: it is no statement about routes. */
export const quoteCodes: Documented = (answer) =>
  overload(answer) ??
  noRoute(answer) ??
  (providerCode(answer.body) === TOKEN_NOT_FOUND_CODE && canBeFact(answer.status) ? 'missing' : undefined) ??
  refusal(answer);

/** Codes of a route for a sweep, which doubts an absent route: there an unknown token has none. */
export const sweepCodes: Documented = (answer) =>
  overload(answer) ??
  noRoute(answer) ??
  (providerCode(answer.body) === TOKEN_NOT_FOUND_CODE ? ABSENT : undefined) ??
  refusal(answer);

/** Codes of a build. `REFUSED` = a fresh route may pass. */
export const buildCodes: Documented = (answer) =>
  overload(answer) ??
  (isMoved(providerCode(answer.body) ?? 0) || noRoute(answer) === ABSENT ? REFUSED : undefined) ??
  refusal(answer);
