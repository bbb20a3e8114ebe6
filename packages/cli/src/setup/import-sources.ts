/** What an import finds in the files of other tools, and what of it is left where it is. */
import { realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, relative, resolve } from 'node:path';
import { TurnbuckleError } from 'turnbuckle';
import { readFileText, whyUnreadable } from 'turnbuckle/host';
import type { CommandContext } from '../command.js';
import type { ImportedServer } from '../imports/entries/imported-server.js';
import { MAX_FILE_BYTES } from '../imports/formats/parse-text.js';
import {
  CLIENTS,
  discover,
  type ImportedInput,
  type ImportResult,
  type ImportSource,
  type MergedServer,
  mergeImports,
  readDiscovered,
  readUnknownConfig,
} from '../imports/index.js';
import { unknownClient } from '../imports/unknown-client.js';
import { showLine } from '../terminal/untrusted-text.js';
import { currentMachine } from './agent-clients.js';
import type { SelfReferenceCheck } from './self-reference.js';

export interface FoundServers {
  readonly servers: readonly MergedServer[];
  /** Left where they are, each with the reason. */
  readonly skipped: readonly { readonly server: MergedServer; readonly reason: string }[];
  readonly inputs: readonly ImportedInput[];
}

export interface Destination {
  /** The file that would be written. */
  readonly file: string;
  readonly checkSelfReference: SelfReferenceCheck;
}

export async function findServers(context: CommandContext, destination: Destination): Promise<FoundServers> {
  const { flags } = context;
  const results =
    typeof flags.from === 'string'
      ? [await readNamedFile(resolve(flags.from), context)]
      : readDiscoveredFiles(context);
  const skipped: Array<FoundServers['skipped'][number]> = [];
  // Sorted out before they are put together: what is not taken must not stand before one that is.
  const sources = results.map(({ client, path, servers }): ImportSource => {
    const taken = servers.filter((server) => {
      const reason = skipReason(server, context, destination);
      if (reason !== undefined)
        skipped.push({ server: { ...server, from: { client, path }, shadowed: [] }, reason });
      return reason === undefined;
    });
    return { client, path, servers: taken };
  });
  return { servers: mergeImports(sources), skipped, inputs: results.flatMap(({ inputs }) => inputs) };
}

type Source = ImportSource & Pick<ImportResult, 'inputs'>;

function readDiscoveredFiles(context: CommandContext): Source[] {
  const { positionals, output } = context;
  const unknown = positionals.find((word) => !CLIENTS.some(({ id }) => id === word));
  if (unknown !== undefined) throw unknownClient(unknown);
  const files = discover(currentMachine(context)).filter(
    ({ client }) => positionals.length === 0 || positionals.includes(client),
  );
  return files.map((file) => {
    const result = readDiscovered(file);
    reportProblems(output, result, { path: file.path, from: ` from ${file.client}` });
    return { client: file.client, path: file.path, servers: result.servers, inputs: result.inputs };
  });
}

async function readNamedFile(path: string, { output }: CommandContext): Promise<Source> {
  const text = await readFileText(path, { maxBytes: MAX_FILE_BYTES }).catch((cause: unknown) => {
    throw new TurnbuckleError('CONFIG_INVALID', `${path} cannot be used: ${whyUnreadable(cause)}.`, {
      cause,
      hint: 'Specify an existing file: --from <file>',
    });
  });
  const result = readUnknownConfig(text, { file: path });
  const { servers, skipped, problems } = result;
  if (servers.length + skipped.length === 0)
    throw new TurnbuckleError(
      'CONFIG_INVALID',
      problems.length === 0
        ? `No servers in ${path}.`
        : `${path} cannot be used: ${showLine(problems.join('; '), 300)}.`,
      { hint: 'Specify a file that contains servers, such as { "mcpServers": { … } }. Nothing was written.' },
    );
  reportProblems(output, result, { path, from: '' });
  return { client: basename(path), path, servers: result.servers, inputs: result.inputs };
}

function reportProblems(
  output: CommandContext['output'],
  { problems, skipped }: ImportResult,
  { path, from }: { readonly path: string; readonly from: string },
): void {
  for (const problem of problems)
    output.warn(`${output.color.yellow('warning')} ${path}: ${showLine(problem, 200)}`);
  for (const { name, reason } of skipped)
    output.note(output.color.dim(`skipped ${showLine(name, 60)}${from}: ${showLine(reason, 200)}`));
}

/**
 * A project's servers stay the project's: in the user's own file they would start everywhere, without having been
 * agreed to. What somebody refused in another tool is not taken over at all, nor is this program itself.
 */
function skipReason(
  { config, trust, scope, project }: ImportedServer,
  { flags }: CommandContext,
  { file, checkSelfReference }: Destination,
): string | undefined {
  const own = checkSelfReference(config);
  if (own !== undefined) return `skipped because ${own}`;
  if (trust === 'rejected') return 'skipped because it was rejected in that client';
  if (trust !== 'ask' && scope !== 'project' && scope !== 'local') return undefined;
  if (project !== undefined && !isWithin(process.cwd(), project))
    return `skipped because it belongs only to the project ${showLine(project, 120)}; import it there with --scope local`;
  if (flags.scope !== 'project' && flags.scope !== 'local')
    return 'skipped because it belongs to a project; import it with --scope local, then run turnbuckle trust';
  // A file above the project would hold for its neighbours too.
  if (project !== undefined && !isWithin(dirname(file), project))
    return `skipped because it belongs only to the project ${showLine(project, 120)}, but ${file} applies to other projects too`;
  return undefined;
}

function isWithin(path: string, folder: string): boolean {
  const inside = relative(resolveLinks(folder), resolveLinks(path));
  return !inside.startsWith('..') && !isAbsolute(inside);
}

/** Links followed as far as the path is there. */
function resolveLinks(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const above = dirname(path);
    return above === path ? path : resolve(resolveLinks(above), basename(path));
  }
}
