/** A path of a row in a sentence, with a method before it and a query behind it. */
const ROW = /(?:\b(?:GET|POST) )?(\/v1\/[\w\-/{}:]*\w}?)(\?[\w=&,%.-]*\w)?/g;

/** Write texts of the rows with the tools that models call: `/v1/strategies?chainId=1` is `list_strategies (chainId: 1)`. */
export type ToolTerms = (text: string) => string;

/** A tool and its row, as far as a sentence names them. */
interface NamedRow {
  readonly tool: { readonly name: string };
  readonly route: { readonly path: string };
  /** Names of its arguments. */
  readonly names: readonly string[];
}

/** Create the terms of a set of tools. A path without a tool stays as it is. */
export function createToolTerms(all: readonly NamedRow[]): ToolTerms {
  return (text) =>
    text.replaceAll(ROW, (whole, path: string, query = '') => {
      for (const { tool, names, route } of all) {
        const values = valuesIn(path, route.path);
        if (values === undefined) continue;
        const given = [...values, ...new URLSearchParams(query)].filter(([name]) => names.includes(name));
        const list = given.map(([name, value]) => `${name}: ${value}`).join(', ');
        return list === '' ? tool.name : `${tool.name} (${list})`;
      }
      // A folder of rows, such as /v1/partner/leverage, is the first of its tools.
      return all.find(({ route }) => route.path.startsWith(`${path}/`))?.tool.name ?? whole;
    });
}

/** The values of the parameters of a path; `undefined` = it is not of this template. */
function valuesIn(path: string, template: string): readonly (readonly [string, string])[] | undefined {
  const parts = path.split('/');
  const segments = template.split('/');
  if (parts.length !== segments.length) return undefined;
  const values: (readonly [string, string])[] = [];
  for (const [i, segment] of segments.entries()) {
    const part = parts[i] ?? '';
    if (!segment.startsWith('{')) {
      if (part !== segment) return undefined;
    } else if (part !== segment) values.push([segment.slice(1, -1), part]);
  }
  return values;
}

/** Write the texts of a value in these terms. */
export function inTerms<T>(value: T, terms: ToolTerms): T {
  // Most answers have no such text.
  const json = JSON.stringify(value);
  if (!json?.includes('/v1/')) return value;
  return JSON.parse(json, (_name, part: unknown) => (typeof part === 'string' ? terms(part) : part)) as T;
}
