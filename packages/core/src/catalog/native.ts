/** Native tools: functions of the host next to the tools of servers. */
import type { Progress } from '../connection/lanes/lane.js';
import type { ClientResponder } from '../connection/server-requests/client-responders.js';
import { TurnbuckleError } from '../errors.js';
import type { ApprovalRequestData } from '../events.js';
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
   * Visible to every caller with any capability. Absent: to those with `mcp_integration`, `mcp:native` or
   * `mcp:native/<name>`.
   */
  readonly public?: boolean | undefined;
  /** Visible only to callers with exactly this capability; `mcp_integration` does not include it. */
  readonly capability?: string | undefined;
  /** False: an agent needs no approval unless a rule asks for one, since the tool itself asks before it changes anything. */
  readonly needsApproval?: false | undefined;
  /** The name may have the form of a name of a server's tool: for tools of Turnbuckle itself. */
  readonly hasReservedName?: true | undefined;
  /** One of the tools for resources and prompts: a view can switch them on and off. Its own reads have the time limits. */
  readonly resourceTool?: 'views' | 'everywhere' | undefined;
  /** Returns a value (the data of the result) or an MCP result. An exception is a failure of the tool. */
  readonly run: (input: Readonly<Record<string, unknown>>, context: NativeContext) => unknown;
}

export interface NativeContext {
  readonly signal: AbortSignal | undefined;
  readonly callerId: string | undefined;
  /** The caller; absent: the host itself. The tool acts with the caller's rights. */
  readonly caller?: Caller | undefined;
  /** Options of this call for the calls that the tool makes itself. */
  readonly nested?: NestedCallOptions | undefined;
}

export interface NestedCallOptions {
  readonly timeoutMs?: number | undefined;
  /** What is left of it. */
  readonly maxTotalMs?: number | undefined;
  readonly approvalWaitMs?: number | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  readonly onApproval?: ((asked: ApprovalRequestData) => void) | undefined;
  readonly responder?: ClientResponder | undefined;
}

/** The server name that native tools are listed under; a configured server cannot have it. */
export const NATIVE_SERVER = 'native';

export function toCatalogEntry(naming: NamingPreset, tool: NativeTool): CatalogTool {
  if (!isValidName(tool.name)) {
    throw new TurnbuckleError('NAME_TAKEN', `Invalid tool name "${tool.name.slice(0, 80)}".`, {
      hint: 'Use at most 64 characters (letters, digits, "_", "-"), starting with a letter.',
    });
  }
  if (tool.hasReservedName !== true && isReservedName(naming, tool.name)) {
    throw new TurnbuckleError(
      'NAME_TAKEN',
      `Tool name "${tool.name}" is reserved for tools from MCP servers.`,
      {
        hint: `Choose a name that does not have the form ${naming}.`,
      },
    );
  }
  assertSerializable(tool);
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
function assertSerializable({ name, inputSchema, outputSchema }: NativeTool): void {
  try {
    const text = JSON.stringify([inputSchema, outputSchema]);
    if (!isTextDeeperThan(text)) return;
  } catch {
    // Reported below.
  }
  throw new TurnbuckleError(
    'SCHEMA_UNUSABLE',
    `Tool "${name}" has a schema that cannot be represented as JSON.`,
    {
      tool: name,
      hint: 'Use plain data without circular references, BigInts or very deep nesting.',
    },
  );
}
