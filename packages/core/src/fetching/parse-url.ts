/** The parsed URL, or undefined if the text is not one. */
export function parseUrl(text: string | URL, base?: URL): URL | undefined {
  // Neither URL.parse, which the oldest supported Node does not have, nor URL.canParse: once it is optimized, Node 20
  // rejects names with letters such as Ü.
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}
