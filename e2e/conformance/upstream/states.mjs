import { randomBytes } from 'node:crypto';
import { createRequestStateCodec } from '@modelcontextprotocol/server';

/** Request states, which a client returns unchanged: signed, so that a change is detected. */
export const states = createRequestStateCodec({ key: randomBytes(32), ttlSeconds: 600 });
