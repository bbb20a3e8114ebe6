/**
 * Placeholders in a server's configuration: `${VAR}`, `${VAR:-default}`, `${env:VAR}`, `${input:id}`,
 * `${secret:name}`, `${workspaceFolder}`, `${userHome}`. Filled in when connecting and never before, so that
 * files, hashes and what is shown keep the placeholder. `$${` is a literal `${`.
 */
import { TurnbuckleError } from '../errors.js';
import { isRecord } from '../is-record.js';
import { MalformedPlaceholder, type Placeholder, splitPlaceholders } from './placeholders.js';

export interface Placeholders {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly input?: ((id: string) => Promise<string | undefined>) | undefined;
  readonly secret?: ((name: string) => Promise<string | undefined>) | undefined;
  /** Told each value that is filled in, with its name as it is written: `secret:db`, `TOKEN`. */
  readonly onValue?: ((name: string, value: string) => void) | undefined;
  readonly workspaceFolder: string;
  readonly userHome: string;
}

export interface PlaceholderOwner {
  readonly server: string;
  readonly file?: string | undefined;
  /** It is a daemon that needs them: what whoever calls it has set is not there, and nobody can be asked. */
  readonly isDaemon?: boolean | undefined;
}

/** The same value with every placeholder in its texts filled in; VARIABLE_MISSING names the first that cannot be. */
export async function interpolate<T>(value: T, source: Placeholders, owner: PlaceholderOwner): Promise<T> {
  const fill = async (node: unknown, path: string): Promise<unknown> => {
    if (typeof node === 'string')
      return node.includes('${') ? fillText(node, source, { ...owner, path }) : node;
    if (Array.isArray(node)) return Promise.all(node.map((item, index) => fill(item, `${path}[${index}]`)));
    // Objects of this process (servers, functions) are not data.
    if (!isRecord(node) || Object.getPrototypeOf(node) !== Object.prototype) return node;
    const entries = Object.entries(node).map(async ([key, item]) => [
      key,
      await fill(item, path === '' ? key : `${path}.${key}`),
    ]);
    return Object.fromEntries(await Promise.all(entries));
  };
  return (await fill(value, '')) as T;
}

interface Spot extends PlaceholderOwner {
  readonly path: string;
}

async function fillText(text: string, source: Placeholders, spot: Spot): Promise<string> {
  const pieces = splitPlaceholders(text);
  if (pieces instanceof MalformedPlaceholder) throw malformed(pieces.beginning, spot);
  const filled = pieces.map((piece) => (typeof piece === 'string' ? piece : lookUp(piece, source, spot)));
  return (await Promise.all(filled)).join('');
}

async function lookUp({ name, fallback }: Placeholder, source: Placeholders, spot: Spot): Promise<string> {
  const value = await findValue(name, source, spot);
  if (value !== undefined) source.onValue?.(name, value);
  if (value !== undefined && value !== '') return value;
  if (fallback !== undefined) return fillText(fallback, source, spot);
  // An empty variable is set: it only gives way to a default.
  if (value === '') return '';
  throw missing(name, spot);
}

async function findValue(name: string, source: Placeholders, spot: Spot): Promise<string | undefined> {
  if (name === 'workspaceFolder') return source.workspaceFolder;
  if (name === 'userHome') return source.userHome;
  const [kind, rest] = name.includes(':')
    ? [name.slice(0, name.indexOf(':')), name.slice(name.indexOf(':') + 1)]
    : ['env', name];
  if (kind === 'input') return source.input?.(rest);
  if (kind === 'secret')
    return source.secret?.(rest).catch((error: unknown) => Promise.reject(located(error, spot)));
  // Not what every object has, such as `constructor`.
  return Object.hasOwn(source.environment, rest) ? source.environment[rest] : undefined;
}

type Hint = (name: string) => string;

const HINTS: Readonly<Record<string, Hint>> = {
  env: (name) => `Set ${name}, or write \${${name}:-default}.`,
  input: (id) => `Run it in a terminal to be asked, or set TURNBUCKLE_INPUT_${toVariable(id)}.`,
  secret: (name) =>
    `Run: turnbuckle secrets set ${name}. Or set TURNBUCKLE_SECRET_${toVariable(name)}, or a secretCommand.`,
};

const restarted = (variable: string): string => `Set ${variable}, then: turnbuckle serve restart.`;

const DAEMON_HINTS: Readonly<Record<string, Hint>> = {
  env: (name) => `${restarted(name)} Or call without the daemon: --no-daemon.`,
  input: (id) =>
    `${restarted(`TURNBUCKLE_INPUT_${toVariable(id)}`)} Or be asked for it, without the daemon: --no-daemon.`,
  secret: (name) =>
    `Run: turnbuckle secrets set ${name}. Or: ${restarted(`TURNBUCKLE_SECRET_${toVariable(name)}`)}`,
};

/** The variable that stands in for an input or a secret. */
export function toVariable(name: string): string {
  return name.toUpperCase().replace(/[^A-Z0-9]+/g, '_');
}

function missing(name: string, { server, file, path, isDaemon = false }: Spot): TurnbuckleError {
  const kind = name.includes(':') ? name.slice(0, name.indexOf(':')) : 'env';
  const plain = name.slice(name.indexOf(':') + 1);
  const what =
    kind === 'env'
      ? `the environment variable ${plain}, which ${isDaemon ? 'the daemon does not have' : 'is not set'}`
      : `the ${kind} "${plain}", which nobody gave${isDaemon ? ' the daemon' : ''}`;
  const hints = isDaemon ? DAEMON_HINTS : HINTS;
  return new TurnbuckleError('VARIABLE_MISSING', `Server "${server}" needs ${what} (${where(path, file)}).`, {
    server,
    hint: (Object.hasOwn(hints, kind) ? hints[kind] : hints.env)?.(plain),
    data: { variable: plain, kind, path, file },
  });
}

/** What a source said when it failed, with the place that needed it. */
function located(error: unknown, { server, file, path }: Spot): unknown {
  if (!(error instanceof TurnbuckleError)) return error;
  const { code, message, hint, cause, data } = error;
  const text = `Server "${server}" cannot be filled in (${where(path, file)}): ${message}`;
  return new TurnbuckleError(code, text, { server, hint, cause, data: { ...data, path, file } });
}

export const PLACEHOLDER_HINT =
  'Write ${VAR}, ${VAR:-default}, ${env:VAR}, ${input:id} or ${secret:name}; $${ is a literal ${.';

function malformed(beginning: string, { server, file, path }: Spot): TurnbuckleError {
  return new TurnbuckleError(
    'CONFIG_INVALID',
    `Server "${server}" has a placeholder that is not understood: ${beginning} (${where(path, file)}).`,
    {
      server,
      hint: PLACEHOLDER_HINT,
      data: { path, file },
    },
  );
}

const where = (path: string, file: string | undefined): string =>
  file === undefined ? path : `${path} in ${file}`;
