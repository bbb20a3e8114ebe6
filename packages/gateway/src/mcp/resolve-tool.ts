import type { Runtime } from 'turnbuckle';
import type { DispatcherRequest, ToolCall } from './dispatcher-request.js';
import type { View } from './view.js';

/** Names of the whole catalog are resolved by the runtime: one may belong to a server that is not connected yet. */
export function resolveTool(
  { name, arguments: args }: Pick<ToolCall, 'arguments'> & { readonly name: string },
  { caller, state }: Pick<DispatcherRequest, 'caller' | 'state'>,
  { view, runtime }: { readonly view: View; readonly runtime: Pick<Runtime, 'toolsForAgent'> },
): ToolCall {
  const onlyFor = state && { server: state.server, tool: state.item };
  if (view.options.names !== 'plain')
    return {
      server: undefined,
      tool: name,
      arguments: args,
      isUnlisted: false,
      calledAs: undefined,
      onlyFor,
    };
  const found = view.findTool(name, caller);
  const others = (): string[] =>
    runtime.toolsForAgent(caller).flatMap((tool) => view.nameOf(tool, caller) ?? []);
  return {
    server: found?.server,
    tool: found?.tool ?? name,
    arguments: args,
    isUnlisted: found === undefined,
    calledAs: { name, others },
    onlyFor,
  };
}
