/**
 * The registries of the machine's npm configuration and the credentials for them. Only these keys are read: nothing
 * else of it takes effect when a package is installed.
 */
import { dirname, join } from 'node:path';
import { homeDirectory, readFileText } from 'turnbuckle/host';

export interface NpmRegistry {
  /** With a slash at the end. */
  readonly url: string;
  /** The value of the header Authorization. */
  readonly authorization?: string;
}

export interface NpmConfig {
  /** The registry of a package. */
  registryOf(name: string): NpmRegistry;
}

export interface NpmConfigOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** From the settings; instead of all others. */
  readonly registry?: string | undefined;
}

const DEFAULT_REGISTRY = 'https://registry.npmjs.org/';
const MAX_BYTES = 1_024 * 1_024;

/** Files that do not exist or cannot be read are left out, as npm does. */
export async function readNpmConfig({ environment, registry }: NpmConfigOptions): Promise<NpmConfig> {
  const fromEnvironment = (key: string): string | undefined =>
    environment[`npm_config_${key}`] ?? environment[`NPM_CONFIG_${key.toUpperCase()}`];
  const userFile = fromEnvironment('userconfig') ?? join(homeDirectory(environment), '.npmrc');
  const prefix = fromEnvironment('prefix') ?? dirname(dirname(process.execPath));
  const globalFile = fromEnvironment('globalconfig') ?? join(prefix, 'etc', 'npmrc');
  const texts = await Promise.all(
    [globalFile, userFile].map((file) => readFileText(file, { maxBytes: MAX_BYTES }).catch(() => '')),
  );
  const values = new Map(texts.flatMap((text) => parseLines(text, environment)));
  const configured = registry ?? fromEnvironment('registry') ?? values.get('registry') ?? DEFAULT_REGISTRY;
  return {
    registryOf: (name) => {
      const scope = name.startsWith('@') ? name.slice(0, name.indexOf('/')) : undefined;
      const scoped =
        scope === undefined || registry !== undefined ? undefined : values.get(`${scope}:registry`);
      const url = toRegistryUrl(scoped ?? configured);
      const authorization = credentialsFor(url, values);
      return { url, ...(authorization !== undefined && { authorization }) };
    },
  };
}

/** An address that cannot be parsed falls back to nothing: every request to it then fails. */
const toRegistryUrl = (text: string): string => (text.endsWith('/') ? text : `${text}/`);

function parseLines(
  text: string,
  environment: NpmConfigOptions['environment'],
): Array<readonly [string, string]> {
  return text.split(/\r?\n/).flatMap((line) => {
    const found = /^\s*([^#;=\s][^=]*?)\s*=\s*(.*?)\s*$/.exec(line.slice(0, 10_000));
    if (found === null) return [];
    const [, key = '', value = ''] = found;
    const plain = value.replace(/^"(.*)"$/, '$1');
    return [[key, plain.replace(/\$\{([^}]+)\}/g, (all, name: string) => environment[name] ?? all)] as const];
  });
}

/** npm looks for credentials at the path of the registry, then at the paths above it. */
function credentialsFor(url: string, values: ReadonlyMap<string, string>): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { host, pathname } = new URL(url);
  const segments = pathname.split('/').filter((segment) => segment !== '');
  for (let count = segments.length; count >= 0; count -= 1) {
    const place = `//${[host, ...segments.slice(0, count)].join('/')}/`;
    const token = values.get(`${place}:_authToken`);
    if (token !== undefined) return `Bearer ${token}`;
    const basic = values.get(`${place}:_auth`);
    if (basic !== undefined) return `Basic ${basic}`;
  }
  return undefined;
}
