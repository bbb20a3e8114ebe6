import { existsSync } from 'node:fs';
import { editServers, type LoadedConfig, redactConfig, TurnbuckleError } from 'turnbuckle';
import type { CommandContext } from '../command.js';
import { fileOfFlag, fileOfScope } from '../config-file.js';
import { createLeadsHere } from '../daemon/leads-here.js';
import { emptyCredentials } from '../empty-credentials.js';
import { jsonFault } from '../json-fault.js';
import { misreadAddress } from '../misread-address.js';
import { loadCommandConfig } from '../open.js';
import { placeEntry } from '../placed-entry.js';
import { shellWord } from '../shell-word.js';
import { showLine } from '../untrusted-text.js';
import { warnOfSecrets } from '../warn-of-secrets.js';
import { needWord, readPairs } from '../words.js';

export async function run(context: CommandContext): Promise<void> {
  const { output, flags, words } = context;
  const name = needWord(context, 0, 'name of the server');
  const typed = toEntry(words.slice(1), context);
  const config = await loadCommandConfig(context);
  const file = fileOfFlag(context, config) ?? fileOfScope('user', config);
  await checkEntry(name, typed);
  const isProject = flags.scope === 'project' || flags.scope === 'local';
  const { entry, told } = placeEntry(typed, file, isProject);
  const itself = createLeadsHere(context, config)(entry);
  const warnings = itself === undefined ? [] : [`${name} is no other server: ${itself}.`];
  for (const warning of [...warnings, ...emptyCredentials(entry)])
    output.warn(`${output.color.yellow('warning')} ${showLine(warning, 300)}`);
  warnOfSecrets(output, { name, config: entry, done: 'written' });
  await editServers(file, [{ action: flags.force === true ? 'set' : 'add', name, config: entry }]).catch(
    (error: unknown) => {
      throw withForceHint(error);
    },
  );
  if (output.json) output.data({ added: name, file, config: redactConfig(entry) });
  else output.line(`Added ${output.color.bold(name)} to ${file}`);
  if (told !== undefined) output.note(showLine(told, 1_000));
  output.note(output.color.dim(nextStep(context, name, config)));
}

function nextStep({ flags }: CommandContext, name: string, { servers }: LoadedConfig): string {
  const scope = flags.scope ?? 'user';
  const other = servers.get(name)?.origin;
  if (scope === 'user' && other !== undefined && other.scope !== 'user')
    return `Not in effect here: ${other.file} has a server of that name, which stands above yours.`;
  // Whoever opens the project later is asked, and so is its author, who sees what the others will see.
  const word = shellWord(name);
  return scope === 'user' ? `Try it: turnbuckle tools ${word}` : `Agree to it: turnbuckle trust ${word}`;
}

function toEntry(
  words: readonly string[],
  { flags, foreignFrom = Number.POSITIVE_INFINITY }: CommandContext,
): Record<string, unknown> {
  const [first, ...rest] = words;
  if (first === undefined) throw invalid('What to run or contact is missing.');
  const env = readPairs((flags.env as readonly string[] | undefined) ?? []);
  const headers = readHeaders((flags.header as readonly string[] | undefined) ?? []);
  const json = first.trimStart().startsWith('{') ? readJson(first) : undefined;
  const extras = {
    ...(Object.keys(env).length > 0 && { env: { ...asRecord(json?.env), ...env } }),
    ...(Object.keys(headers).length > 0 && { headers: { ...asRecord(json?.headers), ...headers } }),
  };
  const isAddress = /^(https?|wss?):\/\//i.test(first);
  if ((json !== undefined || isAddress) && rest[0] !== undefined)
    throw invalid(`"${rest[0]}" is one word too many.`);
  if (json !== undefined) return { ...json, ...extras };
  const type = typeof flags.transport === 'string' ? { type: flags.transport } : {};
  if (isAddress) return { ...type, url: first, ...extras };
  checkCommand(first, rest);
  // Behind `--` it is a command, whatever it looks like.
  if (foreignFrom > 1) refuseAddress(first, rest);
  return { ...type, command: first, ...(rest.length > 0 && { args: rest }), ...extras };
}

/** What is easily mistyped, and would only be told as a program that is not there. */
function checkCommand(command: string, args: readonly string[]): void {
  if (/^[a-z][\w+.-]*:\/\//i.test(command))
    throw invalid(`"${command}" is not an address of a server.`, {
      hint: 'An address begins with https://, http://, wss:// or ws://.',
    });
  if (args.length === 0 && /\s/.test(command.trim()) && !existsSync(command))
    throw invalid(`"${command}" is one word, and there is no program of that name.`, {
      hint: `Leave the quotes out: turnbuckle add <name> -- ${command}`,
    });
}

/** What lacks only the beginning of an address. */
function refuseAddress(word: string, more: readonly string[]): void {
  const address = more.length === 0 && !existsSync(word) ? misreadAddress(word) : undefined;
  if (address === undefined) return;
  throw invalid(`"${word}" looks like an address, and lacks what an address begins with.`, {
    hint: `Write it in full: turnbuckle add <name> ${address}. If it is a program: turnbuckle add <name> -- ${word}`,
  });
}

/** The same check that a runtime makes, before anything is written. */
async function checkEntry(name: string, entry: Record<string, unknown>): Promise<void> {
  const { createRuntime } = await import('turnbuckle');
  const runtime = await createRuntime({ servers: { [name]: entry } as never });
  const { error } = runtime.serverStatus(name);
  await runtime.close();
  if (error !== undefined) throw error;
}

function withForceHint(error: unknown): unknown {
  if (!(error instanceof TurnbuckleError) || error.code !== 'NAME_TAKEN') return error;
  const { code, message, server, data } = error;
  return new TurnbuckleError(code, message, {
    server,
    data,
    hint: 'Choose another name, or replace it: --force',
  });
}

function readHeaders(lines: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    lines.map((line) => {
      const cut = line.indexOf(':');
      if (cut <= 0) throw invalid(`The header "${line}" is not of the form "Name: value".`);
      return [line.slice(0, cut).trim(), line.slice(cut + 1).trim()];
    }),
  );
}

function readJson(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch (cause) {
    const where = jsonFault(text) ?? 'it is not JSON';
    throw invalid(`The JSON of the server cannot be read: ${where}.`, { cause });
  }
}

const asRecord = (value: unknown): object => (typeof value === 'object' && value !== null ? value : {});

const invalid = (message: string, more: { cause?: unknown; hint?: string } = {}): TurnbuckleError =>
  new TurnbuckleError('ARGUMENTS_INVALID', message, {
    hint: 'turnbuckle add --help shows how to write it.',
    ...more,
  });
