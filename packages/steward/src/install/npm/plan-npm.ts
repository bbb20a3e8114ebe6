/** The plan for an npm package: which of its programs is run, by which absolute path. Pure. */
import { join, posix } from 'node:path';
import { packageDirectory } from '../install-directory.js';
import { cannotInstall, type KindOptions, type KindPlan } from '../install-plan.js';
import type { InstallablePackage } from '../installable-record.js';
import { assertNoRuntimeArguments, RecordFault } from '../record-inputs.js';
import { type InstallRefusal, refuse } from '../refusal.js';

/** A package that calls its program like this wants to be run in place of it. */
const PROGRAMS_OF_OTHERS = new Set(
  'node nodejs npm npx corepack pnpm yarn bun deno git ssh sudo su sh bash zsh dash env python python3 pip uv uvx docker podman curl wget turnbuckle'.split(
    ' ',
  ),
);
const PROGRAM_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,100}$/;

export function planNpm(one: InstallablePackage, options: KindOptions): KindPlan | InstallRefusal {
  const { inputs, programs, facts, root, sandbox } = options;
  const { identifier, version = '' } = one;
  if (programs.npm === undefined)
    return cannotInstall(
      identifier,
      'npm is not installed',
      'Install npm (it comes with Node.js), then try again.',
    );
  if (facts?.bin === undefined)
    return cannotInstall(
      identifier,
      'the npm registry did not return the package details',
      'Check that the npm registry can be reached, then try again.',
    );
  const [foreign] = facts.foreignDependencies ?? [];
  if (foreign !== undefined)
    return refuse(
      `${identifier} ${version} cannot be installed because it depends on ${foreign}, which does not come from the npm registry.`,
      'Choose another version or another server.',
    );
  assertNoRuntimeArguments(one.runtimeArguments);
  const inside = chooseProgram(identifier, facts.bin);
  const directory = packageDirectory(root, { kind: 'npm', identifier, version, integrity: facts.integrity });
  const file = posix.join('node_modules', identifier, inside);
  return {
    directory,
    file,
    ...(facts.publishedAt === undefined && {
      warnings: ['the registry does not say when this version was published'],
    }),
    server: {
      type: 'stdio',
      command: programs.node,
      args: [[[join(directory, file)]], ...inputs.arguments(one.packageArguments)],
      env: inputs.environment(one.environmentVariables),
      ...(sandbox && { sandboxRead: [directory] }),
    },
  };
}

/** The path of the program in the package. */
function chooseProgram(identifier: string, bin: Readonly<Record<string, string>>): string {
  const names = Object.keys(bin);
  const taken = names.find((name) => PROGRAMS_OF_OTHERS.has(name.toLowerCase()) || !PROGRAM_NAME.test(name));
  if (taken !== undefined)
    throw new RecordFault(`describes a package with a program named ${JSON.stringify(taken.slice(0, 100))}`);
  const own = identifier.split('/').at(-1) ?? identifier;
  const files = new Set(Object.values(bin));
  const chosen = Object.hasOwn(bin, own) ? bin[own] : files.size === 1 ? [...files][0] : undefined;
  if (names.length === 0) throw new RecordFault('describes a package that has no program');
  if (chosen === undefined)
    throw new RecordFault(
      `describes a package with several programs (${names.slice(0, 10).join(', ')}), and none of them is named after the package`,
    );
  return checkedPath(chosen);
}

function checkedPath(path: string): string {
  const normal = posix.normalize(path);
  const escapes = posix.isAbsolute(normal) || normal.split('/').includes('..') || /[\\\p{Cc}]/u.test(normal);
  if (escapes || normal === '.' || path.length > 1_000)
    throw new RecordFault(
      `describes a package whose program ${JSON.stringify(path.slice(0, 200))} is outside the package`,
    );
  return normal;
}
