/**
 * `Mcp-Param-*` headers of the 2026-07-28 revision: which arguments a tool wants mirrored into headers
 * (`x-mcp-header` in its schema), whether that declaration is valid, and the headers for one call.
 */

export interface HeaderParameter {
  readonly header: string;
  readonly path: readonly string[];
}

export type HeaderScan = { readonly parameters: readonly HeaderParameter[] } | { readonly fault: string };

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const ALLOWED_TYPES = new Set<unknown>(['string', 'integer', 'boolean']);
const HEADER_KEYWORD = 'x-mcp-header';

/** The header parameters that a tool's schema declares, or why the declaration is invalid. */
export function scanHeaderParameters(schema: object): HeaderScan {
  const parameters: HeaderParameter[] = [];
  const fault = visitSchema(schema, { path: [], reachable: false, parameters });
  return fault === undefined ? { parameters } : { fault };
}

interface SchemaPosition {
  readonly path: readonly string[];
  /** Reachable only through a chain of `properties`. */
  readonly reachable: boolean;
  readonly parameters: HeaderParameter[];
}

function visitSchema(node: unknown, at: SchemaPosition): string | undefined {
  if (typeof node !== 'object' || node === null) return undefined;
  if (HEADER_KEYWORD in node && !Array.isArray(node)) {
    const fault = addParameter(node, at);
    if (fault !== undefined) return fault;
  }
  for (const [key, value] of Object.entries(node)) {
    if (
      key === HEADER_KEYWORD ||
      key === 'enum' ||
      key === 'const' ||
      key === 'default' ||
      key === 'examples'
    )
      continue;
    const isProperties =
      key === 'properties' &&
      (at.reachable || at.path.length === 0) &&
      typeof value === 'object' &&
      value !== null;
    const children: Array<[string, unknown]> = isProperties ? Object.entries(value) : [[key, value]];
    for (const [name, child] of children) {
      const fault = visitSchema(child, {
        path: [...at.path, name],
        reachable: isProperties,
        parameters: at.parameters,
      });
      if (fault !== undefined) return fault;
    }
  }
  return undefined;
}

function addParameter(node: object, { path, reachable, parameters }: SchemaPosition): string | undefined {
  const header: unknown = Reflect.get(node, HEADER_KEYWORD);
  const where = path.length === 0 ? 'the schema' : path.join('.');
  if (!reachable) return `${where} has ${HEADER_KEYWORD}, which is allowed only in the properties of objects`;
  if (typeof header !== 'string' || !TOKEN.test(header))
    return `the ${HEADER_KEYWORD} in ${where} is not a valid header name`;
  if (!ALLOWED_TYPES.has(Reflect.get(node, 'type')))
    return `${where} has ${HEADER_KEYWORD}, which is allowed only for strings, integers and booleans`;
  const taken = parameters.some((other) => other.header.toLowerCase() === header.toLowerCase());
  if (taken) return `${where} declares the header ${header}, which another property already declares`;
  parameters.push({ header, path });
  return undefined;
}

/** The headers of one call; absent, null and non-primitive values are left out. */
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

/** A header value that is safe to send: printable ASCII unchanged, anything else in base64 as the revision defines. */
export function encodeHeaderValue(value: string): string {
  const plain =
    /^[\x21-\x7e]([\t\x20-\x7e]*[\x21-\x7e])?$/.test(value) &&
    !(value.startsWith('=?base64?') && value.endsWith('?='));
  return plain ? value : `=?base64?${Buffer.from(value, 'utf8').toString('base64')}?=`;
}
