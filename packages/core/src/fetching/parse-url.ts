/** The URL that a text means, or undefined if it means none. */
export function parseUrl(text: string | URL, base?: URL): URL | undefined {
  // Not URL.parse: the oldest supported Node does not have it.
  return URL.canParse(String(text), base?.href) ? new URL(text, base) : undefined;
}
