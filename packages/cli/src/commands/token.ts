import { setTimeout as pause } from 'node:timers/promises';
import { OWNER, type TokenFacts, TokenStore } from '@turnbuckle/gateway';
import { TurnbuckleError } from 'turnbuckle';
import { ACCESS, replacementForAccess, type TokenAccess } from 'turnbuckle/host';
import type { CommandContext } from '../command.js';
import { nearestWord } from '../command-line/nearest-word.js';
import { parseExpiry } from '../command-line/parse-expiry.js';
import { rejectExtraPositionals, requirePositional, suggestWord } from '../command-line/positionals.js';
import { findDaemonEndpoint } from '../daemon/daemon-endpoint.js';
import { loadCommandConfig } from '../session/command-runtime.js';
import { stateDirectoryOf } from '../session/state-directory.js';
import { textTable } from '../terminal/text-table.js';
import { formatTimestamp } from '../terminal/time-format.js';
import { showLine, showMessage } from '../terminal/untrusted-text.js';

/** These are not servers: what covers all of them, and the tools of the steward. */
const OTHER_CAPABILITIES: readonly string[] = ['mcp_integration', 'mcp_steward'];

const isAccess = (word: string): word is TokenAccess => ACCESS.some((access) => access === word);

/** A running daemon or bridge looks for changes of the token file ten times a second. */
const DAEMON_READS_AGAIN_MS = 200;

export async function run(context: CommandContext): Promise<void> {
  const { output } = context;
  const word = requirePositional(context, 0, 'subcommand (create, list or revoke)');
  const work = { create, list, revoke }[word];
  if (work === undefined)
    throw new TurnbuckleError('ARGUMENTS_INVALID', `Unknown subcommand "${word}".`, {
      hint: suggestWord(context, word, ['create', 'list', 'revoke']),
    });
  rejectExtraPositionals(context, word === 'list' ? 1 : 2);
  const store = await TokenStore.open({
    stateDir: stateDirectoryOf(context),
    onWarning: (message) => output.warn(`${output.color.yellow('warning')} ${showMessage(message)}`),
  });
  await work(context, store);
}

async function create(context: CommandContext, store: TokenStore): Promise<void> {
  const { flags, output } = context;
  const name = requirePositional(context, 1, 'token name');
  const can = (flags.capability as readonly string[] | undefined) ?? ['mcp_integration'];
  if (flags.capability !== undefined) await warnOfUnknownServers(context, can);
  const request = {
    name,
    can,
    access: parseAccess(context),
    expiresAt: typeof flags.expires === 'string' ? parseExpiry(flags.expires, Date.now()) : undefined,
  };
  const { token, facts } = await store.create(request).catch((error: unknown) => {
    throw toArgumentError(error, { name, can });
  });
  if (output.json) return output.data({ token, ...facts });
  // Alone, so that it can be put into a variable or a pipe.
  output.line(token);
  output.note(
    output.color.dim(
      `The token is not shown again. Access: ${facts.access.join(', ')}${untilOf(facts)}. Revoke the token: turnbuckle token revoke ${name}`,
    ),
  );
}

/** A capability for an unknown server grants nothing, so warn about it. */
async function warnOfUnknownServers(context: CommandContext, can: readonly string[]): Promise<void> {
  const { servers } = await loadCommandConfig(context, { refuse: false, warn: false });
  const known = [...servers.keys(), ...(await serversOfDaemon(context)), 'native'];
  for (const word of can) {
    const named = serverInCapability(word);
    if (named === undefined || known.some((server) => couldReferTo(named, server))) continue;
    const close = nearestWord(named.text, known);
    const meant =
      close === undefined ? 'List the servers: turnbuckle list' : `Did you mean "${named.prefix}${close}"?`;
    const warning = context.output.color.yellow('warning');
    context.output.warn(
      `${warning} --capability ${showLine(word, 80)}: no server named "${showLine(named.text, 60)}" is configured. ${meant}`,
    );
  }
}

/** It may have some that no file has: those of --demo and --mcp-server. */
async function serversOfDaemon(context: CommandContext): Promise<string[]> {
  const found = findDaemonEndpoint(context);
  const { servers } = await Promise.resolve(
    found?.client.get<{ servers: readonly { name: string }[] }>('/servers'),
  )
    .catch(() => undefined)
    .then((answer) => answer ?? { servers: [] });
  return servers.map(({ name }) => name);
}

interface NamedServer {
  readonly prefix: 'mcp:' | 'mcp_';
  readonly text: string;
}

/** The server in a capability; undefined if it names none. */
function serverInCapability(word: string): NamedServer | undefined {
  if (word.startsWith('mcp:')) return { prefix: 'mcp:', text: word.slice(4).split('/', 1)[0] ?? '' };
  return word.startsWith('mcp_') && !OTHER_CAPABILITIES.includes(word)
    ? { prefix: 'mcp_', text: word.slice(4) }
    : undefined;
}

/** `mcp_a_b` is the server `a_b`, or the tool `b` of `a`. */
const couldReferTo = ({ prefix, text }: NamedServer, server: string): boolean =>
  text === server || (prefix === 'mcp_' && text.startsWith(`${server}_`));

/** Translates validation errors of the store to command-line options. */
function toArgumentError(
  error: unknown,
  { name, can }: { readonly name: string; readonly can: readonly string[] },
): unknown {
  const faults: unknown = error instanceof TurnbuckleError ? error.data?.faults : undefined;
  const [fault] = Array.isArray(faults) ? faults : [];
  const [key, index] = String(Object(fault).path).split('.');
  const typed =
    key === 'can'
      ? `--capability "${[...new Set(can)][Number(index)]}"`
      : key === 'name'
        ? `token name "${name}"`
        : undefined;
  if (typed === undefined) return error;
  return new TurnbuckleError('ARGUMENTS_INVALID', `Invalid ${typed}: ${Object(fault).message}.`, {
    hint:
      key === 'can'
        ? 'Show examples: turnbuckle token create --help'
        : 'For example: turnbuckle token create ci',
  });
}

function parseAccess({ flags, output }: CommandContext): readonly TokenAccess[] {
  if (typeof flags.access !== 'string') return ['call'];
  const words = flags.access.split(',').map((word) => {
    const replacement = replacementForAccess(word.trim());
    if (replacement !== undefined)
      output.warn(
        `${output.color.yellow('warning')} "${word.trim()}" access is deprecated. Use "${replacement}" instead.`,
      );
    return replacement ?? word.trim();
  });
  const wrong = words.find((word) => !isAccess(word));
  if (wrong === undefined) return words.filter(isAccess);
  throw new TurnbuckleError(
    'ARGUMENTS_INVALID',
    `Invalid --access "${wrong}": expected "call", "read" or "admin".`,
    {
      hint: '"call" is for calling tools, "read" for seeing servers, calls and approvals, and "admin" for changing servers and rules and for answering approvals. Combine several with commas: call,read',
    },
  );
}

async function list({ output }: CommandContext, store: TokenStore): Promise<void> {
  const tokens = store.list();
  if (output.json) return output.data(tokens);
  const rows = tokens.map((facts) => [
    showLine(facts.name, 64),
    facts.access.join(','),
    showLine(facts.can.join(' '), 100),
    showLine(stateOf(facts), 100),
    output.color.dim(facts.lastUsedAt === undefined ? 'never used' : `used ${minuteOf(facts.lastUsedAt)}`),
  ]);
  const shrink = [
    [2, 12],
    [0, 12],
  ] as const;
  for (const line of textTable(rows, { width: output.width, shrink, minLastColumnWidth: 21 }))
    output.line(line);
}

function stateOf({ expiresAt, root }: TokenFacts): string {
  const maker = root === undefined ? [] : [`created by ${root}`];
  if (expiresAt === undefined) return maker.join();
  const end = Date.parse(expiresAt) <= Date.now() ? 'expired' : `until ${minuteOf(expiresAt)}`;
  return [end, ...maker].join(', ');
}

const untilOf = ({ expiresAt }: TokenFacts): string =>
  expiresAt === undefined ? '' : `. Valid until ${minuteOf(expiresAt)}`;

const minuteOf = (time: string): string => formatTimestamp(Date.parse(time)).slice(0, 16);

async function revoke(context: CommandContext, store: TokenStore): Promise<void> {
  const { output } = context;
  const name = requirePositional(context, 1, 'token name');
  if (!(await store.revoke(name))) {
    const close = nearestWord(
      name,
      store.list().map((one) => one.name),
    );
    throw new TurnbuckleError('ARGUMENTS_INVALID', `There is no token "${name}".`, {
      hint: close === undefined ? 'List the tokens: turnbuckle token list' : `Did you mean "${close}"?`,
    });
  }
  await pause(DAEMON_READS_AGAIN_MS);
  if (output.json) return output.data({ revoked: name });
  output.line(
    name === OWNER ? 'Token "owner" replaced; the old one no longer works.' : `Token "${name}" revoked.`,
  );
}
