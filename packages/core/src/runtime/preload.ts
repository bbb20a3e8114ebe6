import { loadSdk } from './connection/sdk.js';

/**
 * Loads ahead what is otherwise loaded when first needed (the SDK, the HTTP client, the schema compiler):
 * for programs that would rather pay at start-up than at the first connection. Never needed for correctness.
 */
export async function preload(): Promise<void> {
  await Promise.all([
    loadSdk(),
    import('./connection/network-carriers.js'),
    import('./config/parse.js'),
    import('typebox/schema'),
    import('undici'),
    import('ws'),
  ]);
}
