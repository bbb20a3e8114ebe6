/** Whether something may be written as the entry of a server, before it is in a file. */

import { TurnbuckleError } from '../../errors.js';
import { findMalformed } from '../../text/placeholders.js';
import { PLACEHOLDER_HINT } from '../placeholders/interpolate.js';
import { checkPart, keyPath, parseServer } from './parse.js';

/** CONFIG_INVALID with every invalid key. */
export function checkEntry(name: string, entry: unknown): void {
  const path = `servers.${name}`;
  checkPlaceholders(name, entry, path);
  parseServer(name, entry, path);
}

/** The same for a part of an entry, whose other keys are not known; `path` leads to it. */
export function checkPartOfEntry(name: string, part: Readonly<Record<string, unknown>>, path: string): void {
  checkPlaceholders(name, part, path);
  checkPart(name, part, path);
}

function checkPlaceholders(name: string, entry: unknown, path: string): void {
  const malformed = findMalformed(entry);
  if (malformed !== undefined)
    throw new TurnbuckleError(
      'CONFIG_INVALID',
      `Invalid configuration of server "${name}": at ${keyPath(path, malformed.keys)}: invalid placeholder: ${malformed.beginning}`,
      { server: name, hint: PLACEHOLDER_HINT },
    );
}
