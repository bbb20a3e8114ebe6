/** A call as the policy sees it. */
import type { CatalogTool } from '../../catalog/tool.js';
import type { Subject } from '../../policy/decide.js';
import type { GuardedCall } from './guarded-call.js';

/** One function per tool: closures for every call are expensive. */
const flagReaders = new WeakMap<CatalogTool, () => CatalogTool['flags']>();

function flagsOf(tool: CatalogTool): () => CatalogTool['flags'] {
  const known = flagReaders.get(tool);
  if (known !== undefined) return known;
  const read = (): CatalogTool['flags'] => tool.flags;
  flagReaders.set(tool, read);
  return read;
}

export const toolSubject = (
  tool: CatalogTool,
  args?: Subject['arguments'],
  otherValues?: Subject['otherValues'],
): Subject => ({
  server: tool.server,
  tool: tool.tool,
  kind: 'tool',
  hints: tool.annotations,
  flags: flagsOf(tool),
  arguments: args,
  otherValues,
  definition: tool,
});

/** `definition`: the current one. */
export const callSubject = (
  { kind, server, tool, exactArguments: args, extras }: GuardedCall,
  definition: CatalogTool | undefined,
): Subject =>
  definition === undefined
    ? { server, tool, kind, hints: undefined, arguments: args, otherValues: extras }
    : toolSubject(definition, args, extras);
