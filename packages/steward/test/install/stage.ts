/** What the tests of installing share: a registry, a root directory, and one call from record to installation. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type RegistryPackage, startNpmRegistry, temporaryDirectory } from '@turnbuckle/testing';
import { createGuardedFetch } from 'turnbuckle/host';
import { onTestFinished } from 'vitest';
import { INSTALL_SETTINGS_SCHEMA } from '../../src/install/allow-list.js';
import { findPrograms } from '../../src/install/find-programs.js';
import { type Installed, type InstallOptions, install } from '../../src/install/install.js';
import type { InstallPlan } from '../../src/install/install-plan.js';
import type { InstallableRecord } from '../../src/install/installable-record.js';
import { readNpmConfig } from '../../src/install/npm/npm-config.js';
import { type PrepareOptions, prepareInstall } from '../../src/install/prepare-install.js';
import { isRefusal } from '../../src/install/refusal.js';

/** An MCP server without dependencies: one tool that returns its arguments. */
export const TINY_SERVER = `#!/usr/bin/env node
const { createInterface } = require('node:readline');
let word = 'tiny';
try { word = require('tiny-dependency'); } catch {}
const answer = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize')
    answer(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: word, version: '1.0.0' } });
  else if (method === 'tools/list')
    answer(id, { tools: [{ name: 'facts', inputSchema: { type: 'object' } }] });
  else if (method === 'tools/call')
    answer(id, { content: [{ type: 'text', text: JSON.stringify({ word, argv: process.argv.slice(2), execPath: process.execPath, secret: process.env.API_KEY }) }] });
  else if (id !== undefined)
    process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'unknown' } }) + '\\n');
});
`;

export const tinyPackage = (more: Partial<RegistryPackage> = {}): RegistryPackage => ({
  name: '@acme/server-tiny',
  version: '1.2.3',
  files: { 'bin/server.js': TINY_SERVER },
  ...more,
  manifest: { bin: { 'server-tiny': 'bin/server.js' }, ...more.manifest },
});

export const npmRecord = (
  identifier: string,
  version: string,
  more: Partial<NonNullable<InstallableRecord['packages']>[number]> = {},
): InstallableRecord => ({
  name: 'io.github.acme/tiny',
  version,
  packages: [{ registryType: 'npm', identifier, version, transport: { type: 'stdio' }, ...more }],
});

/** All paths below a directory, with their sizes and times. */
export function listTree(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((path) => {
      const { size, mtimeMs } = statSync(join(directory, path), { throwIfNoEntry: false }) ?? {};
      return `${path} ${size} ${mtimeMs}`;
    })
    .sort();
}

export async function createStage(packages: readonly RegistryPackage[], authorization?: string) {
  const home = await temporaryDirectory();
  const registry = await startNpmRegistry({
    packages,
    ...(authorization !== undefined && { authorization }),
  });
  onTestFinished(async () => {
    await registry.stop();
    await home.remove();
  });
  const root = home.file('packages');
  const environment = { PATH: process.env.PATH, HOME: home.file('home') };
  const settings = INSTALL_SETTINGS_SCHEMA.parse({
    allow: [{ type: 'npm' }],
    registries: { npm: registry.url },
  });
  const npm = await readNpmConfig({ environment, registry: registry.url });
  const programs = await findPrograms(environment);
  const fetch = createGuardedFetch({ allowedOrigins: [registry.url], maxBytes: 32 << 20 });
  const abort = new AbortController();
  const options: PrepareOptions & InstallOptions = {
    serverName: 'tiny',
    settings,
    programs,
    root,
    now: Date.now(),
    sandbox: false,
    verified: true,
    fetch,
    npm,
    npmFile: programs.npm,
    signal: abort.signal,
    environment,
  };
  const prepare = (record: InstallableRecord, more: Partial<PrepareOptions> = {}) =>
    prepareInstall(record, { ...options, ...more });
  /** The plan; fails if it is a refusal. */
  const plan = async (
    record: InstallableRecord,
    more: Partial<PrepareOptions> = {},
  ): Promise<InstallPlan> => {
    const planned = await prepare(record, more);
    if (isRefusal(planned)) throw new Error(`refused: ${planned.reason}`);
    return planned;
  };
  const carryOut = (planned: InstallPlan, more: Partial<InstallOptions> = {}): Promise<Installed> =>
    install(planned, { ...options, ...more });
  /** Why the package was not installed, wherever that was found out. */
  const whyRefused = async (record: InstallableRecord): Promise<string> => {
    try {
      const planned = await prepare(record);
      if (isRefusal(planned)) return planned.reason;
      await carryOut(planned);
      return 'not refused';
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  };
  return { home, root, registry, options, abort, prepare, plan, carryOut, whyRefused, settings, environment };
}
