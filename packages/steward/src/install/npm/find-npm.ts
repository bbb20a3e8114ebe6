/** Finds npm's own JavaScript file, which is run by this Node: no `npm` of the PATH is ever started. */
import { realpath, stat } from 'node:fs/promises';
import { delimiter, dirname, isAbsolute, join } from 'node:path';

const CLI = join('npm', 'bin', 'npm-cli.js');

/** Undefined if npm is not installed. */
export async function findNpm(
  environment: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  const installed = dirname(process.execPath);
  const places = (environment.PATH ?? '').split(delimiter).filter((place) => isAbsolute(place));
  const candidates = [
    join(installed, '..', 'lib', 'node_modules', CLI),
    join(installed, 'node_modules', CLI),
    ...places.flatMap((place) => [join(place, 'npm'), join(place, 'node_modules', CLI)]),
  ];
  for (const candidate of candidates) {
    const file = await realpath(candidate).catch(() => undefined);
    if (file?.endsWith('npm-cli.js') === true && (await stat(file)).isFile()) return file;
  }
  return undefined;
}
