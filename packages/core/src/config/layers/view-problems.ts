/** Views that name servers which there are not: such a view is empty, or has less in it than its writer meant. */
import type { TurnbuckleError } from '../errors.js';
import { faultError } from './file-fault.js';
import type { FileSettings } from './file-schema.js';
import { nearest } from './nearest.js';
import { keyPath } from './parse.js';
import type { ReadLayer } from './read-layer.js';

/** Functions of a program, as if they were a server. */
const NATIVE = 'native';
/** So many are told of one file. */
const MOST_TOLD = 20;

/**
 * A problem for each name that is near another, or where the view knows no server at all. Others are let be: a view
 * may name the servers of a project that is not this one.
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
  // Where there are no servers at all, none is misspelt.
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
  return faults.slice(0, MOST_TOLD).flatMap(({ keys, name, isEmpty }) => {
    const close = nearest(name, servers.keys());
    if (close === undefined && !isEmpty) return [];
    const meant = close === undefined ? '' : ` (did you mean "${close}"?)`;
    const text = `there is no server named "${name}"${meant}`;
    const hint = 'The view has nothing of it. Correct the name there. turnbuckle list shows the servers.';
    return [faultError(read.layer.file, { ...read.placeOf(keys), path: keyPath('', keys), text }, { hint })];
  });
}
