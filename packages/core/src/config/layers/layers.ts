/**
 * Which files make up the configuration, from the weakest to the strongest, and what each may do. Pure but
 * for the walk upwards to the project, whose look at the file system is handed in.
 */
import { dirname, join, normalize } from 'node:path';
import { absoluteOnly } from './home-directory.js';

export type LayerScope = 'user' | 'project' | 'local' | 'environment' | 'flags' | 'managed';

/** Written by whoever wrote the project: not to be believed before its user agreed. */
export const isOfProject = (scope: LayerScope): boolean => scope === 'project' || scope === 'local';

export interface Layer {
  readonly scope: LayerScope;
  readonly file: string;
  /** Missing, it is a problem: somebody named it. */
  readonly required: boolean;
  /** The directory that its relative paths and placeholders mean. */
  readonly directory: string;
}

export interface LayerPlace {
  readonly cwd: string;
  readonly home: string;
  readonly platform: NodeJS.Platform;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Files named on the command line. */
  readonly files?: readonly string[] | undefined;
  readonly exists: (path: string) => boolean;
}

/** From the weakest to the strongest. */
export function findLayers(place: LayerPlace): Layer[] {
  const { cwd, environment } = place;
  const layer = (scope: LayerScope, file: string, required = false, directory = cwd): Layer => ({
    scope,
    file,
    required,
    directory,
  });
  const project = findProject(place);
  const named = environment.MCP_CONFIG_PATH;
  return [
    layer('user', userFile(place)),
    ...(project === undefined ? [] : [layer('project', project.file, false, project.directory)]),
    layer('project', join(cwd, 'mcp-servers.json')),
    ...(project === undefined
      ? []
      : [layer('local', join(project.directory, '.turnbuckle', 'mcp.local.json'), false, project.directory)]),
    ...(named === undefined || named === '' ? [] : [layer('environment', absolute(cwd, named), true)]),
    ...(place.files ?? []).map((file) => layer('flags', absolute(cwd, file), true)),
    layer('managed', managedFile(place)),
  ];
}

/** Where the user's own file is, by the custom of the platform. */
export function userFile({
  home,
  platform,
  environment,
}: Pick<LayerPlace, 'home' | 'platform' | 'environment'>): string {
  if (platform === 'win32')
    return join(
      absoluteOnly(environment.APPDATA, platform) ?? join(home, 'AppData', 'Roaming'),
      'turnbuckle',
      'mcp.json',
    );
  // Empty or relative means unset (XDG Base Directory): a project must not become its user's own file.
  const given = absoluteOnly(environment.XDG_CONFIG_HOME, platform);
  return join(given ?? join(home, '.config'), 'turnbuckle', 'mcp.json');
}

function managedFile({ platform, environment }: LayerPlace): string {
  if (platform === 'darwin') return '/Library/Application Support/turnbuckle/managed-mcp.json';
  if (platform === 'win32')
    return join(
      absoluteOnly(environment.PROGRAMDATA, platform) ?? 'C:\\ProgramData',
      'turnbuckle',
      'managed-mcp.json',
    );
  return '/etc/turnbuckle/managed-mcp.json';
}

function absolute(cwd: string, file: string): string {
  return file.startsWith('/') || /^[A-Za-z]:[\\/]/.test(file) ? normalize(file) : join(cwd, file);
}

/** The project's file, found by walking up; the walk ends above the home directory's own settings. */
function findProject(place: LayerPlace): { file: string; directory: string } | undefined {
  for (const directory of upwards(place)) {
    const [shared, own] = projectFiles(directory);
    if (place.exists(shared) || place.exists(own)) return { file: shared, directory };
  }
  return undefined;
}

/** All that the two functions here ask for. */
export const projectPlaces = (place: Omit<LayerPlace, 'exists'>): string[] =>
  upwards(place).flatMap((directory) => [join(directory, '.turnbuckle'), ...projectFiles(directory)]);

/** Files of a project that would be found if they came to be: here, and above where there is a directory for them. */
export function possibleProjectFiles(place: LayerPlace): string[] {
  return upwards(place)
    .filter((directory) => directory === place.cwd || place.exists(join(directory, '.turnbuckle')))
    .flatMap(projectFiles);
}

const projectFiles = (directory: string): [shared: string, own: string] => [
  join(directory, '.turnbuckle', 'mcp.json'),
  join(directory, '.turnbuckle', 'mcp.local.json'),
];

function upwards({ cwd, home }: Pick<LayerPlace, 'cwd' | 'home'>): string[] {
  const directories = [cwd];
  for (let last = cwd; last !== home && last !== dirname(last); directories.push(last)) last = dirname(last);
  return directories;
}
