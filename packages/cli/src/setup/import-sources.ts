/** What an import finds in the files of other tools, and what of it is left where it is. */
import { realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, relative, resolve } from 'node:path';
import { readFileText, TurnbuckleError, whyUnreadable } from 'turnbuckle';
import type { CommandContext } from './command.js';
import { placeOf } from './daemon/agent-clients.js';
import type { LeadsHere } from './daemon/leads-here.js';
import type { ImportedServer } from './imports/imported-server.js';
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
} from './imports/index.js';
import { MAX_FILE_BYTES } from './imports/parse-text.js';
import { unknownClient } from './unknown-client.js';
import { showLine } from './untrusted-text.js';

export interface Found {
  readonly servers: readonly MergedServer[];
  /** Left where they are, each with the reason. */
  readonly left: readonly { readonly server: MergedServer; readonly reason: string }[];
  readonly inputs: readonly ImportedInput[];
}

export interface Destination {
  /** The file that would be written. */
  readonly file: string;
  readonly leadsHere: LeadsHere;
}

export async function findServers(context: CommandContext, destination: Destination): Promise<Found> {
  const { flags } = context;
  const results =
    typeof flags.from === 'string' ? [await readFrom(resolve(flags.from), context)] : readFound(context);
  const left: Array<Found['left'][number]> = [];
  // Sorted out before they are put together: what is not taken must not stand before one that is.
  const sources = results.map(({ client, path, servers }): ImportSource => {
    const taken = servers.filter((server) => {
      const reason = whyNot(server, context, destination);
      if (reason !== undefined)
        left.push({ server: { ...server, from: { client, path }, shadowed: [] }, reason });
      return reason === undefined;
    });
    return { client, path, servers: taken };
  });
  return { servers: mergeImports(sources), left, inputs: results.flatMap(({ inputs }) => inputs) };
}

type Source = ImportSource & Pick<ImportResult, 'inputs'>;

function readFound(context: CommandContext): Source[] {
  const { words, output } = context;
  const unknown = words.find((word) => !CLIENTS.some(({ id }) => id === word));
  if (unknown !== undefined) throw unknownClient(unknown, 'import from');
  const files = discover(placeOf(context)).filter(
    ({ client }) => words.length === 0 || words.includes(client),
  );
  return files.map((file) => {
    const result = readDiscovered(file);
    tellFaults(output, result, { path: file.path, of: ` of ${file.client}` });
    return { client: file.client, path: file.path, servers: result.servers, inputs: result.inputs };
  });
}

async function readFrom(path: string, { output }: CommandContext): Promise<Source> {
  const text = await readFileText(path, { maxBytes: MAX_FILE_BYTES }).catch((cause: unknown) => {
    throw new TurnbuckleError('CONFIG_INVALID', `${path} cannot be used: ${whyUnreadable(cause)}.`, {
      cause,
      hint: 'Name a file that is there: --from <file>',
    });
  });
  const result = readUnknownConfig(text, { file: path });
  const { servers, skipped, problems } = result;
  if (servers.length + skipped.length === 0)
    throw new TurnbuckleError(
      'CONFIG_INVALID',
      problems.length === 0
        ? `There are no servers in ${path}.`
        : `${path} cannot be used: ${showLine(problems.join('; '), 300)}.`,
      { hint: 'Name a file with servers in it, such as { "mcpServers": { … } }. Nothing was written.' },
    );
  tellFaults(output, result, { path, of: '' });
  return { client: basename(path), path, servers: result.servers, inputs: result.inputs };
}

function tellFaults(
  output: CommandContext['output'],
  { problems, skipped }: ImportResult,
  { path, of }: { readonly path: string; readonly of: string },
): void {
  for (const problem of problems)
    output.warn(`${output.color.yellow('warning')} ${path}: ${showLine(problem, 200)}`);
  for (const { name, reason } of skipped)
    output.note(output.color.dim(`skipped ${showLine(name, 60)}${of}: ${showLine(reason, 200)}`));
}

/**
 * A project's servers stay the project's: in the user's own file they would start everywhere, without having been
 * agreed to. What somebody refused in another tool is not taken over at all, nor is this program itself.
 */
function whyNot(
  { config, trust, scope, project }: ImportedServer,
  { flags }: CommandContext,
  { file, leadsHere }: Destination,
): string | undefined {
  const own = leadsHere(config);
  if (own !== undefined) return `skipped: ${own}`;
  if (trust === 'rejected') return 'refused in that tool';
  if (trust !== 'ask' && scope !== 'project' && scope !== 'local') return undefined;
  if (project !== undefined && !isWithin(process.cwd(), project))
    return `of the project ${showLine(project, 120)} alone; take it over there, with --scope local`;
  if (flags.scope !== 'project' && flags.scope !== 'local')
    return "a project's; take it over with --scope local, then turnbuckle trust";
  // A file above the project would hold for its neighbours too.
  if (project !== undefined && !isWithin(dirname(file), project))
    return `of the project ${showLine(project, 120)} alone, and ${file} holds for more`;
  return undefined;
}

function isWithin(path: string, folder: string): boolean {
  const inside = relative(real(folder), real(path));
  return !inside.startsWith('..') && !isAbsolute(inside);
}

/** Links followed as far as the path is there. */
function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const above = dirname(path);
    return above === path ? path : resolve(real(above), basename(path));
  }
}
