import { OWNER, type TokenFacts, TokenStore } from '@turnbuckle/gateway';
import { TurnbuckleError } from 'turnbuckle';
import type { CommandContext } from '../command.js';
import { findAttachment } from '../daemon/attachment.js';
import { nearestWord } from '../nearest-word.js';
import { loadCommandConfig } from '../open.js';
import { readUntil } from '../read-until.js';
import { stateDirectoryOf } from '../state-directory-of.js';
import { textTable } from '../text-table.js';
import { showMoment } from '../time-words.js';
import { showLine, showMessage } from '../untrusted-text.js';
import { meantWord, needWord, refuseSurplus } from '../words.js';

type Access = TokenFacts['access'][number];

const ACCESS: readonly string[] = ['call', 'look', 'manage'] satisfies Access[];
const isAccess = (word: string): word is Access => ACCESS.includes(word);

export async function run(context: CommandContext): Promise<void> {
  const { output } = context;
  const word = needWord(context, 0, 'word for what to do');
  const work = { create, list, revoke }[word];
  if (work === undefined)
    throw new TurnbuckleError('ARGUMENTS_INVALID', `"${word}" is nothing that token can do.`, {
      hint: meantWord(context, word, ['create', 'list', 'revoke']),
    });
  refuseSurplus(context, word === 'list' ? 1 : 2);
  const store = await TokenStore.open({
    stateDir: stateDirectoryOf(context),
    onWarning: (message) => output.warn(`${output.color.yellow('warning')} ${showMessage(message)}`),
  });
  await work(context, store);
}

async function create(context: CommandContext, store: TokenStore): Promise<void> {
  const { flags, output } = context;
  const name = needWord(context, 1, 'name of the token');
  const can = (flags.can as readonly string[] | undefined) ?? ['mcp_integration'];
  if (flags.can !== undefined) await warnOfUnknownServers(context, can);
  const request = {
    name,
    can,
    access: accessOf(flags.access),
    expiresAt: typeof flags.expires === 'string' ? readUntil(flags.expires, Date.now()) : undefined,
  };
  const { token, facts } = await store.create(request).catch((error: unknown) => {
    throw asTyped(error, { name, can });
  });
  if (output.json) return output.data({ token, ...facts });
  // Alone, so that it can be put into a variable or a pipe.
  output.line(token);
  output.note(
    output.color.dim(
      `It is not shown again. Good for: ${facts.access.join(', ')}${untilOf(facts)}. Take it back: turnbuckle token revoke ${name}`,
    ),
  );
}

/** A word for a server that there is not grants nothing, and nothing else would say so. */
async function warnOfUnknownServers(context: CommandContext, can: readonly string[]): Promise<void> {
  const { servers } = await loadCommandConfig(context, { refuse: false, warn: false });
  const known = [...servers.keys(), ...(await serversOfDaemon(context)), 'native'];
  for (const word of can) {
    const named = serverOfWord(word);
    if (named === undefined || known.some((server) => mayMean(named, server))) continue;
    const close = nearestWord(named.text, known);
    const meant =
      close === undefined ? 'turnbuckle list shows them.' : `Did you mean "${named.sign}${close}"?`;
    const warning = context.output.color.yellow('warning');
    context.output.warn(
      `${warning} --can ${showLine(word, 80)}: there is no server named "${showLine(named.text, 60)}" now. ${meant}`,
    );
  }
}

/** It may have some that no file has: those of --demo and --mcp-server. */
async function serversOfDaemon(context: CommandContext): Promise<string[]> {
  const found = findAttachment(context);
  const { servers } = await Promise.resolve(
    found?.client.get<{ servers: readonly { name: string }[] }>('/servers'),
  )
    .catch(() => undefined)
    .then((answer) => answer ?? { servers: [] });
  return servers.map(({ name }) => name);
}

interface NamedServer {
  readonly sign: 'mcp:' | 'mcp_';
  readonly text: string;
}

/** What a word says of a server; undefined when it is about none. */
function serverOfWord(word: string): NamedServer | undefined {
  if (word.startsWith('mcp:')) return { sign: 'mcp:', text: word.slice(4).split('/', 1)[0] ?? '' };
  return word.startsWith('mcp_') && word !== 'mcp_integration'
    ? { sign: 'mcp_', text: word.slice(4) }
    : undefined;
}

/** `mcp_a_b` is the server `a_b`, or the tool `b` of `a`. */
const mayMean = ({ sign, text }: NamedServer, server: string): boolean =>
  text === server || (sign === 'mcp_' && text.startsWith(`${server}_`));

/** What the store found wrong, in the words of the command line. */
function asTyped(
  error: unknown,
  { name, can }: { readonly name: string; readonly can: readonly string[] },
): unknown {
  const faults: unknown = error instanceof TurnbuckleError ? error.data?.faults : undefined;
  const [fault] = Array.isArray(faults) ? faults : [];
  const [key, index] = String(Object(fault).path).split('.');
  const typed =
    key === 'can'
      ? `--can "${[...new Set(can)][Number(index)]}"`
      : key === 'name'
        ? `The name "${name}"`
        : undefined;
  if (typed === undefined) return error;
  return new TurnbuckleError('ARGUMENTS_INVALID', `${typed} cannot be used: ${Object(fault).message}.`, {
    hint:
      key === 'can'
        ? 'turnbuckle token create --help shows an example.'
        : 'For example: turnbuckle token create ci',
  });
}

function accessOf(given: unknown): readonly Access[] {
  if (typeof given !== 'string') return ['call'];
  const words = given.split(',').map((word) => word.trim());
  const wrong = words.find((word) => !isAccess(word));
  if (wrong === undefined) return words.filter(isAccess);
  throw new TurnbuckleError('ARGUMENTS_INVALID', `--access "${wrong}" is not one of ${ACCESS.join(', ')}.`, {
    hint: 'call: use tools; look: see servers, calls and approvals; manage: change and answer.',
  });
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
  for (const line of textTable(rows, { width: output.width, shrink, room: 21 })) output.line(line);
}

function stateOf({ expiresAt, root }: TokenFacts): string {
  const maker = root === undefined ? [] : [`made by ${root}`];
  if (expiresAt === undefined) return maker.join();
  const end = Date.parse(expiresAt) <= Date.now() ? 'expired' : `until ${minuteOf(expiresAt)}`;
  return [end, ...maker].join(', ');
}

const untilOf = ({ expiresAt }: TokenFacts): string =>
  expiresAt === undefined ? '' : `, until ${minuteOf(expiresAt)}`;

const minuteOf = (time: string): string => showMoment(Date.parse(time)).slice(0, 16);

async function revoke(context: CommandContext, store: TokenStore): Promise<void> {
  const { output } = context;
  const name = needWord(context, 1, 'name of the token');
  if (!(await store.revoke(name))) {
    const close = nearestWord(
      name,
      store.list().map((one) => one.name),
    );
    throw new TurnbuckleError('ARGUMENTS_INVALID', `There is no token "${name}".`, {
      hint: close === undefined ? 'turnbuckle token list shows which there are.' : `Did you mean "${close}"?`,
    });
  }
  if (output.json) return output.data({ revoked: name });
  output.line(
    name === OWNER ? 'Token "owner" replaced; the old one no longer works.' : `Token "${name}" revoked.`,
  );
}
