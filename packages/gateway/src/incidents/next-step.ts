/** What the owner can do about an incident: the hint of its error, and always a command. */
import type { IncidentKind } from '@turnbuckle/store';
import { showLine } from 'turnbuckle/host';
import { shellQuote } from 'turnbuckle/light';

const MAX_WORD_CHARACTERS = 200;

/** A name as a word of a command line. Names are untrusted text. */
export const toShellWord = (name: string): string => shellQuote(showLine(name, MAX_WORD_CHARACTERS));

/** The command for each kind of incident of a server. */
const COMMANDS: Partial<Record<IncidentKind, (server: string) => string>> = {
  'sign-in-needed': (server) => `Sign in: turnbuckle login ${server}`,
  'server-flooded': (server) => `See what it sends: turnbuckle logs ${server}`,
  'sandbox-missing': (server) => `Check the sandbox: turnbuckle doctor ${server}`,
  'server-failed': (server) => `Check the server: turnbuckle doctor ${server}`,
  'entry-invalid': (server) => `Check the configuration: turnbuckle doctor ${server}`,
};

/** The next step of an incident of a server. */
export function nextStep(kind: IncidentKind, server: string, hint: string | undefined): string | undefined {
  const command = COMMANDS[kind]?.(toShellWord(server));
  return command === undefined ? hint : withCommand(hint, command);
}

/** The hint, followed by the command unless the hint has one. */
export function withCommand(hint: string | undefined, command: string): string {
  if (hint === undefined) return command;
  return /\bturnbuckle [a-z]/.test(hint) ? hint : `${hint} ${command}`;
}
