/** The step "check" of a call: arguments before they are sent, results before they are handed on. */
import type { CallToolResult } from '@modelcontextprotocol/client';
import type { Fault, SchemaChecks } from './catalog/check.js';
import type { CatalogTool } from './catalog/tool.js';
import { TurnbuckleError } from './errors.js';
import { inOneStep, inSlices } from './json/slices.js';
import { hasMoreParts } from './json/write-large.js';

/** Throws ARGUMENTS_INVALID, or SCHEMA_UNUSABLE when there is nothing to check against. */
export function checkArguments(checks: SchemaChecks, tool: CatalogTool, args: unknown): void {
  const faults = checks.checkInput(tool, args);
  const about = { server: tool.server, tool: tool.tool };
  if ('fault' in faults) {
    throw new TurnbuckleError(
      'SCHEMA_UNUSABLE',
      `The input schema of "${tool.name}" cannot be used: ${faults.fault}.`,
      {
        ...about,
        hint: 'This is a defect of the server; its arguments cannot be checked.',
      },
    );
  }
  if (faults.length === 0) return;
  throw new TurnbuckleError(
    'ARGUMENTS_INVALID',
    `The arguments of "${tool.name}" do not fit its schema: ${list(faults)}.`,
    {
      ...about,
      hint: 'Nothing was sent. Correct the named arguments.',
      data: { faults },
    },
  );
}

const MAX_SHOWN = 20_000;

/** Throws RESULT_INVALID with the whole result in it: the tool did run. */
export function checkResult(checks: SchemaChecks, tool: CatalogTool, result: CallToolResult): void {
  const about = { server: tool.server, tool: tool.tool };
  if (result.content !== undefined && !Array.isArray(result.content)) {
    throw new TurnbuckleError(
      'PROTOCOL_VIOLATION',
      `The result of "${tool.name}" has content that is not a list.`,
      about,
    );
  }
  // A question, or what an extension answers in place of a result, has no output yet.
  const isWhole = result.resultType === undefined || result.resultType === 'complete';
  if (tool.outputSchema === undefined || result.isError === true || !isWhole) return;
  const faults =
    result.structuredContent === undefined
      ? [{ path: '', message: 'there is no structured content' }]
      : checks.checkOutput(tool, result.structuredContent);
  // A schema that cannot be applied says nothing about the result; the call itself did happen.
  if ('fault' in faults || faults.length === 0) return;
  throw new TurnbuckleError(
    'RESULT_INVALID',
    `The result of "${tool.name}" does not fit its output schema: ${list(faults)}.`,
    {
      ...about,
      // Errors are searched for secrets, which takes long for a large result.
      ...(hasMoreParts(result, MAX_SHOWN)
        ? { hint: 'The tool did run; its result is too large to be told here.', data: { faults } }
        : { hint: 'The tool did run; its whole result is in data.result.', data: { faults, result } }),
    },
  );
}

const list = (faults: readonly Fault[]): string =>
  faults.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('; ');

/** What is done with a large result takes time at each step: between them others have their turn. */
export const giveWay = (result: unknown): Promise<void> | undefined =>
  hasMoreParts(result, MAX_SHOWN) ? new Promise((resolve) => setImmediate(resolve)) : undefined;

/** Or so many times sixteen characters: less is looked through in a moment. */
const FEW_PARTS = 256;

/** Work with all of these values: at once, or in turn with other long work where there is much in them. */
export function inTurn(values: readonly unknown[], work: () => void): Promise<void> | void {
  return values.some((value) => hasMoreParts(value, FEW_PARTS)) ? inSlices(inOneStep(work)) : work();
}
