import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = new URL('../..', import.meta.url).pathname;

/** Every class that ends in AppError, with its code: its own, or that of the class it extends. */
export function errorClasses(): Map<string, string> {
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(join(root, 'src', name), 'utf8'));
  const declared = new Map<string, { parent: string; code: string | undefined }>();
  for (const source of sources) {
    for (const text of source.split(/^export class /m).slice(1)) {
      const [, name = '', parent = ''] = /^(\w+)[^{]*? extends (\w+)/.exec(text) ?? [];
      declared.set(name, { parent, code: /super\(\s*'([a-z_]+)'/.exec(text)?.[1] });
    }
  }
  const codeOf = (name: string): string | undefined => {
    const found = declared.get(name);
    return found === undefined ? undefined : (found.code ?? codeOf(found.parent));
  };
  const isAppError = (name: string): boolean => {
    const parent = declared.get(name)?.parent;
    return parent === 'AppError' || (parent !== undefined && isAppError(parent));
  };
  return new Map([...declared.keys()].filter(isAppError).map((name) => [name, codeOf(name) ?? 'none']));
}
