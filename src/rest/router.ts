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

/** The rows of one path template. */
interface TemplateRows {
  readonly template: string;
  readonly segments: readonly string[];
  readonly routes: readonly AnyRoute[];
}

/** The templates that begin with the same segments. */
interface Branch {
  readonly literals: Map<string, Branch>;
  parameter?: Branch | undefined;
  /** The template that ends here. */
  rows?: TemplateRows | undefined;
}

/**
 * Compile the route table. A literal segment takes precedence over a parameter, so the order of rows does not matter. HEAD is
 * answered by GET rows.
 */
export function createRouter(routes: readonly AnyRoute[]): Router {
  const root: Branch = { literals: new Map() };
  for (const template of new Set(routes.map(({ path }) => path))) {
    const segments = template.split('/');
    const rows = routes.filter(({ path }) => path === template);
    segments.reduce(branchAt, root).rows = { template, segments, routes: rows };
  }
  const find = (segments: readonly string[]) => rowsAt(root, segments, 0);
  const templateOf = (path: string) => find(path.split('/'))?.template;
  const match = (method: string, path: string): Match => {
    const parts = path.split('/');
    const segments = path.includes('%') ? parts.map(decodeSegment) : parts;
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

function isParameter(segment: string): boolean {
  return segment.startsWith('{');
}

/** The branch of one more segment of a template; made if there is none. */
function branchAt(branch: Branch, segment: string): Branch {
  const known = isParameter(segment) ? branch.parameter : branch.literals.get(segment);
  const next: Branch = known ?? { literals: new Map() };
  if (isParameter(segment)) branch.parameter = next;
  else branch.literals.set(segment, next);
  return next;
}

function rowsAt(branch: Branch, segments: readonly string[], at: number): TemplateRows | undefined {
  const segment = segments[at];
  if (segment === undefined) return branch.rows;
  const literal = branch.literals.get(segment);
  const found = literal && rowsAt(literal, segments, at + 1);
  if (found) return found;
  return branch.parameter && segment !== '' ? rowsAt(branch.parameter, segments, at + 1) : undefined;
}

function readParams(template: readonly string[], actual: readonly string[]): Record<string, string> {
  const params: Record<string, string> = {};
  for (let i = 0; i < template.length; i += 1) {
    const segment = template[i] ?? '';
    if (isParameter(segment)) params[segment.slice(1, -1)] = actual[i] ?? '';
  }
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
