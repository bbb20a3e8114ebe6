/** The parsed URL, or undefined if the text is not one. */
export function parseUrl(text: string | URL, base?: URL): URL | undefined {
  // Not URL.parse: the oldest supported Node does not have it.
  return URL.canParse(String(text), base?.href) ? new URL(text, base) : undefined;
}
