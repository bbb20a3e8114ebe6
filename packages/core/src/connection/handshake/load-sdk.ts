/** The SDK's client, loaded at the first connection: it costs more to load than everything else together. */
import { retryableOnce } from '../retryable-once.js';

type Sdk = typeof import('@modelcontextprotocol/client');

export const loadSdk: () => Promise<Sdk> = retryableOnce(() => import('@modelcontextprotocol/client'));
