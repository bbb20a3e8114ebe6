import {
  type ConfiguredServer,
  createConfiguredRuntime,
  dangersOf,
  ERRORS,
  type TrustStore,
  TurnbuckleError,
  toTurnbuckleError,
} from 'turnbuckle';
import type { CommandContext } from '../command.js';
import { configurationOptions, warnOfProblems } from '../open.js';
import { showLine, showMessage, showText, showWhole } from '../untrusted-text.js';

export async function run(context: CommandContext): Promise<number | undefined> {
  const { output, words, flags } = context;
  const { config, trust, runtime } = await createConfiguredRuntime({
    ...configurationOptions(context),
    trustProject: false,
  });
  await runtime.close();
  warnOfProblems(context, config());
  const fromProject = [...config().servers.values()].filter(
    ({ origin }) => origin.scope === 'project' || origin.scope === 'local',
  );
  const wanted = fromProject.filter(({ name }) => words.length === 0 || words.includes(name));
  const unknown = words.find((word) => !wanted.some(({ name }) => name === word));
  if (unknown !== undefined)
    throw new TurnbuckleError('SERVER_UNKNOWN', `The project has no server named "${unknown}".`, {
      server: unknown,
      hint: `It has: ${fromProject.map(({ name }) => showLine(name, 60)).join(', ') || 'none'}`,
    });
  if (flags.revoke === true) {
    const revoked = (await trust.withdraw(wanted)).map(({ name }) => name);
    if (output.json) output.data({ revoked });
    else
      for (const { name } of wanted)
        if (revoked.includes(name)) output.line(`The agreement to ${showLine(name, 60)} is taken back`);
        else output.note(`There is no agreement to ${showLine(name, 60)}.`);
    return undefined;
  }
  const open: ConfiguredServer[] = [];
  const refused = wanted.flatMap(refusalOf);
  for (const server of wanted) {
    if (server.problem?.code !== 'TRUST_REQUIRED' && !(await hasChanged(server, trust))) continue;
    const unclear = await trust.namedFiles(server).then(() => undefined, toTurnbuckleError);
    if (unclear === undefined) open.push(server);
    else refused.push({ name: server.name, error: unclear });
  }
  for (const refusal of refused) tell(context, refusal);
  if (open.length === 0 && refused.length === 0)
    output.note(
      wanted.length === 0 ? 'The project brings no servers along.' : 'There is nothing left to agree to.',
    );
  const agreed: ConfiguredServer[] = [];
  for (const server of open) if (await agree(context, server, trust)) agreed.push(server);
  await trust.agree(agreed);
  if (output.json)
    output.data({
      agreed: agreed.map(({ name }) => name),
      ...(refused.length > 0 && { refused: refused.map(({ name, error }) => ({ name, ...error.toJSON() })) }),
    });
  else for (const { name } of agreed) output.line(`Agreed to ${showLine(name, 60)}`);
  const [first] = refused;
  return first && ERRORS[first.error.code].exit;
}

interface Refused {
  readonly name: string;
  readonly error: TurnbuckleError;
}

/** A server that no agreement would start, and why. One that goes on as it was before is none. */
const refusalOf = ({ name, problem, kept }: ConfiguredServer): Refused[] =>
  problem === undefined || problem.code === 'TRUST_REQUIRED' || kept ? [] : [{ name, error: problem }];

function tell({ output }: CommandContext, { name, error }: Refused): void {
  const { color } = output;
  output.warn(`${color.red(`${showWhole(name)} is refused`)}, whoever agrees: ${showMessage(error.message)}`);
  if (error.hint !== undefined) output.warn(`      ${showMessage(error.hint)}`);
}

/** Shows exactly what is agreed to, nothing shortened, hidden characters made visible, and asks. */
async function agree(
  { output, flags }: CommandContext,
  server: ConfiguredServer,
  trust: TrustStore,
): Promise<boolean> {
  const { name, entry, origin } = server;
  output.note(`\n${output.color.bold(showWhole(name))} from ${showWhole(origin.file)}:${origin.line}`);
  output.note(showText(JSON.stringify(entry, null, 2)));
  const defaults = defaultsOf(server);
  if (defaults.length > 0) output.note('Inputs that it uses, unless you give them another value:');
  for (const [id, value] of defaults) output.note(showWhole(`  ${id} = ${JSON.stringify(value)}`));
  const keys = await trust.changedKeys(server);
  if (keys !== undefined)
    output.note(output.color.red(`Changed since you agreed: ${showWhole(keys.join(', ') || 'the entry')}`));
  const files = Object.keys(await trust.namedFiles(server));
  const changed = (await trust.changedFiles(server)) ?? [];
  if (files.length > 0) output.note('Files of the project that it names; a change of one asks again:');
  for (const file of changed.filter((one) => !files.includes(one)))
    output.note(showWhole(`  ${file}  (removed since you agreed)`));
  for (const file of files)
    output.note(showWhole(`  ${file}${changed.includes(file) ? '  (changed since you agreed)' : ''}`));
  for (const danger of dangersOf(entry)) output.note(output.color.red(showWhole(`! ${danger}`)));
  if (flags.yes === true) return true;
  if (!output.interactive) {
    throw new TurnbuckleError(
      'TRUST_REQUIRED',
      `Server "${name}" has to be agreed to, and there is nobody to ask.`,
      {
        server: name,
        hint: 'Run it in a terminal, or with --yes after you have looked at the server.',
      },
    );
  }
  const { askYes } = await import('../ask.js');
  return askYes(`May "${showWhole(name)}" be started with exactly this?`);
}

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
