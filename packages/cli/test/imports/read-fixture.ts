import { readFileSync } from 'node:fs';

/** A file as a client of that name would have it. */
export function readFixture(name: string): string {
  return readFileSync(new URL(`./fixtures/${name}`, import.meta.url), 'utf8');
}
