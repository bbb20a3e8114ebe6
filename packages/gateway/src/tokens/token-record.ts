/** The stored record of a token: never the token itself, only its hash. */
import { hash, randomBytes } from 'node:crypto';
import { ACCESS_SCHEMA } from 'turnbuckle/host';
import * as z from 'zod/mini';

const PREFIX = 'tbk_';
/** Longer texts are not our tokens and not worth hashing. */
const MAX_TOKEN_CHARACTERS = 64;

export const TokenRecord = z.strictObject({
  /** Also the id of the caller. It has no colon, unlike the ids of an issuer. */
  name: z
    .string()
    .check(
      z.regex(
        /^[A-Za-z0-9][\w.@-]{0,63}$/,
        'expected at most 64 characters (letters, digits, ".", "_", "@", "-"), starting with a letter or digit',
      ),
    ),
  hash: z.string().check(z.regex(/^[0-9a-f]{64}$/)),
  access: z.array(ACCESS_SCHEMA).check(z.minLength(1)),
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
  /** The root: the token that created it, or that one's root; absent: the owner created it. */
  root: z.optional(z.string().check(z.maxLength(300))),
});

export type TokenRecord = z.infer<typeof TokenRecord>;

/** 256 random bits cannot be guessed. */
export function makeToken(): string {
  return `${PREFIX}${randomBytes(32).toString('base64url')}`;
}

export const isOwnToken = (token: string): boolean =>
  token.startsWith(PREFIX) && token.length <= MAX_TOKEN_CHARACTERS;

/** Tokens are looked up by hash, so that the timing reveals nothing about the token. */
export const hashOf = (token: string): string => hash('sha256', token, 'hex');

/**
 * The identity of its bearer. A name can be given to another token later; the hash of 256 random bits never occurs
 * again.
 */
export const identityOfToken = ({ hash: whole }: TokenRecord): string => `token:${whole.slice(0, 32)}`;
