/**
 * Which files make up the configuration, in order of precedence, and what each may do. Pure except for the search for
 * the project, whose file system access is passed in.
 */
import { dirname, join, normalize } from 'node:path';
import { absoluteOrUndefined } from '../../files/home-directory.js';

export type LayerScope = 'user' | 'project' | 'local' | 'environment' | 'flags' | 'managed';

/** Written by the author of the project: untrusted until the user agrees. */
export const isProjectScope = (scope: LayerScope): boolean => scope === 'project' || scope === 'local';

export interface Layer {
  readonly scope: LayerScope;
  readonly file: string;
  /** Named explicitly: a problem if missing. */
  readonly required: boolean;
  /** The base directory of its relative paths and placeholders. */
  readonly directory: string;
}

export interface LayerContext {
  readonly cwd: string;
  readonly home: string;
  readonly platform: NodeJS.Platform;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Files named on the command line. */
  readonly files?: readonly string[] | undefined;
  readonly exists: (path: string) => boolean;
}

/** From lowest to highest precedence. */
export function findLayers(place: LayerContext): Layer[] {
  const { cwd, environment } = place;
  const layer = (scope: LayerScope, file: string, more: Partial<Layer> = {}): Layer => ({
    scope,
    file,
    required: false,
    directory: cwd,
    ...more,
  });
  const project = findProject(place);
  const named = environment.MCP_CONFIG_PATH;
  return [
    layer('user', userFile(place)),
    ...(project === undefined ? [] : [layer('project', project.file, { directory: project.directory })]),
    layer('project', join(cwd, 'mcp-servers.json')),
    ...(project === undefined
      ? []
      : [
          layer('local', join(project.directory, '.turnbuckle', 'mcp.local.json'), {
            directory: project.directory,
          }),
        ]),
    ...(named === undefined || named === ''
      ? []
      : [layer('environment', absolute(cwd, named), { required: true })]),
    ...(place.files ?? []).map((file) => layer('flags', absolute(cwd, file), { required: true })),
    layer('managed', managedFile(place)),
  ];
}

/** The location of the user's own file on this platform. */
export function userFile({
  home,
  platform,
  environment,
}: Pick<LayerContext, 'home' | 'platform' | 'environment'>): string {
  if (platform === 'win32')
    return join(
      absoluteOrUndefined(environment.APPDATA, platform) ?? join(home, 'AppData', 'Roaming'),
      'turnbuckle',
      'mcp.json',
    );
  // Empty or relative means unset (XDG Base Directory): a project must not become the user's own file.
  const given = absoluteOrUndefined(environment.XDG_CONFIG_HOME, platform);
  return join(given ?? join(home, '.config'), 'turnbuckle', 'mcp.json');
}

function managedFile({ platform, environment }: LayerContext): string {
  if (platform === 'darwin') return '/Library/Application Support/turnbuckle/managed-mcp.json';
  if (platform === 'win32')
    return join(
      absoluteOrUndefined(environment.PROGRAMDATA, platform) ?? 'C:\\ProgramData',
      'turnbuckle',
      'managed-mcp.json',
    );
  return '/etc/turnbuckle/managed-mcp.json';
}

function absolute(cwd: string, file: string): string {
  return file.startsWith('/') || /^[A-Za-z]:[\\/]/.test(file) ? normalize(file) : join(cwd, file);
}

/** The project's file, found by walking up; the walk stops above the home directory. */
function findProject(place: LayerContext): { file: string; directory: string } | undefined {
  for (const directory of ancestorDirectories(place)) {
    const [shared, own] = projectFiles(directory);
    if (place.exists(shared) || place.exists(own)) return { file: shared, directory };
  }
  return undefined;
}

/** The inputs of both functions. */
export const projectCandidates = (place: Omit<LayerContext, 'exists'>): string[] =>
  ancestorDirectories(place).flatMap((directory) => [
    join(directory, '.turnbuckle'),
    ...projectFiles(directory),
  ]);

/** Project files that would be found if they were created: here, and above where their directory exists. */
export function possibleProjectFiles(place: LayerContext): string[] {
  return ancestorDirectories(place)
    .filter((directory) => directory === place.cwd || place.exists(join(directory, '.turnbuckle')))
    .flatMap(projectFiles);
}

const projectFiles = (directory: string): [shared: string, own: string] => [
  join(directory, '.turnbuckle', 'mcp.json'),
  join(directory, '.turnbuckle', 'mcp.local.json'),
];

function ancestorDirectories({ cwd, home }: Pick<LayerContext, 'cwd' | 'home'>): string[] {
  const directories = [cwd];
  for (let last = cwd; last !== home && last !== dirname(last); directories.push(last)) last = dirname(last);
  return directories;
}
