import { z } from 'zod';

/** Settings whose value may hold a secret: a password, a key, or a path that is one. */
const SECRET = /(_URL|_URL_\d+|_API_KEY|_PEPPER|_ENDPOINT)$/;
const MAX_PRINTED_CHARS = 60;

/** Whether the value of a setting may hold a secret. */
export function isSecretSetting(name: string): boolean {
  return SECRET.test(name);
}

/** Explain an invalid setting and the expected value. A value that may be a secret is not repeated. */
export function explainSetting(name: string, schema: z.ZodType | undefined, given: string, message: string): string {
  const formatted = isSecretSetting(name) ? 'its value' : JSON.stringify(given.slice(0, MAX_PRINTED_CHARS));
  return `${name}: ${formatted} is invalid. Set it to ${expectedOf(inner(schema)) ?? message.replace(/^expected /, '')}.`;
}

/** Unwrap defaults, optional types and transforms. */
function inner(schema: z.ZodType | undefined): z.ZodType | undefined {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodOptional) return inner(schema.unwrap() as z.ZodType);
  if (schema instanceof z.ZodPipe) return inner(schema.in as z.ZodType);
  return schema;
}

function expectedOf(schema: z.ZodType | undefined): string | null {
  if (schema instanceof z.ZodEnum) return `one of ${schema.options.join(', ')}`;
  if (schema instanceof z.ZodNumber) {
    const { minValue, maxValue, isInt } = schema;
    const noun = isInt ? 'a whole number' : 'a number';
    const [hasMin, hasMax] = [Number.isFinite(minValue), Number.isFinite(maxValue)];
    if (hasMin && hasMax) return `${noun} from ${minValue} to ${maxValue}`;
    return hasMin ? `${noun} of at least ${minValue}` : noun;
  }
  // Formats such as URL have a message of their own.
  if (schema instanceof z.ZodString && schema.minLength !== null) return `at least ${schema.minLength} characters`;
  return null;
}
