import { writeFileSync } from 'node:fs';
import { renderEnvExample } from '../src/config/config.ts';

writeFileSync('.env.example', renderEnvExample());
