/** The "validate" step of a call: arguments before sending, results before returning. */
import type { CallToolResult } from '@modelcontextprotocol/client';
import type { Fault, SchemaChecks } from '../catalog/schemas/schema-checks.js';
import type { CatalogTool } from '../catalog/tool.js';
import { SERVER_BUG_HINT, TurnbuckleError } from '../errors.js';
import { inOneStep, inSlices } from '../json/slices.js';
import { hasMorePartsThan } from '../json/write-large.js';

/** Throws ARGUMENTS_INVALID, or SCHEMA_UNUSABLE if the schema is unusable. */
export function checkArguments(checks: SchemaChecks, tool: CatalogTool, args: unknown): void {
  const faults = checks.checkInput(tool, args);
  const about = { server: tool.server, tool: tool.tool };
  if ('fault' in faults) {
    throw new TurnbuckleError(
      'SCHEMA_UNUSABLE',
      `Invalid input schema for tool "${tool.name}": ${faults.fault}.`,
      {
        ...about,
        hint: "Arguments cannot be validated. Report this bug to the server's authors.",
      },
    );
  }
  if (faults.length === 0) return;
  throw new TurnbuckleError(
    'ARGUMENTS_INVALID',
    `Invalid arguments for "${tool.name}": ${listFaults(faults)}.`,
    {
      ...about,
      hint: 'Nothing was sent. Correct the arguments named above.',
      data: { faults },
    },
  );
}

const LARGE_RESULT_PARTS = 20_000;

/** Throws RESULT_INVALID with the full result: the tool did run. */
export function checkResult(checks: SchemaChecks, tool: CatalogTool, result: CallToolResult): void {
  const about = { server: tool.server, tool: tool.tool };
  if (result.content !== undefined && !Array.isArray(result.content)) {
    throw new TurnbuckleError(
      'PROTOCOL_VIOLATION',
      `Invalid result from "${tool.name}": "content" is not an array.`,
      { ...about, hint: `The tool did run. ${SERVER_BUG_HINT}` },
    );
  }
  // A server request, or the result type of an extension, has no output yet.
  const isWhole = result.resultType === undefined || result.resultType === 'complete';
  if (tool.outputSchema === undefined || result.isError === true || !isWhole) return;
  const faults =
    result.structuredContent === undefined
      ? [{ path: '', message: 'structuredContent is missing' }]
      : checks.checkOutput(tool, result.structuredContent);
  // An unusable output schema says nothing about the result, and the call did run.
  if ('fault' in faults || faults.length === 0) return;
  throw new TurnbuckleError(
    'RESULT_INVALID',
    `The result of "${tool.name}" does not match the tool's output schema: ${listFaults(faults)}.`,
    {
      ...about,
      // Errors are redacted, which takes long for a large result.
      ...(hasMorePartsThan(result, LARGE_RESULT_PARTS)
        ? { hint: 'The tool did run. Its result is too large to include here.', data: { faults } }
        : { hint: 'The tool did run. Its full result is in data.result.', data: { faults, result } }),
    },
  );
}

const listFaults = (faults: readonly Fault[]): string =>
  faults.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('; ');

/** Large results take time at each step: yield in between. */
export const yieldIfLarge = (result: unknown): Promise<void> | undefined =>
  hasMorePartsThan(result, LARGE_RESULT_PARTS) ? new Promise((resolve) => setImmediate(resolve)) : undefined;

/** Or this many times 16 characters: less is scanned in no time. */
const SMALL_VALUE_PARTS = 256;

/** Runs the work immediately, or in slices if the values are large. */
export function runInSlicesIfLarge(values: readonly unknown[], work: () => void): Promise<void> | void {
  return values.some((value) => hasMorePartsThan(value, SMALL_VALUE_PARTS))
    ? inSlices(inOneStep(work))
    : work();
}
