/** What a route is: data for the router, the doors and the OpenAPI document, and the code behind it. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Caller } from 'turnbuckle';
import type * as z from 'zod/mini';

/** What a token must be good for: nothing, making calls, looking, or changing things. */
export type Access = 'open' | 'call' | 'look' | 'manage';

export interface Visit {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL;
  /** The parts of the path that the route leaves open. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly caller: Caller;
  /** Ends when the client has gone. */
  readonly signal: AbortSignal;
}

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Segments beginning with a colon are open: `/servers/:name`. */
  readonly path: string;
  readonly access: Access;
  readonly summary: string;
  readonly body?: z.ZodMiniType | undefined;
  readonly answer?: z.ZodMiniType | undefined;
  /** What it returns is sent as JSON; nothing: it has answered itself. */
  readonly handle: (visit: Visit) => unknown;
}

interface Found {
  readonly route: Route;
  readonly parameters: Readonly<Record<string, string>>;
}

/** Finds routes by method and path; the fixed ones by one look, whatever their number. */
export class Router {
  readonly #fixed = new Map<string, Route>();
  readonly #open: ReadonlyArray<{ readonly route: Route; readonly segments: readonly string[] }>;
  readonly routes: readonly Route[];

  constructor(routes: readonly Route[]) {
    this.routes = routes;
    for (const route of routes) if (!route.path.includes(':')) this.#fixed.set(`${route.method} ${route.path}`, route);
    this.#open = routes
      .filter(({ path }) => path.includes(':'))
      .map((route) => ({ route, segments: route.path.split('/') }));
  }

  find(method: string, path: string): Found | undefined {
    const fixed = this.#fixed.get(`${method} ${path}`);
    if (fixed !== undefined) return { route: fixed, parameters: {} };
    const given = path.split('/');
    for (const { route, segments } of this.#open) {
      if (route.method !== method || segments.length !== given.length) continue;
      const parameters = match(segments, given);
      if (parameters !== undefined) return { route, parameters };
    }
    return undefined;
  }

  /** The methods that the path knows. */
  methodsOf(path: string): string[] {
    const methods = new Set(this.routes.map((route) => route.method));
    return [...methods].filter((method) => this.find(method, path) !== undefined);
  }
}

function match(segments: readonly string[], given: readonly string[]): Record<string, string> | undefined {
  const parameters: Record<string, string> = {};
  for (const [index, segment] of segments.entries()) {
    const part = given[index] ?? '';
    if (!segment.startsWith(':')) {
      if (segment !== part) return undefined;
      continue;
    }
    try {
      parameters[segment.slice(1)] = decodeURIComponent(part);
    } catch {
      return undefined;
    }
  }
  return parameters;
}
