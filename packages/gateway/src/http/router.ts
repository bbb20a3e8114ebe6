/**
 * Finds routes by method and path. Paths are compared as they were sent, never tidied up first: what is
 * written in another way than the table has it is another path, and unknown.
 */
import type { Route } from './route.js';

export type Parameters = Readonly<Record<string, string>>;

export interface Found {
  readonly route: Route;
  /** The parts of the path that the route leaves open, decoded. */
  readonly parameters: Parameters;
}

interface Pattern {
  readonly route: Route;
  readonly segments: readonly string[];
}

const NONE: Parameters = Object.freeze({});

/** The fixed paths are found by one look, whatever their number; a fixed path hides an open one for all methods. */
export class Router {
  readonly routes: readonly Route[];
  readonly #fixed = new Map<string, Map<string, Found>>();
  readonly #patterns: readonly Pattern[];

  /** Throws a TypeError when two routes have the same method and path. */
  constructor(routes: readonly Route[]) {
    this.routes = routes;
    refuseTwins(routes);
    for (const route of routes) {
      if (isOpen(route)) continue;
      const methods = this.#fixed.get(route.path) ?? new Map<string, Found>();
      this.#fixed.set(route.path, methods.set(route.method, { route, parameters: NONE }));
    }
    this.#patterns = routes.filter(isOpen).map((route) => ({ route, segments: route.path.split('/') }));
  }

  find(method: string, path: string): Found | undefined {
    const fixed = this.#fixed.get(path);
    return fixed === undefined ? this.#match(path, method)[0] : fixed.get(method);
  }

  /** The methods that the path knows. */
  methodsOf(path: string): string[] {
    const fixed = this.#fixed.get(path);
    if (fixed !== undefined) return [...fixed.keys()];
    return [...new Set(this.#match(path).map(({ route }) => route.method))];
  }

  #match(path: string, method?: string): Found[] {
    const given = path.split('/');
    const found: Found[] = [];
    for (const { route, segments } of this.#patterns) {
      if (segments.length !== given.length || (method !== undefined && route.method !== method)) continue;
      const parameters = parametersOf(segments, given, route.anyNames === true ? DOTS : UNFIT);
      if (parameters !== undefined) found.push({ route, parameters });
    }
    return found;
  }
}

const isOpen = ({ path }: Route): boolean => path.includes('/:');

function refuseTwins(routes: readonly Route[]): void {
  const seen = new Set<string>();
  for (const { method, path } of routes) {
    const key = `${method} ${path.replaceAll(/\/:[^/]+/g, '/:')}`;
    if (seen.has(key)) throw new TypeError(`There are two routes for ${method} ${path}.`);
    seen.add(key);
  }
}

function parametersOf(
  segments: readonly string[],
  given: readonly string[],
  unfit: RegExp,
): Parameters | undefined {
  const parameters: Record<string, string> = {};
  for (const [index, segment] of segments.entries()) {
    const part = given[index] ?? '';
    if (!segment.startsWith(':')) {
      if (segment !== part) return undefined;
      continue;
    }
    const value = decoded(part);
    if (value === undefined || unfit.test(value)) return undefined;
    parameters[segment.slice(1)] = value;
  }
  return parameters;
}

/** Nothing that could be taken for more than one segment of a path by whoever gets it. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be in it
const UNFIT = /^\.{0,2}$|[/\\\u0000-\u001f\u007f]/;

/** Nothing, here, and one up: clients take these out of an address before they send it. */
const DOTS = /^\.{0,2}$/;

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}
