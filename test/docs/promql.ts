/** One reading of a metric in an expression. */
export interface Selector {
  readonly metric: string;
  /** The values that each label is compared with; none for a pattern that is not a list of words. */
  readonly matchers: readonly { readonly label: string; readonly values: readonly string[] }[];
}

export interface Expression {
  readonly selectors: readonly Selector[];
  /** Labels that results are grouped by. */
  readonly groupings: readonly string[];
}

const METRIC = /\b((?:spiral|process|nodejs)_[a-z0-9_]+)(?:\{([^}]*)\})?/g;
const MATCHER = /([a-z_]+)\s*(=~|!~|!=|=)\s*"([^"]*)"/g;
const GROUPING = /\b(?:by|without|on|ignoring)\s*\(([^)]*)\)/g;
const WORDS = /^[\w ]+(\|[\w ]+)*$/;

/** Read which series an expression of Prometheus asks for. Arithmetic and functions are not looked at. */
export function readPromql(text: string): Expression {
  const selectors = [...text.matchAll(METRIC)].map(([, metric = '', inside = '']) => ({
    metric,
    matchers: [...inside.matchAll(MATCHER)].map(([, label = '', operator = '', value = '']) => ({
      label,
      values: !operator.endsWith('~') ? [value] : WORDS.test(value) ? value.split('|') : [],
    })),
  }));
  const groupings = [...text.matchAll(GROUPING)].flatMap(([, labels = '']) =>
    labels.split(',').map((one) => one.trim()),
  );
  return { selectors, groupings };
}

/** The series of a page of metrics: per name as it is printed, per label the values that occur. */
export function readMetrics(page: string): ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>> {
  const found = new Map<string, Map<string, Set<string>>>();
  for (const line of page.split('\n')) {
    const [, name, inside = ''] = /^([a-z_0-9]+)(?:\{(.*)\})? \S+$/.exec(line) ?? [];
    if (name === undefined) continue;
    const labels = found.get(name) ?? new Map<string, Set<string>>();
    found.set(name, labels);
    for (const [, label = '', value = ''] of inside.matchAll(/([a-z_]+)="([^"]*)"/g)) {
      labels.set(label, (labels.get(label) ?? new Set()).add(value));
    }
  }
  return found;
}
