/** What is kept of a token: never the token itself, only its hash. */
import { hash, randomBytes } from 'node:crypto';
import * as z from 'zod/mini';
import type { TokenAccess } from '../http/access.js';

const PREFIX = 'tbk_';
/** Longer ones are none of ours and not worth hashing. */
const MAX_LENGTH = 64;

export const ACCESS = ['call', 'look', 'manage'] as const satisfies readonly TokenAccess[];

export const TokenRecord = z.strictObject({
  /** Also the id of the caller. It has no colon: those of other issuers have one. */
  name: z
    .string()
    .check(
      z.regex(
        /^[A-Za-z0-9][\w.@-]{0,63}$/,
        'expected up to 64 letters, digits and . _ @ -, beginning with a letter or digit',
      ),
    ),
  hash: z.string().check(z.regex(/^[0-9a-f]{64}$/)),
  access: z.array(z.enum(ACCESS)).check(z.minLength(1)),
  /** Capabilities of the caller, such as `mcp_github`. */
  can: z.array(
    z
      .string()
      .check(
        z.regex(
          /^mcp[_:]\S{1,250}$/,
          'expected a capability such as mcp_github, or mcp_integration for everything',
        ),
      ),
  ),
  createdAt: z.iso.datetime(),
  expiresAt: z.optional(z.iso.datetime()),
  /** The token that made it, or from which its maker comes; absent: its owner made it. */
  root: z.optional(z.string().check(z.maxLength(300))),
});

export type TokenRecord = z.infer<typeof TokenRecord>;

/** With 256 random bits, nobody finds one by trying. */
export function makeToken(): string {
  return `${PREFIX}${randomBytes(32).toString('base64url')}`;
}

export const isOwnToken = (token: string): boolean => token.startsWith(PREFIX) && token.length <= MAX_LENGTH;

/** Tokens are compared and found by this: how long that takes says nothing about the token. */
export const hashOf = (token: string): string => hash('sha256', token, 'hex');

/**
 * The identity of who comes with it. The name can be given to another token later; the hash, of a token that is made of
 * 256 random bits, never comes back.
 */
export const identityOfToken = ({ hash: whole }: TokenRecord): string => `token:${whole.slice(0, 32)}`;
