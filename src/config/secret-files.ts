import { readFileSync } from 'node:fs';
import { envSchema } from './env.ts';
import { isSecretSetting } from './explain.ts';

const SUFFIX = '_FILE';

/** Names of the variables with the path of a file that holds a secret setting: its name and `_FILE`. */
export const SECRET_FILE_NAMES: readonly string[] = Object.keys(envSchema.shape)
  .filter(isSecretSetting)
  .map((name) => `${name}${SUFFIX}`);

/** Read the secrets that are given as files, as orchestrators mount them. A final line break is no part of a secret. */
export function withSecretFiles(raw: Readonly<Record<string, string | undefined>>) {
  const given: Record<string, string | undefined> = { ...raw };
  const wrong = new Map<string, string>();
  for (const fileName of SECRET_FILE_NAMES) {
    const path = raw[fileName];
    const name = fileName.slice(0, -SUFFIX.length);
    if (path === undefined) continue;
    if (raw[name] !== undefined) {
      wrong.set(fileName, `${fileName}: ${name} is set as well. Leave one of them out.`);
      continue;
    }
    try {
      given[name] = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
      if (given[name] === '')
        wrong.set(fileName, `${fileName}: "${path}" is empty. Write the value of ${name} into it.`);
    } catch {
      wrong.set(fileName, `${fileName}: "${path}" cannot be read. Correct the path or the rights of the file.`);
    }
  }
  return { given, wrong };
}
