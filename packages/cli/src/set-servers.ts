/** Servers put into a configuration text in the form that it has: `servers` or `mcpServers`, a map or a list. */
import { findNodeAtLocation, getNodeValue, parseTree } from 'jsonc-parser';
import { setKey } from 'turnbuckle';

interface NamedServer {
  readonly name: string;
  readonly config: Readonly<Record<string, unknown>>;
}

/** The text with these servers, which it does not have yet. */
export function setServers(text: string, servers: readonly NamedServer[]): string {
  const [key, isList] = placeOf(text);
  return servers.reduce(
    (result, { name, config }) =>
      isList ? setKey(result, [key, -1], { name, ...config }) : setKey(result, [key, name], config),
    text,
  );
}

function placeOf(text: string): [key: string, isList: boolean] {
  const root = parseTree(text.replace(/^\ufeff/, ''), [], { allowTrailingComma: true });
  for (const key of ['servers', 'mcpServers']) {
    const node = root === undefined ? undefined : findNodeAtLocation(root, [key]);
    if (node !== undefined && getNodeValue(node) !== null) return [key, node.type === 'array'];
  }
  return ['servers', false];
}
