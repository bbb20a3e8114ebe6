import { TurnbuckleError } from 'turnbuckle';
import { nearestWord } from '../command-line/nearest-word.js';
import { showLine } from '../terminal/untrusted-text.js';

/** The error for a name that no server has, with the one that was probably meant. */
export function unknownServer(name: string, known: readonly string[]): TurnbuckleError {
  const close = nearestWord(name, known);
  const all = known.map((one) => showLine(one, 40)).join(', ');
  return new TurnbuckleError('SERVER_UNKNOWN', `There is no server named "${name}" in the configuration.`, {
    server: name,
    hint:
      close !== undefined
        ? `Did you mean "${close}"?`
        : known.length > 0
          ? `Configured servers: ${all}`
          : 'No servers configured. Import servers (turnbuckle import), or add a server: turnbuckle add <name> -- <command>',
  });
}
