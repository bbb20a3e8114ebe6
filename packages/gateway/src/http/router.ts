/**
 * Finds routes by method and path. Paths are compared as sent and never normalized: a path that is spelled differently
 * from the table is a different, unknown path.
 */
import type { Route } from './route.js';

export type Parameters = Readonly<Record<string, string>>;

export interface RouteMatch {
  readonly route: Route;
  /** The decoded path parameters. */
  readonly parameters: Parameters;
}

interface Pattern {
  readonly route: Route;
  readonly segments: readonly string[];
}

const NO_PARAMETERS: Parameters = Object.freeze({});

/** Fixed paths are looked up in a map; a fixed path hides a path with parameters, for all methods. */
export class Router {
  readonly routes: readonly Route[];
  readonly #fixed = new Map<string, Map<string, RouteMatch>>();
  readonly #patterns: readonly Pattern[];

  /** Throws a TypeError if two routes have the same method and path. */
  constructor(routes: readonly Route[]) {
    this.routes = routes;
    rejectDuplicateRoutes(routes);
    for (const route of routes) {
      if (hasParameters(route)) continue;
      const methods = this.#fixed.get(route.path) ?? new Map<string, RouteMatch>();
      this.#fixed.set(route.path, methods.set(route.method, { route, parameters: NO_PARAMETERS }));
    }
    this.#patterns = routes
      .filter(hasParameters)
      .map((route) => ({ route, segments: route.path.split('/') }));
  }

  find(method: string, path: string): RouteMatch | undefined {
    const fixed = this.#fixed.get(path);
    return fixed === undefined ? this.#match(path, method)[0] : fixed.get(method);
  }

  /** The methods that the path supports. */
  methodsOf(path: string): string[] {
    const fixed = this.#fixed.get(path);
    if (fixed !== undefined) return [...fixed.keys()];
    return [...new Set(this.#match(path).map(({ route }) => route.method))];
  }

  #match(path: string, method?: string): RouteMatch[] {
    const given = path.split('/');
    const found: RouteMatch[] = [];
    for (const { route, segments } of this.#patterns) {
      if (segments.length !== given.length || (method !== undefined && route.method !== method)) continue;
      const parameters = parametersOf(
        segments,
        given,
        route.anyNames === true ? DOT_SEGMENT : UNSAFE_SEGMENT,
      );
      if (parameters !== undefined) found.push({ route, parameters });
    }
    return found;
  }
}

const hasParameters = ({ path }: Route): boolean => path.includes('/:');

function rejectDuplicateRoutes(routes: readonly Route[]): void {
  const seen = new Set<string>();
  for (const { method, path } of routes) {
    const key = `${method} ${path.replaceAll(/\/:[^/]+/g, '/:')}`;
    if (seen.has(key)) throw new TypeError(`Duplicate route: ${method} ${path}.`);
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
    const value = decodeSegment(part);
    if (value === undefined || unfit.test(value)) return undefined;
    parameters[segment.slice(1)] = value;
  }
  return parameters;
}

/** Rejects what a later reader could take for more than one path segment. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be in it
const UNSAFE_SEGMENT = /^\.{0,2}$|[/\\\u0000-\u001f\u007f]/;

/** Empty, `.` and `..`: clients remove these from a URL before they send it. */
const DOT_SEGMENT = /^\.{0,2}$/;

function decodeSegment(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}
