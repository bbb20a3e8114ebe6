/** Functions of the host as tools beside those of the servers, under names of their own. */
import { TurnbuckleError } from '../errors.js';
import { isTextDeeperThan } from '../json/depth.js';
import type { Caller } from '../policy/capabilities.js';
import { isReservedName, isValidName, type NamingPreset } from './names.js';
import type { CatalogTool, ToolAnnotations } from './tool.js';

export interface NativeTool {
  readonly name: string;
  readonly description?: string | undefined;
  readonly title?: string | undefined;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly outputSchema?: Readonly<Record<string, unknown>> | undefined;
  readonly annotations?: ToolAnnotations | undefined;
  /**
   * For every caller that has any capability. Absent: for those with `mcp_integration`, `mcp:native` or
   * `mcp:native/<name>`.
   */
  readonly public?: boolean | undefined;
  /** Answers a value (becomes the result's data) or an MCP result. What it throws is the tool's failure. */
  readonly run: (input: Readonly<Record<string, unknown>>, context: NativeContext) => unknown;
}

export interface NativeContext {
  readonly signal: AbortSignal | undefined;
  readonly callerId: string | undefined;
  /** On whose behalf it runs; absent: the host itself. What it does for a caller, it does with the caller's rights. */
  readonly caller?: Caller | undefined;
}

/** The server name that native tools are listed under; a configured server cannot have it. */
export const NATIVE_SERVER = 'native';

export function toCatalogEntry(naming: NamingPreset, tool: NativeTool): CatalogTool {
  if (!isValidName(tool.name)) {
    throw new TurnbuckleError('NAME_TAKEN', `"${tool.name.slice(0, 80)}" cannot be the name of a tool.`, {
      hint: 'Use up to 64 letters, digits, "_" and "-", starting with a letter.',
    });
  }
  if (isReservedName(naming, tool.name)) {
    throw new TurnbuckleError('NAME_TAKEN', `"${tool.name}" is a name that an MCP tool may get.`, {
      hint: `Names in the form ${naming} are kept for the tools of servers.`,
    });
  }
  checkWritable(tool);
  return {
    name: tool.name,
    server: NATIVE_SERVER,
    tool: tool.name,
    displayName: tool.name,
    title: tool.title,
    description: tool.description,
    inputSchema: tool.inputSchema,
    outputSchema: tool.outputSchema,
    annotations: tool.annotations,
    native: true,
    flags: [],
    definition: { name: tool.name, description: tool.description, inputSchema: tool.inputSchema },
  };
}

/** Agents get the definition as JSON. */
function checkWritable({ name, inputSchema, outputSchema }: NativeTool): void {
  try {
    const text = JSON.stringify([inputSchema, outputSchema]);
    if (!isTextDeeperThan(text)) return;
  } catch {
    // Told below.
  }
  throw new TurnbuckleError('SCHEMA_UNUSABLE', `A schema of the tool "${name}" cannot be written as JSON.`, {
    tool: name,
    hint: 'Give plain data, without rings and BigInts, that is not nested hundreds of levels deep.',
  });
}
