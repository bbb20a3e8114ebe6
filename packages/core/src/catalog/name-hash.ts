import { createHash } from 'node:crypto';

/** 13 characters of base 36. */
const RANGE = 36n ** 13n;

/** The start of a SHA-256 as 13 characters of base 36: nobody can make a text that has the hash of another one. */
export function nameHash(text: string): string {
  const value = BigInt(`0x${createHash('sha256').update(text).digest('hex')}`);
  return (value % RANGE).toString(36).padStart(13, '0');
}
