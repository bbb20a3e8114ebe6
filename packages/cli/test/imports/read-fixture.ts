import { readFileSync } from 'node:fs';

/** The text of an example config file of a client. */
export function readFixture(name: string): string {
  return readFileSync(new URL(`./fixtures/${name}`, import.meta.url), 'utf8');
}
