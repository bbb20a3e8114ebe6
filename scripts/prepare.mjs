// Prepares a clone: installs if the lock file or a package.json changed since the last time, then builds.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const marker = join(root, 'node_modules', '.turnbuckle-prepared');

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(
    `Turnbuckle needs Node 20.19 or newer; this is ${process.version}. Install a newer Node and run again.`,
  );
  process.exit(1);
}

function fingerprint() {
  const hash = createHash('sha256').update(process.platform + process.arch);
  const manifests = readdirSync(join(root, 'packages')).map((name) => join('packages', name, 'package.json'));
  for (const file of ['package.json', 'package-lock.json', 'testing/package.json', ...manifests.sort()]) {
    if (existsSync(join(root, file))) hash.update(file).update(readFileSync(join(root, file)));
  }
  return hash.digest('hex');
}

function run(title, command, args) {
  console.log(`${title} …`);
  const started = Date.now();
  const { status, error } = spawnSync(command, args, {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    shell: process.platform === 'win32',
  });
  if (status !== 0) {
    console.error(
      `${title} failed${error ? `: ${error.message}` : ''}. The command was: ${command} ${args.join(' ')}`,
    );
    process.exit(status ?? 1);
  }
  console.log(`${title}: ${((Date.now() - started) / 1000).toFixed(1)} s`);
}

/** True if a source file or the installed dependencies changed after the bundle was built. */
function isBundleOld() {
  const bundle = join(root, 'packages', 'cli', 'dist', 'bin.js');
  if (!existsSync(bundle)) return true;
  const made = statSync(bundle).mtimeMs;
  const sources = readdirSync(join(root, 'packages')).flatMap((name) => {
    const source = join(root, 'packages', name, 'src');
    return existsSync(source)
      ? readdirSync(source, { recursive: true }).map((file) => join(source, file))
      : [];
  });
  return [marker, join(root, 'packages', 'cli', 'build.mjs'), ...sources].some(
    (file) => statSync(file).mtimeMs >= made,
  );
}

const wanted = fingerprint();
if (!existsSync(marker) || readFileSync(marker, 'utf8') !== wanted) {
  run('Installing dependencies', 'npm', ['install', '--no-audit', '--no-fund', '--loglevel=error']);
  writeFileSync(marker, fingerprint());
}
run('Building', process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-b']);
if (isBundleOld())
  run('Bundling the command', process.execPath, [join(root, 'packages', 'cli', 'build.mjs')]);
