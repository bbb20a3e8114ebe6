/** Where Turnbuckle keeps what protects its user (agreements, sign-ins, settings): out of every server's reach. */
import { mkdir, realpath } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { userFile } from '../../config/layers/layers.js';
import type { HostMount, Mount } from './mount.js';
import { contains } from './paths.js';

export interface HostDirectories {
  readonly stateDir: string;
  readonly home: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Their real paths. Missing ones are created, so that a server cannot create them. */
export async function ownDirectories({ stateDir, home, environment }: HostDirectories): Promise<string[]> {
  const settings = dirname(userFile({ home, platform: process.platform, environment }));
  const places = await Promise.all(
    [stateDir, settings].map(async (place) => {
      // Where we have no permission, no process of this user has.
      await mkdir(place, { recursive: true, mode: 0o700 }).catch(() => {});
      return realpath(place).catch(() => undefined);
    }),
  );
  return places.filter((place) => place !== undefined);
}

/** Hides own directories inside exposed ones. */
export function hideOwnDirectories(shown: readonly HostMount[], own: readonly string[]): Mount[] {
  return shown.flatMap(({ source, target }) =>
    own
      .filter((place) => contains(source, place))
      .map((place): Mount => ({ kind: 'hidden', target: join(target, relative(source, place)) })),
  );
}
