/** Where Turnbuckle keeps what guards its user (agreements, sign-ins, settings): out of every server's reach. */
import { mkdir, realpath } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { userFile } from '../../config/layers.js';
import type { Mount, Shown } from './mount.js';
import { contains } from './paths.js';

export interface HostPlace {
  readonly stateDir: string;
  readonly home: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Their real paths. They are made if they are not there: a server must not be the one who makes them. */
export async function ownPlaces({ stateDir, home, environment }: HostPlace): Promise<string[]> {
  const settings = dirname(userFile({ home, platform: process.platform, environment }));
  const places = await Promise.all(
    [stateDir, settings].map(async (place) => {
      // Where we may not, nobody of this user's may.
      await mkdir(place, { recursive: true, mode: 0o700 }).catch(() => {});
      return realpath(place).catch(() => undefined);
    }),
  );
  return places.filter((place) => place !== undefined);
}

/** Hides the own places that lie in what is shown. */
export function hideOwnPlaces(shown: readonly Shown[], own: readonly string[]): Mount[] {
  return shown.flatMap(({ source, target }) =>
    own
      .filter((place) => contains(source, place))
      .map((place): Mount => ({ kind: 'hidden', target: join(target, relative(source, place)) })),
  );
}
