/** The fields of a question about an installation, and what follows from what was filled in. */
import { dirname } from 'node:path';
import { TurnbuckleError } from 'turnbuckle';
import { homeDirectory } from 'turnbuckle/host';
import type { InputField } from '../../install/entry-template.js';
import type { InstallPlan } from '../../install/install-plan.js';
import { expandHome, PathFault, type PathPlace, writableDirectory } from '../../install/path-values.js';
import type { WorkServices } from '../services.js';

type Values = Readonly<Record<string, string>>;
type Place = Pick<WorkServices, 'work' | 'environment'>;

/** What the caller gave is what a field has unless the person changes it. */
export function askedFields({ inputs, server }: InstallPlan, given: Values): readonly InputField[] {
  const usedIn =
    server.type !== 'stdio' ? undefined : server.sandboxRead === undefined ? 'machine' : 'sandbox';
  return inputs.map((input) =>
    input.isSecret
      ? input
      : {
          ...input,
          ...(Object.hasOwn(given, input.name) && { default: given[input.name] ?? '' }),
          ...(usedIn !== undefined && { usedIn }),
        },
  );
}

/** All plain values, with the home directory in place of `~/`: defaults of the record, too. */
export function expandAll(
  inputs: readonly InputField[],
  filled: Values,
  { environment }: Pick<WorkServices, 'environment'>,
): Values {
  const home = homeDirectory(environment);
  const defaults = inputs.flatMap(({ name, default: usual }) =>
    usual?.startsWith('~') === true ? [[name, usual]] : [],
  );
  const all: Values = { ...Object.fromEntries(defaults), ...filled };
  return Object.fromEntries(Object.entries(all).map(([name, value]) => [name, expandHome(value, home)]));
}

/** The directories that a sandbox lets the server write to, since a person filled them in. */
export async function grantedBy(
  { inputs, server }: InstallPlan,
  answered: Values,
  place: Place,
): Promise<string[]> {
  if (server.type !== 'stdio' || server.sandboxRead === undefined) return [];
  const granted: string[] = [];
  for (const { name } of inputs.filter((input) => !input.isSecret)) {
    const value = Object.hasOwn(answered, name) ? answered[name] : undefined;
    if (value === undefined) continue;
    const directory = await checkPath(name, value, pathPlace(place.environment, place.work));
    if (directory !== undefined) granted.push(directory);
  }
  return granted;
}

export const pathPlace = (
  environment: WorkServices['environment'],
  {
    stateDir,
    packageRoot,
    configFile,
  }: Pick<WorkServices['work'], 'stateDir' | 'packageRoot' | 'configFile'>,
): PathPlace => ({
  home: homeDirectory(environment),
  own: [stateDir, packageRoot, ...(configFile === '' ? [] : [dirname(configFile)])],
});

/** ARGUMENTS_INVALID for a path that cannot be used. */
export async function checkPath(name: string, value: string, place: PathPlace): Promise<string | undefined> {
  try {
    return await writableDirectory(expandHome(value, place.home), place);
  } catch (error) {
    if (!(error instanceof PathFault)) throw error;
    throw new TurnbuckleError(
      'ARGUMENTS_INVALID',
      `${JSON.stringify(value)} cannot be used for "${name}": ${error.message}.`,
      { hint: error.next ?? 'Use another path, and approve again.', data: { input: name } },
    );
  }
}
