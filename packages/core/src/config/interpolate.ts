/**
 * Placeholders in a server's configuration: `${VAR}`, `${VAR:-default}`, `${env:VAR}`, `${input:id}`,
 * `${secret:name}`, `${workspaceFolder}`, `${userHome}`. Filled in when connecting and never before, so that
 * files, hashes and what is shown keep the placeholder. `$${` is a literal `${`.
 */
import { TurnbuckleError } from '../errors.js';
import { isRecord } from '../is-record.js';

export interface Placeholders {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly input?: ((id: string) => Promise<string | undefined>) | undefined;
  readonly secret?: ((name: string) => Promise<string | undefined>) | undefined;
  readonly workspaceFolder: string;
  readonly userHome: string;
}

export interface PlaceholderOwner {
  readonly server: string;
  readonly file?: string | undefined;
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

/** True when there is something to fill in. */
export function hasPlaceholders(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('${');
  if (Array.isArray(value)) return value.some(hasPlaceholders);
  return (
    isRecord(value) &&
    Object.getPrototypeOf(value) === Object.prototype &&
    Object.values(value).some(hasPlaceholders)
  );
}

interface Spot extends PlaceholderOwner {
  readonly path: string;
}

async function fillText(text: string, source: Placeholders, spot: Spot): Promise<string> {
  let result = '';
  for (let index = 0; index < text.length; ) {
    const start = text.indexOf('${', index);
    if (start === -1) return result + text.slice(index);
    if (start > 0 && text[start - 1] === '$') {
      result += `${text.slice(index, start - 1)}\${`;
      index = start + 2;
      continue;
    }
    const end = closingBrace(text, start + 2);
    if (end === -1) throw malformed(text.slice(start, start + 40), spot);
    result += text.slice(index, start) + (await lookUp(text.slice(start + 2, end), source, spot));
    index = end + 1;
  }
  return result;
}

/** The brace that closes the one before `from`; a default may hold placeholders itself. */
function closingBrace(text: string, from: number): number {
  let open = 1;
  for (let index = from; index < text.length; index += 1) {
    if (text[index] === '{' && text[index - 1] === '$') open += 1;
    if (text[index] === '}') open -= 1;
    if (open === 0) return index;
  }
  return -1;
}

async function lookUp(body: string, source: Placeholders, spot: Spot): Promise<string> {
  const cut = body.indexOf(':-');
  const name = cut === -1 ? body : body.slice(0, cut);
  const value = await findValue(name, source, spot);
  if (value !== undefined && value !== '') return value;
  if (cut !== -1) return fillText(body.slice(cut + 2), source, spot);
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
  if (kind === 'secret') return source.secret?.(rest);
  if (kind !== 'env' || !/^[A-Za-z_][A-Za-z0-9_]*$/.test(rest)) throw malformed(`\${${name}}`, spot);
  return source.environment[rest];
}

const HINTS: Readonly<Record<string, (name: string) => string>> = {
  input: (id) => `Run it in a terminal to be asked, or set TURNBUCKLE_INPUT_${toVariable(id)}.`,
  secret: (name) =>
    `Set TURNBUCKLE_SECRET_${toVariable(name)}, or a secretCommand in your own configuration.`,
};

/** The variable that stands in for an input or a secret. */
export function toVariable(name: string): string {
  return name.toUpperCase().replace(/[^A-Z0-9]+/g, '_');
}

function missing(name: string, { server, file, path }: Spot): TurnbuckleError {
  const kind = name.includes(':') ? name.slice(0, name.indexOf(':')) : 'env';
  const plain = name.slice(name.indexOf(':') + 1);
  const what =
    kind === 'env'
      ? `the environment variable ${plain}, which is not set`
      : `the ${kind} "${plain}", which nobody gave`;
  return new TurnbuckleError('VARIABLE_MISSING', `Server "${server}" needs ${what} (${where(path, file)}).`, {
    server,
    hint: HINTS[kind]?.(plain) ?? `Set ${plain}, or write \${${plain}:-default}.`,
    data: { variable: plain, kind, path, file },
  });
}

function malformed(text: string, { server, file, path }: Spot): TurnbuckleError {
  return new TurnbuckleError(
    'CONFIG_INVALID',
    `Server "${server}" has a placeholder that is not understood: ${text} (${where(path, file)}).`,
    {
      server,
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the text shows the syntax of placeholders
      hint: 'Write ${VAR}, ${VAR:-default}, ${env:VAR}, ${input:id} or ${secret:name}; $${ is a literal ${.',
      data: { path, file },
    },
  );
}

const where = (path: string, file: string | undefined): string =>
  file === undefined ? path : `${path} in ${file}`;
