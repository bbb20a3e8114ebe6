import { existsSync } from 'node:fs';
import { TurnbuckleError } from 'turnbuckle';
import { editServers, type LoadedConfig, redactConfig } from 'turnbuckle/host';
import { shellQuote } from 'turnbuckle/light';
import type { CommandContext } from '../command.js';
import { parseKeyValuePairs, requirePositional } from '../command-line/positionals.js';
import { emptyCredentials } from '../session/checks/empty-credentials.js';
import { warnOfSecrets } from '../session/checks/warn-of-secrets.js';
import { loadCommandConfig } from '../session/command-runtime.js';
import { completeAddress } from '../session/complete-address.js';
import { fileOfFlag, fileOfScope } from '../session/config-file.js';
import { resolveEntryDirectory } from '../session/entry-directory.js';
import { createSelfReferenceCheck } from '../setup/self-reference.js';
import { findJsonError } from '../terminal/json-error.js';
import { showLine } from '../terminal/untrusted-text.js';

/** A name in a registry, with nothing behind it, is for the steward. */
export async function run(context: CommandContext): Promise<number | undefined> {
  const [name = '', ...more] = context.positionals;
  if (more.length > 0 || !isRegistryName(name)) return addEntry(context);
  refuseEntryOptions(context, name);
  return (await import('../steward/add-from-registry.js')).addFromRegistry(context, name);
}

/** As in a registry: `io.github.acme/files`. */
const isRegistryName = (word: string): boolean =>
  /^[a-z0-9][a-z0-9.-]*\/\w[\w.-]*$/i.test(word) && !existsSync(word);

/** The record of the registry has what these are for. */
function refuseEntryOptions({ flags, command }: CommandContext, name: string): void {
  const used = Object.keys(command.options).find((option) => flags[option] !== undefined);
  if (used === undefined) return;
  throw invalid(`--${used} cannot be used when adding a server from a registry ("${name}").`, {
    hint: `Remove --${used}, or specify the server's command or URL.`,
  });
}

async function addEntry(context: CommandContext): Promise<undefined> {
  const { output, flags, positionals } = context;
  const name = requirePositional(context, 0, 'server name');
  const typed = toEntry(positionals.slice(1), context);
  const config = await loadCommandConfig(context);
  const file = fileOfFlag(context, config) ?? fileOfScope('user', config);
  await checkEntry(name, typed);
  const isProject = flags.scope === 'project' || flags.scope === 'local';
  const { entry, notice } = resolveEntryDirectory(typed, file, isProject);
  const itself = createSelfReferenceCheck(context, config)(entry);
  const warnings =
    itself === undefined ? [] : [`Server "${name}" points back to Turnbuckle because ${itself}.`];
  for (const warning of [...warnings, ...emptyCredentials(entry)])
    output.warn(`${output.color.yellow('warning')} ${showLine(warning, 300)}`);
  warnOfSecrets(output, { name, config: entry, action: 'written' });
  await editServers(file, [{ action: flags.force === true ? 'set' : 'add', name, config: entry }]).catch(
    (error: unknown) => {
      throw withForceHint(error);
    },
  );
  if (output.json) output.data({ added: name, file, config: redactConfig(entry) });
  else output.line(`Added ${output.color.bold(name)} to ${file}`);
  if (notice !== undefined) output.note(showLine(notice, 1_000));
  output.note(output.color.dim(nextStep(context, name, config)));
}

function nextStep({ flags }: CommandContext, name: string, { servers }: LoadedConfig): string {
  const scope = flags.scope ?? 'user';
  const other = servers.get(name)?.origin;
  if (scope === 'user' && other !== undefined && other.scope !== 'user')
    return `The new server is not used in this directory, because ${other.file} defines a server with the same name and takes precedence.`;
  // Every user of the project has to trust it, its author included.
  const word = shellQuote(name);
  return scope === 'user' ? `Try it: turnbuckle tools ${word}` : `Trust it: turnbuckle trust ${word}`;
}

function toEntry(
  words: readonly string[],
  { flags, passthroughIndex = Number.POSITIVE_INFINITY }: CommandContext,
): Record<string, unknown> {
  const [first, ...rest] = words;
  if (first === undefined) throw invalid('Missing command or URL.');
  const env = parseKeyValuePairs((flags.env as readonly string[] | undefined) ?? []);
  const headers = readHeaders((flags.header as readonly string[] | undefined) ?? []);
  const json = first.trimStart().startsWith('{') ? readJson(first) : undefined;
  const extras = {
    ...(Object.keys(env).length > 0 && { env: { ...asRecord(json?.env), ...env } }),
    ...(Object.keys(headers).length > 0 && { headers: { ...asRecord(json?.headers), ...headers } }),
  };
  const isAddress = /^(https?|wss?):\/\//i.test(first);
  if ((json !== undefined || isAddress) && rest[0] !== undefined)
    throw invalid(`Unexpected argument "${rest[0]}".`);
  if (json !== undefined) return { ...json, ...extras };
  const type = typeof flags.transport === 'string' ? { type: flags.transport } : {};
  if (isAddress) return { ...type, url: first, ...extras };
  checkCommand(first, rest);
  // Behind `--` it is a command, whatever it looks like.
  if (passthroughIndex > 1) refuseAddress(first, rest);
  return { ...type, command: first, ...(rest.length > 0 && { args: rest }), ...extras };
}

/** Common mistakes that would otherwise fail as unknown commands. */
function checkCommand(command: string, args: readonly string[]): void {
  if (/^[a-z][\w+.-]*:\/\//i.test(command))
    throw invalid(`"${command}" is not a server URL.`, {
      hint: 'A URL starts with https://, http://, wss:// or ws://.',
    });
  if (args.length === 0 && /\s/.test(command.trim()) && !existsSync(command))
    throw invalid(`"${command}" is quoted as one word, and no program has that name.`, {
      hint: `Remove the quotes: turnbuckle add <name> -- ${command}`,
    });
}

/** What lacks only the beginning of an address. */
function refuseAddress(word: string, more: readonly string[]): void {
  const address = more.length === 0 && !existsSync(word) ? completeAddress(word) : undefined;
  if (address === undefined) return;
  throw invalid(`"${word}" looks like a URL without a scheme.`, {
    hint: `For a URL, include the scheme (turnbuckle add <name> ${address}). For a program: turnbuckle add <name> -- ${word}`,
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
    hint: 'Choose another name, or replace the existing server with --force.',
  });
}

function readHeaders(lines: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    lines.map((line) => {
      const cut = line.indexOf(':');
      if (cut <= 0) throw invalid(`Invalid header "${line}": expected "Name: value".`);
      return [line.slice(0, cut).trim(), line.slice(cut + 1).trim()];
    }),
  );
}

function readJson(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch (cause) {
    const where = findJsonError(text);
    throw invalid(`Invalid server JSON${where === undefined ? '' : ` at ${where}`}.`, { cause });
  }
}

const asRecord = (value: unknown): object => (typeof value === 'object' && value !== null ? value : {});

const invalid = (message: string, more: { cause?: unknown; hint?: string } = {}): TurnbuckleError =>
  new TurnbuckleError('ARGUMENTS_INVALID', message, {
    hint: 'Show the usage: turnbuckle add --help',
    ...more,
  });
