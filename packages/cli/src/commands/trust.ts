import { createConfiguredRuntime, TurnbuckleError } from 'turnbuckle';
import {
  type ConfiguredServer,
  dangersOf,
  ERRORS,
  type TrustStore,
  toTurnbuckleError,
} from 'turnbuckle/host';
import type { CommandContext } from '../command.js';
import { configurationOptions, warnOfProblems } from '../session/command-runtime.js';
import { showFullLine, showLine, showMessage, showText } from '../terminal/untrusted-text.js';

export async function run(context: CommandContext): Promise<number | undefined> {
  const { output, positionals, flags } = context;
  const { config, trust, runtime } = await createConfiguredRuntime({
    ...configurationOptions(context),
    trustProject: false,
  });
  await runtime.close();
  warnOfProblems(context, config());
  const fromProject = [...config().servers.values()].filter(
    ({ origin }) => origin.scope === 'project' || origin.scope === 'local',
  );
  const wanted = fromProject.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
  const unknown = positionals.find((word) => !wanted.some(({ name }) => name === word));
  if (unknown !== undefined)
    throw new TurnbuckleError('SERVER_UNKNOWN', `The project has no server named "${unknown}".`, {
      server: unknown,
      hint: `Servers in the project: ${fromProject.map(({ name }) => showLine(name, 60)).join(', ') || 'none'}`,
    });
  if (flags.revoke === true) {
    const revoked = (await trust.withdraw(wanted)).map(({ name }) => name);
    if (output.json) output.data({ revoked });
    else
      for (const { name } of wanted)
        if (revoked.includes(name)) output.line(`${showLine(name, 60)} is no longer trusted`);
        else output.note(`${showLine(name, 60)} was not trusted.`);
    return undefined;
  }
  const open: ConfiguredServer[] = [];
  const refused = wanted.flatMap(rejectionOf);
  for (const server of wanted) {
    if (server.problem?.code !== 'TRUST_REQUIRED' && !(await hasChanged(server, trust))) continue;
    const unclear = await trust.namedFiles(server).then(() => undefined, toTurnbuckleError);
    if (unclear === undefined) open.push(server);
    else refused.push({ name: server.name, error: unclear });
  }
  for (const refusal of refused) printRejection(context, refusal);
  if (open.length === 0 && refused.length === 0)
    output.note(
      wanted.length === 0 ? 'The project has no servers.' : 'All servers in the project are already trusted.',
    );
  const agreed: ConfiguredServer[] = [];
  for (const server of open) if (await agree(context, server, trust)) agreed.push(server);
  await trust.agree(agreed);
  if (output.json)
    output.data({
      agreed: agreed.map(({ name }) => name),
      ...(refused.length > 0 && { refused: refused.map(({ name, error }) => ({ name, ...error.toJSON() })) }),
    });
  else for (const { name } of agreed) output.line(`Trusted ${showLine(name, 60)}`);
  const [first] = refused;
  return first && ERRORS[first.error.code].exit;
}

interface RejectedServer {
  readonly name: string;
  readonly error: TurnbuckleError;
}

/** A server that cannot be trusted, and why. Not one that keeps its previous configuration. */
const rejectionOf = ({ name, problem, kept }: ConfiguredServer): RejectedServer[] =>
  problem === undefined || problem.code === 'TRUST_REQUIRED' || kept ? [] : [{ name, error: problem }];

function printRejection({ output }: CommandContext, { name, error }: RejectedServer): void {
  const { color } = output;
  output.warn(`${color.red(`${showFullLine(name)} cannot be trusted`)}: ${showMessage(error.message)}`);
  if (error.hint !== undefined) output.warn(`      ${showMessage(error.hint)}`);
}

/** Shows exactly what is agreed to, nothing shortened, hidden characters made visible, and asks. */
async function agree(
  { output, flags }: CommandContext,
  server: ConfiguredServer,
  trust: TrustStore,
): Promise<boolean> {
  const { name, entry, origin } = server;
  output.note(`\n${output.color.bold(showFullLine(name))} from ${showFullLine(origin.file)}:${origin.line}`);
  output.note(showText(JSON.stringify(entry, null, 2)));
  for (const note of replacedEntries(server)) output.note(output.color.red(showFullLine(`! ${note}`)));
  const defaults = defaultsOf(server);
  if (defaults.length > 0) output.note("Default values of this server's inputs:");
  for (const [id, value] of defaults) output.note(showFullLine(`  ${id} = ${JSON.stringify(value)}`));
  const keys = await trust.changedKeys(server);
  if (keys !== undefined)
    output.note(
      output.color.red(
        `Changed since you trusted this server: ${showFullLine(keys.join(', ') || 'the entry')}`,
      ),
    );
  const files = Object.keys(await trust.namedFiles(server));
  const changed = (await trust.changedFiles(server)) ?? [];
  if (files.length > 0)
    output.note(
      'The server uses these project files. If one of them changes, you must trust the server again:',
    );
  for (const file of changed.filter((one) => !files.includes(one)))
    output.note(showFullLine(`  ${file}  (removed since you trusted the server)`));
  for (const file of files)
    output.note(
      showFullLine(`  ${file}${changed.includes(file) ? '  (changed since you trusted the server)' : ''}`),
    );
  for (const danger of dangersOf(entry)) output.note(output.color.red(showFullLine(`! ${danger}`)));
  if (flags.yes === true) return true;
  if (!output.interactive) {
    throw new TurnbuckleError(
      'TRUST_REQUIRED',
      `Cannot ask whether to trust server "${name}" because there is no terminal.`,
      {
        server: name,
        hint: 'Run the command in a terminal, or review the server and use --yes.',
      },
    );
  }
  const { askYesNo } = await import('../terminal/ask.js');
  return askYesNo(`Trust "${showFullLine(name)}" with exactly this configuration?`);
}

/** A guard of the user's own entry of that name, such as `requires`, is not one of the project's. */
const replacedEntries = ({ name, shadowed }: ConfiguredServer): string[] =>
  shadowed
    .filter(({ scope }) => scope !== 'project' && scope !== 'local')
    .map(
      ({ file, line }) =>
        `replaces your own server "${name}" (${file}:${line}): what limits that server, such as "requires" or "sandbox", does not apply to this one`,
    );

/** Used as it is, since its user wants no more than to be told. */
const hasChanged = async ({ problem, ...server }: ConfiguredServer, trust: TrustStore): Promise<boolean> =>
  problem === undefined && ((await trust.changedFiles({ ...server })) ?? []).length > 0;

/** What its file says that its inputs are: as much a part of the server as what is written in it. */
function defaultsOf({ entry, inputs }: ConfiguredServer): Array<[id: string, value: string]> {
  const json = JSON.stringify(entry);
  return inputs.flatMap(({ id, default: value }) => {
    const isUsed = json.includes(`\${input:${JSON.stringify(id).slice(1, -1)}`);
    return isUsed && value !== undefined ? [[id, value]] : [];
  });
}
