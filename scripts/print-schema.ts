import { writeFileSync } from 'node:fs';
import { printSchema } from 'graphql';
import { buildSchema } from '../src/schema/index.ts';

writeFileSync(new URL('../schema.graphql', import.meta.url), `${printSchema(buildSchema())}\n`);
