import { open, stat, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { DEFAULT_PORT, TokenStore } from '@turnbuckle/gateway';
import { makeDirectory, TurnbuckleError } from 'turnbuckle';
import type { CommandContext } from '../command.js';
import { AGENTS, agentAt, agentsHere, placeOf } from '../daemon/agent-clients.js';
import { agentDecisions } from '../daemon/agent-decisions.js';
import { byAddress, byCommand, ENTRY_NAME, takesAddresses } from '../daemon/agent-entry.js';
import { findDaemon, reachable } from '../daemon/find-daemon.js';
import type { Client } from '../imports/client.js';
import { type ServerDraft, writeClientConfig } from '../imports/index.js';
import { nearestWord } from '../nearest-word.js';
import { loadCommandConfig } from '../open.js';
import { confirmChange } from '../preview.js';
import { shellWord } from '../shell-word.js';
import { stateDirectoryOf } from '../state-directory-of.js';
import { textTable } from '../text-table.js';
import { type Change, currentText, rememberChange, rememberedChange, removeMade } from '../undo.js';
import { setupOf, undoSetup } from '../undo-setup.js';
import { showLine } from '../untrusted-text.js';
import { needWord } from '../words.js';

export async function run(context: CommandContext): Promise<void> {
  const [id] = context.words;
  if (id === undefined && context.flags.undo === true) needWord(context, 0, 'client to disconnect');
  if (id === undefined) return listAgents(context);
  const client = AGENTS.find((one) => one.id === id);
  if (client === undefined) throw unknownAgent(id);
  return context.flags.undo === true ? takeBack(context, client) : connect(context, client);
}

function listAgents(context: CommandContext): void {
  const { output } = context;
  const here = agentsHere(placeOf(context));
  if (output.json)
    return output.data(
      here.map(({ client: { id, label }, file, hasFile }) => ({ id, label, file, hasFile })),
    );
  if (here.length === 0)
    return output.note(`No agents were found here. There are: ${AGENTS.map(({ id }) => id).join(', ')}`);
  const rows = here.map(({ client, file }) => [client.id, client.label, output.color.dim(file)]);
  for (const line of textTable(rows, output)) output.line(line);
  output.note(`Connect one: turnbuckle setup ${here[0]?.client.id}`);
}

interface Target {
  readonly client: Client;
  readonly file: string;
  readonly before: string | undefined;
}

async function connect(context: CommandContext, client: Client): Promise<void> {
  const { output, flags } = context;
  const file = typeof flags.file === 'string' ? resolve(flags.file) : agentAt(client, placeOf(context)).file;
  const target: Target = { client, file, before: await currentText(file) };
  const isByAddress = flags.stdio !== true && takesAddresses(client);
  if (!isByAddress && flags.stdio !== true)
    output.note(`${client.label} takes servers by command only: it gets one, as with --stdio.`);
  const make = isByAddress
    ? await addressMaker(context)
    : () => byCommand({ id: client.id, view: viewOf(context), path: context.environment.PATH });
  await checkView(context);
  if (isByAddress) await tellReplaced(context, client);
  // Shown before a token is made: it would be hidden anyway.
  const preview = make('tbk_made-when-this-is-written');
  const after = write(context, target, preview);
  if (!(await confirmChange(context, { ...target, after }, [{ ...preview }])))
    return output.note('Nothing was written.');
  if ((await currentText(file)) !== target.before)
    throw new TurnbuckleError('CONFIG_INVALID', `${file} was changed in the meantime; it is left as it is.`, {
      hint: 'Run it again to see the difference to what it is now.',
    });
  // Before the token that works is replaced.
  const made = await checkWritable(file);
  const text = isByAddress ? write(context, target, make(await makeToken(context, client))) : after;
  if (!isByAddress) await needToken(context, client);
  await keep(context, target, { after: text, made });
  if (output.json) output.data({ client: client.id, file, type: preview.type });
  else output.line(`${client.label} is connected: ${file}`);
  if (isByAddress) await tellReaders(context, file);
  output.note(agentDecisions(await loadCommandConfig(context, { warn: false })));
  tellNext(context, client, isByAddress);
}

/** Throws unless the file can be written; makes it, and the directories above it: answers the uppermost of these. */
async function checkWritable(file: string): Promise<string | undefined> {
  let made: string | undefined;
  try {
    made = makeDirectory(dirname(file), 0o777);
    await (await open(file, 'a', 0o600)).close();
    return made;
  } catch (cause) {
    await removeMade({ file, made });
    const why = cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : '';
    throw new TurnbuckleError('CONFIG_INVALID', `${file} cannot be written${why}.`, {
      cause,
      hint: 'Nothing was changed. Write to another file: --file <file>',
    });
  }
}

/** An agent would find nothing under the address of a view that is not there. */
async function checkView(context: CommandContext): Promise<void> {
  const view = viewOf(context);
  if (view === undefined) return;
  const views = Object.keys((await loadCommandConfig(context)).settings.daemon?.views ?? {});
  if (views.includes(view)) return;
  const close = nearestWord(view, views);
  throw new TurnbuckleError('CONFIG_INVALID', `There is no view named "${view}".`, {
    hint:
      close === undefined
        ? 'Views are in daemon.views of your configuration.'
        : `Did you mean "${close}"? Views are in daemon.views of your configuration.`,
  });
}

async function tellReplaced(context: CommandContext, { id }: Client): Promise<void> {
  const store = await TokenStore.open({ stateDir: stateDirectoryOf(context) });
  if (store.list().some(({ name }) => name === id))
    context.output.note(
      `There is a token "${id}" already. It will be replaced; the old token stops working.`,
    );
}

async function tellReaders({ output }: CommandContext, file: string): Promise<void> {
  if (process.platform === 'win32' || ((await stat(file)).mode & 0o077) === 0) return;
  output.note(
    `${output.color.yellow('warning')} Others on this machine can read the token in it: chmod 600 ${shellWord(file)}`,
  );
}

async function addressMaker(context: CommandContext): Promise<(token: string) => ServerDraft> {
  const view = viewOf(context);
  const running = findDaemon(stateDirectoryOf(context))?.url;
  const { host = '127.0.0.1', port = DEFAULT_PORT } =
    (await loadCommandConfig(context)).settings.daemon ?? {};
  const url = running ?? reachable(`http://${host.includes(':') ? `[${host}]` : host}:${port}`);
  tellPort(context, new URL(url).port, port);
  return (token) => byAddress({ url, token, view });
}

/** An agent would lose the daemon as soon as it is started the usual way. */
function tellPort({ output }: CommandContext, current: string, configured: number): void {
  if (current === String(configured)) return;
  output.warn(
    `${output.color.yellow('warning')} The daemon runs at port ${current}, which is kept by turnbuckle serve restart only: turnbuckle serve start takes port ${configured}. To keep it, write "daemon": { "port": ${current} } into your configuration.`,
  );
}

const viewOf = ({ flags }: CommandContext): string | undefined =>
  typeof flags.view === 'string' ? flags.view : undefined;

/** The file's new text. */
function write({ output }: CommandContext, { client, file, before }: Target, config: ServerDraft): string {
  const result = writeClientConfig({ client: client.id, file }, before ?? '', [{ name: ENTRY_NAME, config }]);
  const [left] = result.skipped;
  if (result.text !== undefined && left === undefined) return result.text;
  for (const { note } of result.notes) output.note(output.color.dim(showLine(note, 200)));
  throw new TurnbuckleError('CONFIG_INVALID', `${file}: ${left?.reason ?? result.problems.join('; ')}`, {
    hint: 'Correct it there, or write to another file: --file <file>',
  });
}

/** The one from last time is replaced: nobody else has it. */
async function makeToken(context: CommandContext, { id }: Pick<Client, 'id'>): Promise<string> {
  const store = await TokenStore.open({ stateDir: stateDirectoryOf(context) });
  await store.revoke(id);
  const { token } = await store.create({ name: id, can: ['mcp_integration'], access: ['call'] });
  return token;
}

/** As a command it acts as the token of its name: nobody has to have it, and one that is there says what it may do. */
async function needToken(context: CommandContext, { id }: Client): Promise<void> {
  const store = await TokenStore.open({ stateDir: stateDirectoryOf(context) });
  if (store.named(id) === undefined) await makeToken(context, { id });
}

async function keep(
  context: CommandContext,
  { client, file, before }: Target,
  { after, made }: Pick<Change, 'after' | 'made'>,
): Promise<void> {
  // It may hold a token; one that is there keeps the rights it has.
  await writeFile(file, after, { mode: 0o600 });
  // Done twice, it is still the file from before the first time that is wanted back.
  const last = await rememberedChange(context, setupOf(client));
  const first = last?.file === file && last.after === before ? last : { before, made };
  await rememberChange(context, setupOf(client), { file, before: first.before, after, made: first.made });
}

async function takeBack(context: CommandContext, client: Client): Promise<void> {
  const { output } = context;
  const undone = await undoSetup(context, client);
  if (undone === undefined) return output.note('Nothing was written.');
  const store = await TokenStore.open({ stateDir: stateDirectoryOf(context) });
  await store.revoke(client.id);
  if (output.json) return output.data({ undone: undone.file });
  output.line(undone.what);
}

function tellNext(context: CommandContext, client: Client, isByAddress: boolean): void {
  const { output } = context;
  const isRunning = findDaemon(stateDirectoryOf(context)) !== undefined;
  const start = isByAddress && !isRunning ? 'Start the daemon: turnbuckle serve start. ' : '';
  output.note(`${start}Restart ${client.label}, or have it read its servers again.`);
  output.note(output.color.dim(`Take it back: turnbuckle setup ${client.id} --undo`));
}

function unknownAgent(id: string): TurnbuckleError {
  const known = AGENTS.map((one) => one.id);
  const close = nearestWord(id, known);
  return new TurnbuckleError('ARGUMENTS_INVALID', `There is no agent "${id}" to connect.`, {
    hint: close === undefined ? `There are: ${known.join(', ')}` : `Did you mean "${close}"?`,
  });
}
