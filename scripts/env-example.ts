import { writeFileSync } from 'node:fs';
import { renderEnvExample } from '../src/config/env-example.ts';

writeFileSync('.env.example', renderEnvExample());
