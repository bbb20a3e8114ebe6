import { loadSdk } from '../connection/handshake/load-sdk.js';

/**
 * Loads the modules that are otherwise loaded on first use (the SDK, the HTTP client, the schema compiler), for
 * programs that prefer a slower start to a slower first connection. Never required.
 */
export async function preload(): Promise<void> {
  await Promise.all([
    loadSdk(),
    import('../connection/transports/network-transport.js'),
    import('../config/layers/parse.js'),
    import('typebox/schema'),
    import('undici'),
    import('ws'),
  ]);
}
