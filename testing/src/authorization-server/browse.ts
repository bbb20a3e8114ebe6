/** A headless browser: keeps cookies, follows redirects, and submits the form of a page. */

const MAX_STEPS = 20;

interface Page {
  readonly url: string;
  readonly init: RequestInit;
}

export interface BrowseResult {
  /** The URL of the last page. */
  readonly url: string;
  readonly status: number;
  readonly text: string;
}

export interface BrowseOptions {
  /** Stops before it opens a URL with this prefix, like a browser on another machine. */
  readonly until?: string | undefined;
}

/** Opens the page and follows redirects and forms until there are none left. */
export async function browse(address: string, { until }: BrowseOptions = {}): Promise<BrowseResult> {
  const cookies = new Map<string, string>();
  let page: Page = { url: address, init: {} };
  for (let step = 0; step < MAX_STEPS; step += 1) {
    if (until !== undefined && page.url.startsWith(until)) return { url: page.url, status: 0, text: '' };
    const headers = new Headers(page.init.headers);
    headers.set('cookie', [...cookies].map(([name, value]) => `${name}=${value}`).join('; '));
    const response = await fetch(page.url, { ...page.init, headers, redirect: 'manual' });
    for (const cookie of response.headers.getSetCookie()) storeCookie(cookies, cookie);
    const text = await response.text();
    const next = nextPage(page.url, response.headers.get('location'), text);
    if (next === undefined) return { url: page.url, status: response.status, text };
    page = next;
  }
  throw new Error(`no end after ${MAX_STEPS} pages: ${page.url}`);
}

function storeCookie(cookies: Map<string, string>, cookie: string): void {
  const [pair = ''] = cookie.split(';');
  const cut = pair.indexOf('=');
  const value = pair.slice(cut + 1);
  if (value === '') cookies.delete(pair.slice(0, cut));
  else cookies.set(pair.slice(0, cut), value);
}

function nextPage(from: string, location: string | null, text: string): Page | undefined {
  if (location !== null) return { url: new URL(location, from).href, init: {} };
  const [, form = '', inside = ''] = /<form([^>]*)>([\s\S]*?)<\/form>/.exec(text) ?? [];
  const action = attribute(form, 'action');
  if (action === undefined) return undefined;
  const body = new URLSearchParams();
  for (const [input] of inside.matchAll(/<input[^>]*>/g)) {
    const name = attribute(input, 'name');
    if (name !== undefined) body.set(name, attribute(input, 'value') ?? '');
  }
  return { url: new URL(action, from).href, init: { method: 'POST', body } };
}

const attribute = (tag: string, name: string): string | undefined =>
  new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1]?.replaceAll('&amp;', '&');
