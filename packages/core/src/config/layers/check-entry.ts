/** Whether something may be written as the entry of a server, before it is in a file. */

import { TurnbuckleError } from '../../errors.js';
import { findMalformed } from '../../text/placeholders.js';
import { PLACEHOLDER_HINT } from '../placeholders/interpolate.js';
import { keyPath, parseServer } from './parse.js';

/** CONFIG_INVALID with every invalid key. */
export function checkEntry(name: string, entry: unknown): void {
  const path = `servers.${name}`;
  const malformed = findMalformed(entry);
  if (malformed !== undefined)
    throw new TurnbuckleError(
      'CONFIG_INVALID',
      `Invalid configuration of server "${name}": at ${keyPath(path, malformed.keys)}: invalid placeholder: ${malformed.beginning}`,
      { server: name, hint: PLACEHOLDER_HINT },
    );
  parseServer(name, entry, path);
}
