/**
 * `Mcp-Param-*` headers of the 2026-07-28 revision: which arguments a tool wants mirrored into headers
 * (`x-mcp-header` in its schema), whether it asks for that correctly, and the headers for one call.
 */

export interface HeaderParameter {
  readonly header: string;
  readonly path: readonly string[];
}

export type HeaderScan = { readonly parameters: readonly HeaderParameter[] } | { readonly fault: string };

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const ALLOWED_TYPES = new Set<unknown>(['string', 'integer', 'boolean']);
const KEY = 'x-mcp-header';

/** The header parameters that a tool's schema declares, or why the declaration is invalid. */
export function scanHeaderParameters(schema: object): HeaderScan {
  const parameters: HeaderParameter[] = [];
  const fault = visit(schema, { path: [], reachable: false, parameters });
  return fault === undefined ? { parameters } : { fault };
}

interface Visit {
  readonly path: readonly string[];
  /** Only a chain of `properties` leads here. */
  readonly reachable: boolean;
  readonly parameters: HeaderParameter[];
}

function visit(node: unknown, at: Visit): string | undefined {
  if (typeof node !== 'object' || node === null) return undefined;
  if (KEY in node && !Array.isArray(node)) {
    const fault = declare(node, at);
    if (fault !== undefined) return fault;
  }
  for (const [key, value] of Object.entries(node)) {
    if (key === KEY || key === 'enum' || key === 'const' || key === 'default' || key === 'examples') continue;
    const isProperties =
      key === 'properties' &&
      (at.reachable || at.path.length === 0) &&
      typeof value === 'object' &&
      value !== null;
    const children: Array<[string, unknown]> = isProperties ? Object.entries(value) : [[key, value]];
    for (const [name, child] of children) {
      const fault = visit(child, {
        path: [...at.path, name],
        reachable: isProperties,
        parameters: at.parameters,
      });
      if (fault !== undefined) return fault;
    }
  }
  return undefined;
}

function declare(node: object, { path, reachable, parameters }: Visit): string | undefined {
  const header: unknown = Reflect.get(node, KEY);
  const where = path.length === 0 ? 'the schema' : path.join('.');
  if (!reachable) return `${where} may not carry ${KEY}: it is not a property that is always there`;
  if (typeof header !== 'string' || !TOKEN.test(header)) return `${where}: ${KEY} is not a valid header name`;
  if (!ALLOWED_TYPES.has(Reflect.get(node, 'type')))
    return `${where}: ${KEY} is only for strings, integers and booleans`;
  const taken = parameters.some((other) => other.header.toLowerCase() === header.toLowerCase());
  if (taken) return `${where}: the header ${header} is declared twice`;
  parameters.push({ header, path });
  return undefined;
}

/** The headers of one call; what is absent, null or not a plain value is left out. */
export function headersFor(parameters: readonly HeaderParameter[], args: unknown): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const { header, path } of parameters) {
    const value = path.reduce<unknown>(
      (node, key) => (typeof node === 'object' && node !== null ? Reflect.get(node, key) : undefined),
      args,
    );
    const isPlain = typeof value === 'string' || typeof value === 'boolean' || Number.isSafeInteger(value);
    if (isPlain) headers[`mcp-param-${header.toLowerCase()}`] = encodeHeaderValue(String(value));
  }
  return headers;
}

/** A header value that survives the wire: printable ASCII as it is, anything else in base64 as the revision says. */
export function encodeHeaderValue(value: string): string {
  const plain =
    /^[\x21-\x7e]([\t\x20-\x7e]*[\x21-\x7e])?$/.test(value) &&
    !(value.startsWith('=?base64?') && value.endsWith('?='));
  return plain ? value : `=?base64?${Buffer.from(value, 'utf8').toString('base64')}?=`;
}
