// Reloads while a file, then its directory, is unreadable. Prints the results as JSON. Argument: a directory.
// If run by root, it becomes another user first: root may read everything.
import { chmod, chown, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createConfiguredRuntime } from '../../dist/index.js';

const NOBODY = 65_534;
const [home] = process.argv.slice(2);

/** A project with one server, reloaded with and without permission. */
async function reloadWithoutPermission(project, owner) {
  const directory = join(project, '.turnbuckle');
  const file = join(directory, 'mcp.json');
  await mkdir(directory, { recursive: true });
  await writeFile(file, '{ "servers": { "one": { "command": "x", "start": "lazy" } } }');
  if (owner !== undefined) {
    for (const path of [home, project, directory, file]) await chown(path, owner, owner);
    process.seteuid(owner);
  }
  const { reload, runtime } = await createConfiguredRuntime({
    cwd: project,
    environment: { HOME: home },
    stateDir: join(project, 'state'),
    trustProject: true,
  });
  const found = [];
  for (const [path, mode] of [
    [file, 0],
    [file, 0o600],
    [directory, 0],
    [directory, 0o700],
  ]) {
    await chmod(path, mode);
    const { removed, changed, config } = await reload();
    found.push({ servers: runtime.status().length, removed, changed, problems: config.problems.length });
  }
  await runtime.close();
  return found;
}

const isRoot = process.getuid() === 0;
// The library loads some modules lazily, and the other user may not be allowed to read them where root keeps this
// repository: a first run as root loads everything that the reloads need.
if (isRoot) await reloadWithoutPermission(join(home, 'rehearsal'));
const found = await reloadWithoutPermission(join(home, 'project'), isRoot ? NOBODY : undefined);
process.stdout.write(JSON.stringify(found));
