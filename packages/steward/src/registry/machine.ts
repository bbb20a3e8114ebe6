/** What this machine has to run servers with, and what a server needs. */
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import type { RecordPackage } from './record-schema.js';
import type { ServerRecord } from './server-record.js';

export interface Machine {
  /** The commands that are installed, of those that packages need. */
  readonly commands: ReadonlySet<string>;
  /** The major version of Node. */
  readonly node: number;
}

const COMMANDS = ['docker', 'podman', 'uvx', 'dnx'];

/** Looks for the commands in PATH; nothing is executed. */
export async function inspectMachine(path = process.env.PATH ?? ''): Promise<Machine> {
  const directories = path.split(delimiter).filter((directory) => isAbsolute(directory));
  const endings = process.platform === 'win32' ? ['.exe', '.cmd'] : [''];
  const isInstalled = async (command: string): Promise<boolean> => {
    for (const directory of directories)
      for (const ending of endings) if (await isExecutable(join(directory, command + ending))) return true;
    return false;
  };
  const found = await Promise.all(COMMANDS.map(isInstalled));
  return {
    commands: new Set(COMMANDS.filter((_command, at) => found[at])),
    node: Number.parseInt(process.versions.node, 10),
  };
}

async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}

/** What is missing for the way to run the server that needs the least; empty if one of them works here. */
export function missingFor({ packages, remotes, minimumNode }: ServerRecord, machine: Machine): string[] {
  if (remotes.length > 0) return [];
  const each = packages.map((one) => missingForPackage(one, minimumNode, machine));
  const [first = []] = each.toSorted((left, right) => left.length - right.length);
  return first;
}

function missingForPackage(
  { registryType }: RecordPackage,
  minimumNode: number | undefined,
  { commands, node }: Machine,
): string[] {
  const isNodeOld = minimumNode !== undefined && minimumNode > node;
  switch (registryType) {
    case 'npm':
    case 'mcpb':
      return isNodeOld ? [`Node ${minimumNode}`] : [];
    case 'oci':
      return commands.has('docker') || commands.has('podman') ? [] : ['docker or podman'];
    case 'pypi':
      return commands.has('uvx') ? [] : ['uvx'];
    case 'nuget':
      return commands.has('dnx') ? [] : ['dnx'];
  }
}
