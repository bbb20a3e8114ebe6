import { randomBytes } from 'node:crypto';
import { createRequestStateCodec } from '@modelcontextprotocol/server';

/** What a client has to bring back unchanged: signed, so that a change shows. */
export const states = createRequestStateCodec({ key: randomBytes(32), ttlSeconds: 600 });
