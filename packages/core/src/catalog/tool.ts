/** A tool in the catalog, and the conversion from an entry of a server's list. */

import { scanHeaderParameters } from '../connection/transports/http/mcp-headers.js';
import { isRecord } from '../json/is-record.js';
import type { Flag } from './flags.js';
import { type NamingPreset, toDisplayName, toToolName } from './names.js';
import { findLimitFault, type SchemaLimits } from './schemas/schema-limits.js';

export interface ToolAnnotations {
  readonly title?: string;
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint?: boolean;
}

export interface CatalogTool {
  /** The name an agent sees and calls it by. */
  readonly name: string;
  readonly server: string;
  /** Its name at its server. */
  readonly tool: string;
  readonly displayName: string;
  readonly title: string | undefined;
  readonly description: string | undefined;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly outputSchema: Readonly<Record<string, unknown>> | undefined;
  readonly annotations: ToolAnnotations | undefined;
  /** A function of the host, not an MCP tool. */
  readonly native: boolean;
  /** Flags of its texts: codes from `FLAGS`. */
  readonly flags: readonly Flag[];
  /** The definition exactly as the server wrote it, including unknown fields and `_meta`. */
  readonly definition: Readonly<Record<string, unknown>>;
}

export interface ReadToolOptions {
  readonly server: string;
  readonly naming: NamingPreset;
  readonly describePrefix: boolean;
  readonly limits: SchemaLimits;
  /** Only HTTP copies arguments into headers, so only there an invalid declaration matters. */
  readonly usesHeaders: boolean;
}

const MAX_TOOL_NAME_LENGTH = 256;
const MAX_DESCRIPTION_LENGTH = 32 * 1_024;

/** The tool, or why the entry is unusable. */
export function readTool(entry: unknown, reading: ReadToolOptions): CatalogTool | string {
  if (!isRecord(entry)) return 'the entry is not an object';
  const { name, inputSchema, outputSchema } = entry;
  if (typeof name !== 'string' || name === '') return 'it has no name';
  if (name.length > MAX_TOOL_NAME_LENGTH)
    return `its name has ${name.length} characters, maximum ${MAX_TOOL_NAME_LENGTH}`;
  if (/[\p{Cc}\p{Cs}]/u.test(name)) return 'its name has control characters';
  if (!isRecord(inputSchema)) return 'its input schema is not an object';
  if (inputSchema.type !== undefined && inputSchema.type !== 'object')
    return 'its input schema does not describe an object';
  const fault =
    findLimitFault(inputSchema, reading.limits) ??
    (isRecord(outputSchema) ? findLimitFault(outputSchema, reading.limits) : undefined);
  if (fault !== undefined) return fault;
  if (reading.usesHeaders) {
    const scan = scanHeaderParameters(inputSchema);
    if ('fault' in scan) return scan.fault;
  }
  return toCatalogTool(
    entry,
    { name, inputSchema, outputSchema: isRecord(outputSchema) ? outputSchema : undefined },
    reading,
  );
}

function toCatalogTool(
  definition: Record<string, unknown>,
  read: {
    name: string;
    inputSchema: Record<string, unknown>;
    outputSchema: Record<string, unknown> | undefined;
  },
  { server, naming, describePrefix }: ReadToolOptions,
): CatalogTool {
  const identity = { server, tool: read.name };
  const annotations = isRecord(definition.annotations) ? readAnnotations(definition.annotations) : undefined;
  const description =
    typeof definition.description === 'string'
      ? definition.description.slice(0, MAX_DESCRIPTION_LENGTH)
      : undefined;
  return {
    name: toToolName(naming, identity),
    ...identity,
    displayName: toDisplayName(identity),
    title: typeof definition.title === 'string' ? definition.title : annotations?.title,
    description: describePrefix ? `[MCP:${server}] ${description ?? ''}`.trimEnd() : description,
    inputSchema: read.inputSchema,
    outputSchema: read.outputSchema,
    annotations,
    native: false,
    flags: [],
    definition,
  };
}

/** Only well-typed hints count: "readOnlyHint": "yes" must not relax anything. */
export function readAnnotations(raw: Readonly<Record<string, unknown>>): ToolAnnotations {
  const hint = (key: string): Record<string, boolean> =>
    typeof raw[key] === 'boolean' ? { [key]: raw[key] } : {};
  return {
    ...(typeof raw.title === 'string' && { title: raw.title }),
    ...hint('readOnlyHint'),
    ...hint('destructiveHint'),
    ...hint('idempotentHint'),
    ...hint('openWorldHint'),
  };
}
