/**
 * Names that agents see. A name depends on its server and tool only, so it is stable; it is valid for every LLM API
 * (letters, digits, `_`, `-`, at most 64, starting with a letter or `_`); and it is unique. A pair whose plain form
 * would be invalid, too long or ambiguous gets a shortened form that ends in a hash of the pair.
 */
import { nameHash } from './name-hash.js';

export type NamingPreset = 'mcp__server__tool' | 'mcp_server_tool' | 'server_tool';

interface Form {
  readonly prefix: string;
  readonly separator: string;
}

const FORMS: Readonly<Record<NamingPreset, Form>> = {
  mcp__server__tool: { prefix: 'mcp__', separator: '__' },
  mcp_server_tool: { prefix: 'mcp_', separator: '_' },
  server_tool: { prefix: '', separator: '_' },
};

const MAX_NAME_LENGTH = 64;
const VALID = /^[A-Za-z_][A-Za-z0-9_-]*$/;
/** The end of a hashed form. A plain form cannot end like this, so the two never collide. */
const HASHED = /_x[0-9a-z]{13}$/;
const HASH_LENGTH = 15;

export interface ToolIdentity {
  readonly server: string;
  readonly tool: string;
}

/** The name an agent sees for a server's tool. */
export function toToolName(preset: NamingPreset, { server, tool }: ToolIdentity): string {
  const { prefix, separator } = FORMS[preset];
  const plain = `${prefix}${server}${separator}${tool}`;
  return isPlain(plain, server, separator) ? plain : toHashedName(preset, { server, tool });
}

/** The shortened form, also used if a native tool already has the plain name. */
export function toHashedName(preset: NamingPreset, { server, tool }: ToolIdentity): string {
  const { prefix, separator } = FORMS[preset];
  const readable = `${prefix}${clean(server).slice(0, 20)}${separator}${clean(tool)}`.slice(
    0,
    MAX_NAME_LENGTH - HASH_LENGTH,
  );
  const start = /^[A-Za-z_]/.test(readable)
    ? readable
    : `t${readable}`.slice(0, MAX_NAME_LENGTH - HASH_LENGTH);
  return `${start}_x${nameHash(JSON.stringify([server, tool]))}`;
}

/** Server and tool of a plain name; undefined for a hashed one, which only the catalog can resolve. */
export function parseToolName(preset: NamingPreset, name: string): ToolIdentity | undefined {
  const { prefix, separator } = FORMS[preset];
  if (!name.startsWith(prefix) || HASHED.test(name)) return undefined;
  const rest = name.slice(prefix.length);
  const end = rest.indexOf(separator);
  if (end <= 0) return undefined;
  const identity = { server: rest.slice(0, end), tool: rest.slice(end + separator.length) };
  return toToolName(preset, identity) === name ? identity : undefined;
}

/** True for a name that is reserved for tools of MCP servers. */
export function isReservedName(preset: NamingPreset, name: string): boolean {
  const { prefix } = FORMS[preset];
  return (prefix !== '' && name.startsWith(prefix)) || HASHED.test(name);
}

/** The name of a prompt behind a gateway: unique like that of a tool, but of any length and any characters. */
export function toPromptName({
  server,
  prompt,
}: {
  readonly server: string;
  readonly prompt: string;
}): string {
  const { separator } = FORMS.server_tool;
  const plain = `${server}${separator}${prompt}`;
  return server.includes(separator) || HASHED.test(plain)
    ? toHashedName('server_tool', { server, tool: prompt })
    : plain;
}

/** The display name: `server:tool`. */
export function toDisplayName({ server, tool }: ToolIdentity): string {
  return `${server}:${tool}`;
}

export function isValidName(name: string): boolean {
  return name.length <= MAX_NAME_LENGTH && VALID.test(name);
}

/** From the left, the first separator must be the one between server and tool. */
function isPlain(name: string, server: string, separator: string): boolean {
  return (
    isValidName(name) &&
    !HASHED.test(name) &&
    server !== '' &&
    !server.includes(separator) &&
    !server.endsWith('_')
  );
}

function clean(text: string): string {
  return text.replace(/[^A-Za-z0-9_-]+/g, '-').replace(/^-+|-+$/g, '');
}
