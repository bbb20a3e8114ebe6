/** Problems of views that name unknown servers: such a view is empty, or has less than intended. */
import type { TurnbuckleError } from '../../errors.js';
import { nearest } from '../../text/nearest.js';
import type { FileSettings } from '../schema/file-schema.js';
import { faultError } from './file-errors.js';
import { keyPath } from './parse.js';
import type { ReadLayer } from './read-layer.js';

/** Native tools, as if they were a server. */
const NATIVE = 'native';
/** Maximum number reported per file. */
const MAX_REPORTED = 20;

/**
 * A problem for each name that resembles another, or if the view has no known server at all. Other unknown names are
 * fine: they may be servers of another project.
 */
export function viewProblems(
  layers: readonly ReadLayer[],
  settings: Partial<FileSettings>,
  servers: ReadonlyMap<string, unknown>,
): readonly TurnbuckleError[] {
  const views = Object.entries(settings.daemon?.views ?? {});
  const read = layers.find(
    (one) => one.settings.daemon !== undefined && one.settings.daemon === settings.daemon,
  );
  // Without any servers, no name is misspelled.
  if (read === undefined || servers.size === 0) return [];
  const isKnown = (name: string): boolean => name === NATIVE || servers.has(name);
  const faults = views.flatMap(([view, { servers: named = [] }]) =>
    [...named.entries()]
      .filter(([, name]) => !isKnown(name))
      .map(([index, name]) => ({
        keys: ['daemon', 'views', view, 'servers', index],
        name,
        isEmpty: !named.some(isKnown),
      })),
  );
  return faults.slice(0, MAX_REPORTED).flatMap(({ keys, name, isEmpty }) => {
    const close = nearest(name, servers.keys());
    if (close === undefined && !isEmpty) return [];
    const meant = close === undefined ? '' : ` (did you mean "${close}"?)`;
    const text = `there is no server named "${name}"${meant}`;
    const hint = 'The view ignores this name. To see the server names, run: turnbuckle list';
    return [
      faultError(read.layer.file, { ...read.positionOf(keys), path: keyPath('', keys), text }, { hint }),
    ];
  });
}
