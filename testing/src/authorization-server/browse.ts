/** A browser without a screen: keeps cookies, follows redirects, and submits the one form that a page has. */

const MAX_STEPS = 20;

interface Page {
  readonly url: string;
  readonly init: RequestInit;
}

export interface Visited {
  /** Where it ended. */
  readonly url: string;
  readonly status: number;
  readonly text: string;
}

export interface VisitOptions {
  /** Ends before it opens an address that begins like this: such a browser is on another machine. */
  readonly until?: string | undefined;
}

/** Goes to the page and on from there, until there is nothing more to follow. */
export async function visit(address: string, { until }: VisitOptions = {}): Promise<Visited> {
  const cookies = new Map<string, string>();
  let page: Page = { url: address, init: {} };
  for (let step = 0; step < MAX_STEPS; step += 1) {
    if (until !== undefined && page.url.startsWith(until)) return { url: page.url, status: 0, text: '' };
    const headers = new Headers(page.init.headers);
    headers.set('cookie', [...cookies].map(([name, value]) => `${name}=${value}`).join('; '));
    const response = await fetch(page.url, { ...page.init, headers, redirect: 'manual' });
    for (const cookie of response.headers.getSetCookie()) keep(cookies, cookie);
    const text = await response.text();
    const next = nextPage(page.url, response.headers.get('location'), text);
    if (next === undefined) return { url: page.url, status: response.status, text };
    page = next;
  }
  throw new Error(`no end after ${MAX_STEPS} pages: ${page.url}`);
}

function keep(cookies: Map<string, string>, cookie: string): void {
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
