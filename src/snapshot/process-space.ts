import { readFile, readlink } from 'node:fs/promises';
import { hostname } from 'node:os';

/**
 * Name the processes among which a pid is unique: on Linux the pid namespace of this boot, because containers have their own;
 * elsewhere the host. `null` = not known.
 */
export async function processSpace(): Promise<string | null> {
  if (process.platform !== 'linux') return `host ${hostname()}`;
  try {
    const [boot, namespace] = await Promise.all([
      readFile('/proc/sys/kernel/random/boot_id', 'utf8'),
      readlink('/proc/self/ns/pid'),
    ]);
    return `${boot.trim()} ${namespace}`;
  } catch {
    return null;
  }
}

/** When a process started, in ticks since the boot; `null` = not known, or there is no such process. */
export async function startOf(pid: number): Promise<string | null> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The name of the program, in parentheses, may contain anything. The start is field 22, the state after the name field 3.
  return text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? null;
}
