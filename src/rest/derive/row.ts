import { z } from 'zod';
import { type AnswerSchema, type JsonSchema, partOfAnswer } from '../openapi/json-schema.ts';
import { readMeta } from '../schemas/fresh-reads.ts';
import type { AnyRoute, Beside, DerivedRoute, RowInput } from '../types.ts';
import type { Answer } from './answers.ts';

/** Make the function that adds to rows the bodies that their operations describe. */
export function createDerive(answerOf: (operation: string) => Answer) {
  return <Params, Body>({ tool, repeated, check, ...route }: DerivedRoute<Params, Body>): AnyRoute => {
    const beside: Beside<Params, Body> = { repeated, check };
    const derived = answered(route, answerOf(route.operation), beside);
    const brief =
      tool?.brief === undefined
        ? undefined
        : answered({ ...route, operation: tool.brief }, answerOf(tool.brief), beside);
    const row = {
      ...route,
      ...derived,
      tool: tool && { ...tool, brief: brief && { operation: tool.brief, ...brief } },
    };
    return row as unknown as AnyRoute;
  };
}

interface Derived {
  readonly project: (data: unknown, input: RowInput<unknown, unknown>) => unknown;
  readonly response: AnswerSchema;
}

function answered<Params, Body>(
  { params, operation, summary }: { readonly params: z.ZodType; readonly operation: string; readonly summary: string },
  answer: Answer,
  { repeated, check }: Beside<Params, Body>,
): Derived {
  const isFresh = params instanceof z.ZodObject && 'maxAge' in params.shape;
  return {
    project(data, input) {
      const body = answer.body(data);
      check?.(body as never, input as RowInput<Params, Body>);
      if (body === null) throw new Error(`${operation} answered neither data nor an error`);
      if (repeated === undefined) return body;
      const shown = body as Readonly<Record<string, unknown>>;
      return inserted(shown, repeated.of(input as RowInput<Params, Body>, shown), repeated.after);
    },
    response: {
      deprecations: () => answer.deprecations(),
      derive(refer) {
        const more = z.object({ ...repeated?.schema.shape, ...(isFresh ? { meta: readMeta } : {}) });
        const isOpen = Object.keys(more.shape).length > 0;
        const whole = answer.schema(refer, isOpen);
        const parts = isOpen ? joined(whole, partOfAnswer(more, refer)) : whole;
        return '$ref' in parts ? parts : refer(operation, () => ({ description: summary, ...parts }));
      },
    },
  };
}

interface ObjectSchema extends JsonSchema {
  readonly required: readonly string[];
  readonly properties: Readonly<Record<string, JsonSchema>>;
}

/** The schema of an object with more properties. */
function joined(whole: JsonSchema, more: JsonSchema): JsonSchema {
  const [a, b] = [whole, more] as [ObjectSchema, ObjectSchema];
  return { ...a, required: [...a.required, ...(b.required ?? [])], properties: { ...a.properties, ...b.properties } };
}

/** An object with more members after one of its own, or before all. Those that it has too are replaced. */
function inserted(body: Readonly<Record<string, unknown>>, more: object, after: string | undefined): object {
  const own = Object.entries(body).filter(([name]) => !(name in more));
  const place = own.findIndex(([name]) => name === after) + 1;
  return Object.fromEntries([...own.slice(0, place), ...Object.entries(more), ...own.slice(place)]);
}
