/** Texts that clients keep for us: sealed, so that nothing has to be remembered, and open only for whose they are. */
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

export class Seal {
  readonly #key: Buffer;
  readonly #maxCharacters: number;

  constructor(key: Buffer, maxCharacters: number) {
    this.#key = key;
    this.#maxCharacters = maxCharacters;
  }

  close(text: string, identity: string): string {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(CIPHER, this.#key, iv).setAAD(Buffer.from(identity));
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64url');
  }

  /** Undefined for what was not sealed with this key, or not for this identity. */
  open(sealed: unknown, identity: string): string | undefined {
    if (typeof sealed !== 'string' || sealed.length > this.#maxCharacters) return undefined;
    const bytes = Buffer.from(sealed, 'base64url');
    if (bytes.length <= IV_BYTES + TAG_BYTES) return undefined;
    try {
      const decipher = createDecipheriv(CIPHER, this.#key, bytes.subarray(0, IV_BYTES))
        .setAAD(Buffer.from(identity))
        .setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
      return Buffer.concat([
        decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)),
        decipher.final(),
      ]).toString();
    } catch {
      return undefined;
    }
  }
}

/** A key of its own for each use, so that nothing that was sealed for one opens for another. */
export const keyFor = (use: string, key: Buffer): Buffer => createHmac('sha256', key).update(use).digest();
