import { open, stat, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { DEFAULT_PORT, TokenStore } from '@turnbuckle/gateway';
import { TurnbuckleError } from 'turnbuckle';
import { makeDirectory } from 'turnbuckle/host';
import { shellQuote } from 'turnbuckle/light';
import type { CommandContext } from '../command.js';
import { nearestWord } from '../command-line/nearest-word.js';
import { requirePositional } from '../command-line/positionals.js';
import { findDaemon, toReachableUrl } from '../daemon/find-daemon.js';
import type { Client } from '../imports/client.js';
import { type ServerDraft, writeClientConfig } from '../imports/index.js';
import { describeAgentPolicy } from '../serve/agent-policy.js';
import { loadCommandConfig } from '../session/command-runtime.js';
import { stateDirectoryOf } from '../session/state-directory.js';
import { AGENT_CLIENTS, currentMachine, detectAgent, detectAgents } from '../setup/agent-clients.js';
import { ENTRY_NAME, httpEntry, stdioEntry, supportsHttp } from '../setup/agent-entry.js';
import { setupUndoKey, undoSetup } from '../setup/undo-setup.js';
import { textTable } from '../terminal/text-table.js';
import { showLine } from '../terminal/untrusted-text.js';
import { confirmChange } from '../undo/confirm-change.js';
import {
  type Change,
  lastChange,
  readCurrentText,
  rememberChange,
  removeCreatedDirectories,
} from '../undo/undo.js';

export async function run(context: CommandContext): Promise<void> {
  const [id] = context.positionals;
  if (id === undefined && context.flags.undo === true) requirePositional(context, 0, 'client');
  if (id === undefined) return listAgents(context);
  const client = AGENT_CLIENTS.find((one) => one.id === id);
  if (client === undefined) throw unknownAgent(id);
  return context.flags.undo === true ? disconnect(context, client) : connect(context, client);
}

function listAgents(context: CommandContext): void {
  const { output } = context;
  const here = detectAgents(currentMachine(context));
  if (output.json)
    return output.data(
      here.map(({ client: { id, label }, file, hasFile }) => ({ id, label, file, hasFile })),
    );
  if (here.length === 0)
    return output.note(
      `No agents found. Supported agents: ${AGENT_CLIENTS.map(({ id }) => id).join(', ')}.\nConnect an agent that was not found: turnbuckle setup <agent>\nConnect any other program with a token: turnbuckle token create <name>`,
    );
  const rows = here.map(({ client, file }) => [client.id, client.label, output.color.dim(file)]);
  for (const line of textTable(rows, output)) output.line(line);
  output.note(`Connect an agent: turnbuckle setup ${here[0]?.client.id}`);
}

interface Target {
  readonly client: Client;
  readonly file: string;
  readonly before: string | undefined;
}

async function connect(context: CommandContext, client: Client): Promise<void> {
  const { output, flags } = context;
  const file =
    typeof flags.file === 'string' ? resolve(flags.file) : detectAgent(client, currentMachine(context)).file;
  const target: Target = { client, file, before: await readCurrentText(file) };
  const isByAddress = flags.stdio !== true && supportsHttp(client);
  if (!isByAddress && flags.stdio !== true)
    output.note(`${client.label} supports only local commands; using --stdio.`);
  const make = isByAddress
    ? await createHttpEntryMaker(context)
    : () => stdioEntry({ id: client.id, view: viewOf(context), path: context.environment.PATH });
  await checkView(context);
  if (isByAddress) await noteReplacedToken(context, client);
  // Shown before a token is made: it would be hidden anyway.
  const preview = make('tbk_made-when-this-is-written');
  const after = renderFile(context, target, preview);
  if (!(await confirmChange(context, { ...target, after }, [{ ...preview }])))
    return output.note('Nothing was written.');
  if ((await readCurrentText(file)) !== target.before)
    throw new TurnbuckleError('CONFIG_INVALID', `${file} changed in the meantime and was not overwritten.`, {
      hint: 'Run the command again to see the current diff.',
    });
  // Before the token that works is replaced.
  const made = await checkWritable(file);
  const text = isByAddress ? renderFile(context, target, make(await makeToken(context, client))) : after;
  if (!isByAddress) await ensureToken(context, client);
  await writeAndRemember(context, target, { after: text, made });
  if (output.json) output.data({ client: client.id, file, type: preview.type });
  else output.line(`${client.label} is set up: ${file}`);
  if (isByAddress) await warnOfReadableToken(context, file);
  output.note(describeAgentPolicy(await loadCommandConfig(context, { warn: false })));
  printNextSteps(context, client, isByAddress);
}

/** Throws unless the file can be written; makes it, and the directories above it: answers the uppermost of these. */
async function checkWritable(file: string): Promise<string | undefined> {
  let made: string | undefined;
  try {
    made = makeDirectory(dirname(file), 0o777);
    await (await open(file, 'a', 0o600)).close();
    return made;
  } catch (cause) {
    await removeCreatedDirectories({ file, made });
    const why = cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : '';
    throw new TurnbuckleError('CONFIG_INVALID', `${file} cannot be written${why}.`, {
      cause,
      hint: 'Nothing was changed. Write to another file with --file <file>.',
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
        ? 'Views are defined under daemon.views in your configuration.'
        : `Did you mean "${close}"? Views are defined under daemon.views in your configuration.`,
  });
}

async function noteReplacedToken(context: CommandContext, { id }: Client): Promise<void> {
  const store = await TokenStore.open({ stateDir: stateDirectoryOf(context) });
  if (store.list().some(({ name }) => name === id))
    context.output.note(`Token "${id}" already exists. It will be replaced and stop working.`);
}

async function warnOfReadableToken({ output }: CommandContext, file: string): Promise<void> {
  if (process.platform === 'win32' || ((await stat(file)).mode & 0o077) === 0) return;
  output.note(
    `${output.color.yellow('warning')} Other users can read the token in this file. Run: chmod 600 ${shellQuote(file)}`,
  );
}

async function createHttpEntryMaker(context: CommandContext): Promise<(token: string) => ServerDraft> {
  const view = viewOf(context);
  const running = findDaemon(stateDirectoryOf(context))?.url;
  const { host = '127.0.0.1', port = DEFAULT_PORT } =
    (await loadCommandConfig(context)).settings.daemon ?? {};
  const url = running ?? toReachableUrl(`http://${host.includes(':') ? `[${host}]` : host}:${port}`);
  warnOfPort(context, new URL(url).port, port);
  return (token) => httpEntry({ url, token, view });
}

/** An agent would lose the daemon as soon as it is started the usual way. */
function warnOfPort({ output }: CommandContext, current: string, configured: number): void {
  if (current === String(configured)) return;
  output.warn(
    `${output.color.yellow('warning')} The daemon is running on port ${current}, but "turnbuckle serve start" uses port ${configured}. To keep port ${current}, add "daemon": { "port": ${current} } to your configuration.`,
  );
}

const viewOf = ({ flags }: CommandContext): string | undefined =>
  typeof flags.view === 'string' ? flags.view : undefined;

/** The file's new text. */
function renderFile(
  { output }: CommandContext,
  { client, file, before }: Target,
  config: ServerDraft,
): string {
  const result = writeClientConfig({ client: client.id, file }, before ?? '', [{ name: ENTRY_NAME, config }]);
  const [left] = result.skipped;
  if (result.text !== undefined && left === undefined) return result.text;
  for (const { note } of result.notes) output.note(output.color.dim(showLine(note, 200)));
  throw new TurnbuckleError('CONFIG_INVALID', `${file}: ${left?.reason ?? result.problems.join('; ')}`, {
    hint: 'Fix the file, or write to another file with --file <file>.',
  });
}

/** Replaces the token of the previous setup: no one else has it. */
async function makeToken(context: CommandContext, { id }: Pick<Client, 'id'>): Promise<string> {
  const store = await TokenStore.open({ stateDir: stateDirectoryOf(context) });
  await store.revoke(id);
  const { token } = await store.create({ name: id, can: ['mcp_integration'], access: ['call'] });
  return token;
}

/** As a command it acts as the token of its name: nobody has to have it, and one that is there says what it may do. */
async function ensureToken(context: CommandContext, { id }: Client): Promise<void> {
  const store = await TokenStore.open({ stateDir: stateDirectoryOf(context) });
  if (store.findByName(id) === undefined) await makeToken(context, { id });
}

async function writeAndRemember(
  context: CommandContext,
  { client, file, before }: Target,
  { after, made }: Pick<Change, 'after' | 'made'>,
): Promise<void> {
  // It may hold a token; one that is there keeps the rights it has.
  await writeFile(file, after, { mode: 0o600 });
  // Done twice, it is still the file from before the first time that is wanted back.
  const last = await lastChange(context, setupUndoKey(client));
  const first = last?.file === file && last.after === before ? last : { before, made };
  await rememberChange(context, setupUndoKey(client), {
    file,
    before: first.before,
    after,
    made: first.made,
  });
}

async function disconnect(context: CommandContext, client: Client): Promise<void> {
  const { output } = context;
  const undone = await undoSetup(context, client);
  if (undone === undefined) return output.note('Nothing was written.');
  const store = await TokenStore.open({ stateDir: stateDirectoryOf(context) });
  await store.revoke(client.id);
  if (output.json) return output.data({ undone: undone.file });
  output.line(undone.what);
}

function printNextSteps(context: CommandContext, client: Client, isByAddress: boolean): void {
  const { output } = context;
  const isRunning = findDaemon(stateDirectoryOf(context)) !== undefined;
  const start = isByAddress && !isRunning ? 'Start the daemon: turnbuckle serve start\n' : '';
  output.note(`${start}Restart ${client.label}, or reload its servers.`);
  output.note(output.color.dim(`Undo: turnbuckle setup ${client.id} --undo`));
}

function unknownAgent(id: string): TurnbuckleError {
  const known = AGENT_CLIENTS.map((one) => one.id);
  const close = nearestWord(id, known);
  return new TurnbuckleError('ARGUMENTS_INVALID', `Unknown client "${id}".`, {
    hint: close === undefined ? `Available clients: ${known.join(', ')}` : `Did you mean "${close}"?`,
  });
}
