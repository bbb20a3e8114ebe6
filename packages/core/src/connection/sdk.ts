/** The SDK's client, loaded at the first connection: it costs more to load than everything else together. */
type Sdk = typeof import('@modelcontextprotocol/client');

let loading: Promise<Sdk> | undefined;

export function loadSdk(): Promise<Sdk> {
  loading ??= import('@modelcontextprotocol/client');
  return loading;
}
