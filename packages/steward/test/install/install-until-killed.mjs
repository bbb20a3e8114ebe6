// Carries out a plan from a file; the test kills it meanwhile. usage: install-until-killed.mjs plan.json registry
import { readFileSync } from 'node:fs';
import { createGuardedFetch } from 'turnbuckle/host';
import { INSTALL_SETTINGS_SCHEMA } from '../../dist/install/allow-list.js';
import { findPrograms } from '../../dist/install/find-programs.js';
import { install } from '../../dist/install/install.js';
import { readNpmConfig } from '../../dist/install/npm/npm-config.js';

const [file, registry] = process.argv.slice(2);
const environment = process.env;
await install(JSON.parse(readFileSync(file, 'utf8')), {
  fetch: createGuardedFetch({ allowedOrigins: [registry], timeoutMs: 600_000 }),
  npm: await readNpmConfig({ environment, registry }),
  npmFile: (await findPrograms(environment)).npm,
  signal: new AbortController().signal,
  settings: INSTALL_SETTINGS_SCHEMA.parse({}),
  environment,
});
