import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/*
 * Run a file on the newest even release of Node, which package.json pins (`config.newestNode`):
 * `node scripts/on-newest-node.mjs node_modules/vitest/vitest.mjs run`. npm brings the binary, once, into the cache of
 * node_modules. Programs that the file starts as `node`, `npm` or `npx` run on it too.
 */

const { newestNode } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).config;
// The packages behind the package `node`, which needs an install script to choose among them.
const { platform, arch } = process;
const name = `${platform === 'darwin' && arch === 'arm64' ? 'node-bin' : 'node'}-${platform}-${arch}`;
const folder = fileURLToPath(new URL(`../node_modules/.cache/spiral-gateway/node-${newestNode}`, import.meta.url));
const binary = join(folder, 'node_modules', name, 'bin', 'node');

if (!existsSync(binary)) {
  mkdirSync(folder, { recursive: true });
  const install = ['install', '--prefix', folder, '--no-save', '--no-audit', '--no-fund', `${name}@${newestNode}`];
  execFileSync('npm', install, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
}
process.stderr.write(`Node ${execFileSync(binary, ['--version'], { encoding: 'utf8' })}`);

const child = spawn(binary, process.argv.slice(2), {
  env: { ...process.env, PATH: `${dirname(binary)}${delimiter}${process.env.PATH ?? ''}` },
  stdio: 'inherit',
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
child.on('exit', (code) => {
  process.exitCode = code ?? 1;
});
