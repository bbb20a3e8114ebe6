/** The directories that a server may ask for: the one the command runs in, and no other. */
import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';

export function currentRoots(): { roots: { uri: string; name: string }[] } {
  const here = process.cwd();
  return { roots: [{ uri: pathToFileURL(here).href, name: basename(here) }] };
}
