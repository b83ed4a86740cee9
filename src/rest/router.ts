import { AppError, BadRequestError, NotFoundError } from '../shared/errors.ts';
import { formatValue } from '../shared/ids.ts';
import type { AnyRoute } from './types.ts';

export class MethodNotAllowedError extends AppError<{ readonly allow: readonly string[] }> {
  constructor(method: string, path: string, allow: readonly string[]) {
    super('method_not_allowed', `${formatValue(path)} does not support ${method}. Use ${allow.join(' or ')}.`, {
      details: { allow },
    });
  }
}

export interface Match {
  readonly route: AnyRoute;
  readonly pathParams: Readonly<Record<string, string>>;
}

export interface Router {
  /**
   * Find the row of a request.
   * @throws NotFoundError, MethodNotAllowedError, BadRequestError
   */
  match(method: string, path: string): Match;
  /** The path template of a path, for any method. */
  templateOf(path: string): string | undefined;
}

/** The rows of one path template. `matches` expects a path with the same number of segments. */
interface TemplateRows {
  readonly template: string;
  readonly segments: readonly string[];
  readonly routes: readonly AnyRoute[];
}

/**
 * Compile the route table. A literal segment takes precedence over a parameter, so the order of rows does not matter. HEAD is
 * answered by GET rows.
 */
export function createRouter(routes: readonly AnyRoute[]): Router {
  const places: TemplateRows[] = [...new Set(routes.map(({ path }) => path))]
    .map((template) => {
      const segments = template.split('/');
      return { template, segments, routes: routes.filter(({ path }) => path === template) };
    })
    .sort((a, b) => parameterCount(a) - parameterCount(b));
  const byLength = new Map<number, TemplateRows[]>();
  for (const place of places) {
    const { length } = place.segments;
    byLength.set(length, [...(byLength.get(length) ?? []), place]);
  }
  const find = (segments: readonly string[]) =>
    byLength.get(segments.length)?.find((place) => matches(place.segments, segments));
  const templateOf = (path: string) => find(path.split('/'))?.template;
  const match = (method: string, path: string): Match => {
    const segments = path.split('/').map(decodeSegment);
    const place = find(segments);
    if (!place) {
      throw new NotFoundError(
        `No resource has the path ${formatValue(path)}. The paths are listed in /openapi.json and shown at /docs.`,
        {
          resource: 'path',
          id: formatValue(path),
        },
      );
    }
    const wanted = method === 'HEAD' ? 'GET' : method;
    const route = place.routes.find((candidate) => candidate.method === wanted);
    if (!route) throw new MethodNotAllowedError(formatValue(method), path, allowed(place.routes));
    return { route, pathParams: readParams(place.segments, segments) };
  };
  return { match, templateOf };
}

function allowed(routes: readonly AnyRoute[]): string[] {
  return routes.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
}

function parameterCount({ segments }: TemplateRows): number {
  return segments.filter(isParameter).length;
}

function isParameter(segment: string): boolean {
  return segment.startsWith('{');
}

function matches(template: readonly string[], actual: readonly string[]): boolean {
  return template.every((segment, i) => (isParameter(segment) ? actual[i] !== '' : segment === actual[i]));
}

function readParams(template: readonly string[], actual: readonly string[]): Record<string, string> {
  const params: Record<string, string> = {};
  for (const [i, segment] of template.entries())
    if (isParameter(segment)) params[segment.slice(1, -1)] = actual[i] ?? '';
  return params;
}

function decodeSegment(segment: string): string {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new BadRequestError(`The path part "${formatValue(segment)}" is not valid percent-encoding.`, {
      field: 'path',
      value: formatValue(segment),
    });
  }
}
