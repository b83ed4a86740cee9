import { AppError, BadRequestError, NotFoundError } from '../shared/errors.ts';
import { shownValue } from '../shared/ids.ts';
import type { AnyRoute } from './types.ts';

export class MethodNotAllowedError extends AppError<{ readonly allow: readonly string[] }> {
  constructor(method: string, path: string, allow: readonly string[]) {
    super('method_not_allowed', `${shownValue(path)} does not take ${method}. Use ${allow.join(' or ')}.`, {
      details: { allow },
    });
  }
}

export interface Match {
  readonly route: AnyRoute;
  readonly pathParams: Readonly<Record<string, string>>;
}

export interface Router {
  /** Find the row for a request. @throws NotFoundError, MethodNotAllowedError, BadRequestError */
  match(method: string, path: string): Match;
  /** The template of the row that a path belongs to, whatever the method. */
  templateOf(path: string): string | undefined;
}

interface Compiled {
  readonly route: AnyRoute;
  readonly segments: readonly string[];
}

/**
 * Compile the route table once. A literal segment wins over a parameter, so the order of rows does not matter.
 * HEAD is answered by GET rows.
 */
export function createRouter(routes: readonly AnyRoute[]): Router {
  const compiled: Compiled[] = routes.map((route) => ({ route, segments: route.path.split('/') }));
  compiled.sort((a, b) => parameterCount(a) - parameterCount(b));
  const find = (segments: readonly string[]) => compiled.filter((candidate) => matches(candidate.segments, segments));
  const templateOf = (path: string) => find(path.split('/'))[0]?.route.path;
  const match = (method: string, path: string): Match => {
    const segments = path.split('/').map(decodeSegment);
    const onPath = find(segments);
    const first = onPath[0];
    if (!first) {
      throw new NotFoundError(
        `There is nothing at ${shownValue(path)}. The paths are listed in /openapi.json and shown at /docs.`,
        {
          resource: 'path',
          id: shownValue(path),
        },
      );
    }
    const samePath = onPath.filter((candidate) => candidate.route.path === first.route.path);
    const wanted = method === 'HEAD' ? 'GET' : method;
    const found = samePath.find((candidate) => candidate.route.method === wanted);
    if (!found) throw new MethodNotAllowedError(shownValue(method), path, allowed(samePath));
    return { route: found.route, pathParams: readParams(found.segments, segments) };
  };
  return { match, templateOf };
}

function allowed(candidates: readonly Compiled[]): string[] {
  return candidates.flatMap(({ route }) => (route.method === 'GET' ? ['GET', 'HEAD'] : [route.method]));
}

function parameterCount(candidate: Compiled): number {
  return candidate.segments.filter(isParameter).length;
}

function isParameter(segment: string): boolean {
  return segment.startsWith('{');
}

function matches(template: readonly string[], actual: readonly string[]): boolean {
  return (
    template.length === actual.length &&
    template.every((segment, i) => (isParameter(segment) ? actual[i] !== '' : segment === actual[i]))
  );
}

function readParams(template: readonly string[], actual: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    template.flatMap((segment, i) => (isParameter(segment) ? [[segment.slice(1, -1), actual[i] ?? '']] : [])),
  );
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new BadRequestError(`The path part "${shownValue(segment)}" is not valid percent-encoding.`, {
      field: 'path',
      value: shownValue(segment),
    });
  }
}
