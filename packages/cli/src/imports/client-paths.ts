/** Where clients keep their files on each platform. Pure: the machine comes in as a value. */
import { posix, win32 } from 'node:path';
import type { Scope } from './entries/imported-server.js';
import type { FileFormat } from './formats/parse-text.js';

/** The machine and the folder that paths are worked out for. */
export interface Machine {
  readonly platform: NodeJS.Platform;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}

export interface Candidate {
  readonly scope: Scope;
  readonly path: string;
  /** The file is ignored when links lead it out of this folder. */
  readonly within: string;
  /** When it is not the client's usual one. */
  readonly format?: FileFormat;
  /** The path is a folder: files in it with this ending, or this file in each of its folders. */
  readonly each?: { readonly ending: string } | { readonly file: string };
}

export interface PathBuilder {
  readonly machine: Machine;
  join(...parts: readonly string[]): string;
  /** Below the user's home. */
  home(...parts: readonly string[]): Candidate;
  /** Below the folder for configuration (`~/.config`, or what XDG_CONFIG_HOME says). */
  config(...parts: readonly string[]): Candidate;
  /** Below the folder where desktop programs keep their data. */
  appData(...parts: readonly string[]): Candidate;
  project(...parts: readonly string[]): Candidate;
  /** Below the folder that a variable names; none when it is not set. */
  fromEnvironment(variable: string, ...parts: readonly string[]): Candidate[];
  /** Below the folder where administrators keep files. */
  managed(
    folders: Readonly<Record<'darwin' | 'win32' | 'linux', string>>,
    ...parts: readonly string[]
  ): Candidate;
}

/** Ways to name places on one machine. */
export function createPathBuilder(machine: Machine): PathBuilder {
  const { platform, home, env, cwd } = machine;
  const { join, dirname } = platform === 'win32' ? win32 : posix;
  const under = (scope: Scope, within: string, parts: readonly string[]): Candidate => ({
    scope,
    path: join(within, ...parts),
    within,
  });
  const configFolder = absoluteOnly(env.XDG_CONFIG_HOME, platform) ?? join(home, '.config');
  return {
    machine,
    join,
    home: (...parts) => under('user', home, parts),
    config: (...parts) => under('user', configFolder, parts),
    appData: (...parts) => under('user', appDataFolder(machine, join, configFolder), parts),
    project: (...parts) => under('project', cwd, parts),
    fromEnvironment(variable, ...parts) {
      const folder = nonEmpty(env[variable]);
      if (folder === undefined) return [];
      return parts.length > 0
        ? [under('user', folder, parts)]
        : [{ scope: 'user', path: folder, within: dirname(folder) }];
    },
    managed: (folders, ...parts) =>
      under('managed', folders[platform === 'darwin' || platform === 'win32' ? platform : 'linux'], parts),
  };
}

/** Empty or relative means unset, as everywhere: what a project ships is not its user's. */
const absoluteOnly = (path: string | undefined, platform: NodeJS.Platform): string | undefined =>
  path !== undefined && (platform === 'win32' ? win32 : posix).isAbsolute(path) ? path : undefined;

const nonEmpty = (value: string | undefined): string | undefined => (value === '' ? undefined : value);

function appDataFolder(
  { platform, home, env }: Machine,
  join: PathBuilder['join'],
  configFolder: string,
): string {
  if (platform === 'darwin') return join(home, 'Library', 'Application Support');
  if (platform === 'win32') return absoluteOnly(env.APPDATA, platform) ?? join(home, 'AppData', 'Roaming');
  return configFolder;
}
