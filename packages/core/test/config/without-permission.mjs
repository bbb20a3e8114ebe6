// A reload while a file, then its directory, may not be read. Prints what it found as JSON. Argument: a directory.
// Run by root, it becomes somebody else first: root may read everything.
import { chmod, chown, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createConfiguredRuntime } from '../../dist/index.js';

const NOBODY = 65_534;
const [home] = process.argv.slice(2);
const directory = join(home, 'project', '.turnbuckle');
const file = join(directory, 'mcp.json');
await mkdir(directory, { recursive: true });
await writeFile(file, '{ "servers": { "one": { "command": "x", "start": "lazy" } } }');
if (process.getuid() === 0) {
  for (const path of [home, directory, file]) await chown(path, NOBODY, NOBODY);
  process.seteuid(NOBODY);
}
const { reload, runtime } = await createConfiguredRuntime({
  cwd: join(home, 'project'),
  environment: { HOME: home },
  stateDir: join(home, 'state'),
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
process.stdout.write(JSON.stringify(found));
