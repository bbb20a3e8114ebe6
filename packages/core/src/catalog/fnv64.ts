/** FNV-1a, 64 bits, as 13 characters of base 36: short, stable everywhere, no cryptography needed. */
export function fnv64(text: string): string {
  let high = 0xcbf29ce4;
  let low = 0x84222325;
  for (const byte of new TextEncoder().encode(text)) {
    low ^= byte;
    // 64-bit multiplication by the FNV prime 2^40 + 0x1b3 in two 32-bit halves.
    const product = (low >>> 0) * 0x1b3;
    const carry = Math.floor(product / 0x1_0000_0000);
    high = (Math.imul(high, 0x1b3) + carry + (low << 8)) >>> 0;
    low = product >>> 0;
  }
  const value = (BigInt(high) << 32n) | BigInt(low >>> 0);
  return value.toString(36).padStart(13, '0');
}
