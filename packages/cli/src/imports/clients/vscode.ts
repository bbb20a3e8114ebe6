/** VS Code: `servers` beside `inputs`, which are asked for once and kept by the editor. */
import type { Client, LocatedEntry, SettingsContext } from '../client.js';
import type { Dialect } from '../dialect.js';
import type { ImportedInput } from '../entries/imported-server.js';
import { editorStyle } from '../entries/placeholder-styles.js';
import { isEntry, ownValue, ownValueAt, stringsIn } from '../formats/plain-value.js';
import { locateEntries } from '../locate-entries.js';
import { editorSandbox } from './editor-sandbox.js';

const PRODUCTS = ['Code', 'Code - Insiders'];

const dialect: Dialect = {
  container: ['servers'],
  alternativeContainers: [['mcpServers'], ['mcp', 'servers']],
  style: editorStyle({ folders: true, inputs: true }),
  typeKey: 'type',
  transports: { stdio: 'stdio', http: 'http', sse: 'sse' },
  keys: { cwd: 'cwd' },
  oauth: { keys: { clientId: 'oauth.clientId' } },
  sandbox: editorSandbox,
};

export const vscode: Client = {
  id: 'vscode',
  label: 'VS Code',
  format: 'json',
  candidates: (at) => [
    at.project('.vscode', 'mcp.json'),
    ...PRODUCTS.flatMap((product) => [
      at.appData(product, 'User', 'mcp.json'),
      { ...at.appData(product, 'User', 'profiles'), each: { file: 'mcp.json' } },
    ]),
    at.home('.vscode-server', 'data', 'User', 'mcp.json'),
    at.project('.mcp.json'),
  ],
  dialect,
  locate: (root) => withSandboxRules(root, locateEntries(root, dialect)),
  inputs: readInputs,
  settings: writeInputs,
};

/** The rules of the sandbox stand once in the file, for every server that is in it. */
export function withSandboxRules(root: unknown, entries: readonly LocatedEntry[]): LocatedEntry[] {
  const sandbox = ownValue(root, 'sandbox');
  return entries.map((entry) =>
    isEntry(sandbox) && isEntry(entry.value) && entry.value.sandboxEnabled === true
      ? { ...entry, value: { sandbox, ...entry.value } }
      : entry,
  );
}

/** What the file asks its user for; entries without an id are of no use. */
export function readInputs(root: unknown): ImportedInput[] {
  const listed = [ownValue(root, 'inputs'), ownValueAt(root, ['mcp', 'inputs'])].find(Array.isArray) ?? [];
  return listed.flatMap((input: unknown) => {
    const id = ownValue(input, 'id');
    if (typeof id !== 'string' || id === '') return [];
    const description = ownValue(input, 'description');
    const preset = ownValue(input, 'default');
    const options = optionsOf(ownValue(input, 'options'));
    return [
      {
        id,
        ...(typeof description === 'string' ? { description } : {}),
        ...(ownValue(input, 'password') === true ? { password: true } : {}),
        ...(typeof preset === 'string' ? { default: preset } : {}),
        ...(options.length === 0 ? {} : { options }),
      },
    ];
  });
}

function optionsOf(options: unknown): string[] {
  return Array.isArray(options)
    ? stringsIn(options.map((option) => ownValue(option, 'value') ?? option))
    : [];
}

/** Every input that a written server refers to must be declared, or the editor refuses the file. */
function writeInputs(root: unknown, { servers, inputs }: SettingsContext) {
  const listed = ownValue(root, 'inputs');
  const present: unknown[] = Array.isArray(listed) ? listed : [];
  const known = new Set(present.map((input) => (isEntry(input) ? input.id : undefined)));
  const missing = [...new Set(servers.flatMap((server) => server.inputs))].filter((id) => !known.has(id));
  if (missing.length === 0) return [];
  const declared = missing.map((id) => {
    const {
      description = id,
      password,
      default: preset,
      options,
    } = inputs.find((input) => input.id === id) ?? { password: true };
    return {
      type: options === undefined ? 'promptString' : 'pickString',
      id,
      description,
      ...(password === true ? { password } : {}),
      ...(preset === undefined ? {} : { default: preset }),
      ...(options === undefined ? {} : { options }),
    };
  });
  return [{ path: ['inputs'], value: [...present, ...declared] }];
}
