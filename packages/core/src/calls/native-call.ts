/** Runs a native tool: its return value becomes an MCP result, an exception becomes an `isError` result. */
import type { CallToolResult } from '@modelcontextprotocol/client';
import { untilAborted } from '../async/until-aborted.js';
import type { NativeContext, NativeTool } from '../catalog/native.js';
import { TurnbuckleError } from '../errors.js';
import { isRecord } from '../json/is-record.js';
import { NativeResults } from './native-results.js';

export async function runNative(
  tool: NativeTool,
  input: Readonly<Record<string, unknown>>,
  context: NativeContext,
): Promise<CallToolResult> {
  try {
    const value = await untilAborted(async () => tool.run(input, context), context.signal);
    if (isRecord(value) && Array.isArray(value.content)) return value as CallToolResult;
    return await new NativeResults(context).whole(value);
  } catch (thrown) {
    if (thrown instanceof TurnbuckleError) throw thrown;
    const text = thrown instanceof Error ? thrown.message : String(thrown);
    return { content: [{ type: 'text', text }], isError: true };
  }
}
