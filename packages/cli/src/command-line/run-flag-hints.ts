/** Hints for servers that only this command line knows: the next command needs the same option, or finds no such server. */
import { TurnbuckleError } from 'turnbuckle';
import { shellQuote } from 'turnbuckle/light';
import type { Flags } from '../command.js';

/** The values of --agent, --config and --mcp-server. */
export interface RunServerFlags {
  readonly agent?: Flags[string];
  readonly config?: Flags[string];
  readonly servers?: Flags[string];
}

/** The error, its commands with the options of this run; any other as it is. */
export function withRunFlagHints(thrown: unknown, named: RunServerFlags | undefined): unknown {
  if (!(thrown instanceof TurnbuckleError) || thrown.hint === undefined || named === undefined) return thrown;
  const { code, message, server, tool, data, cause } = thrown;
  const hint = addRunFlags(addAgent(thrown.hint, named.agent), server, named);
  if (hint === thrown.hint) return thrown;
  return new TurnbuckleError(code, message, { server, tool, data, cause, hint });
}

/** `turnbuckle login j` as `turnbuckle login j --mcp-server 'j=…'`. */
function addRunFlags(hint: string, server: string | undefined, { config, servers }: RunServerFlags): string {
  if (server === undefined) return hint;
  const isOwn = listed(servers).some((text) => text.startsWith(`${server}=`));
  // Not all of it: there may be a secret in the command.
  const options = isOwn
    ? [`--mcp-server '${server}=…'`]
    : listed(config).map((file) => `--config ${shellQuote(file)}`);
  if (options.length === 0) return hint;
  const said = [server, shellQuote(server)];
  return hint.replace(
    /\bturnbuckle (?:login|logout|logs|config|tools|call|ping|doctor) (\S+?)(?=[\s.,;)]|$)/g,
    (command, word) =>
      said.includes(String(word)) ? `${String(command)} ${options.join(' ')}` : String(command),
  );
}

/** `turnbuckle login web` of the run with `--agent helper` as `turnbuckle login web --agent helper`. */
function addAgent(hint: string, agent: Flags[string]): string {
  if (typeof agent !== 'string' || hint.includes(' --agent ')) return hint;
  return hint.replace(
    /\bturnbuckle (?:login|logout) \S+?(?=[\s.,;)]|$)/g,
    (command) => `${command} --agent ${shellQuote(agent)}`,
  );
}

const listed = (flag: Flags[string]): readonly string[] => (Array.isArray(flag) ? flag : []);
