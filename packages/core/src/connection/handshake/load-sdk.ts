/** Loads the SDK's client at the first connection: it costs more than everything else together. */
import { retryableOnce } from '../../async/retryable-once.js';

type Sdk = typeof import('@modelcontextprotocol/client');

export const loadSdk: () => Promise<Sdk> = retryableOnce(() => import('@modelcontextprotocol/client'));
