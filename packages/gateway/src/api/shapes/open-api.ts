/** The OpenAPI document, made from the route tables: what is not in a table is not served, and the other way round. */
import * as z from 'zod/mini';
import type { ApiRoute } from '../../http/api-route.js';
import type { Route } from '../../http/route.js';
import { ERROR_DATA } from '../../http/safe-data.js';

type Json = Record<string, unknown>;

const ERROR_RESPONSE = z.object({
  success: z.literal(false),
  error: z.string(),
  code: z.string(),
  hint: z.optional(z.string()),
  server: z.optional(z.string()),
  tool: z.optional(z.string()),
  data: z.optional(ERROR_DATA),
});

const DESCRIPTION =
  'Every route needs a token in the header "Authorization: Bearer <token>", except routes whose x-access is "open". ' +
  'For all other routes, x-access is the access that the token needs: "call", "read" or "admin".';

/** OpenAPI 3.1 for these routes. */
export function toOpenApi(routes: readonly (Route | ApiRoute)[], version: string): Json {
  const bodies = z.registry<{ id?: string | undefined }>();
  const answers = z.registry<{ id?: string | undefined }>();
  answers.add(ERROR_RESPONSE, { id: 'Refusal' });
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const name = operationIdOf(route);
    if (route.body !== undefined && !bodies.has(route.body)) bodies.add(route.body, { id: `${name}Body` });
    if (route.response !== undefined && !answers.has(route.response))
      answers.add(route.response, { id: `${name}Answer` });
    const path = route.path.replaceAll(/\/:([^/]+)/g, '/{$1}');
    paths[path] = {
      ...paths[path],
      [route.method.toLowerCase()]: toOperation(route, {
        body: route.body && bodies.get(route.body)?.id,
        response: route.response && answers.get(route.response)?.id,
      }),
    };
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Turnbuckle', version, description: DESCRIPTION },
    security: [{ token: [] }],
    paths,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      schemas: { ...schemasOf(bodies, 'input'), ...schemasOf(answers, 'output') },
    },
  };
}

interface SchemaIds {
  readonly body: string | undefined;
  readonly response: string | undefined;
}

function toOperation(route: Route | ApiRoute, { body, response }: SchemaIds): Json {
  const mediaType = ('mediaType' in route ? route.mediaType : undefined) ?? 'application/json';
  const content = (id: string | undefined): Json =>
    id === undefined ? { [mediaType]: {} } : { [mediaType]: { schema: toReference(id) } };
  return {
    operationId: operationIdOf(route),
    summary: route.summary,
    tags: [tagOf(route)],
    'x-access': route.access,
    ...(route.access === 'open' && { security: [] }),
    parameters: [...pathParameters(route), ...queryParameters(route)],
    ...(body !== undefined && {
      requestBody: { required: true, content: { 'application/json': { schema: toReference(body) } } },
    }),
    responses: {
      200: { description: 'Done', content: content(response) },
      default: {
        description: 'Refused',
        content: { 'application/json': { schema: toReference('Refusal') } },
      },
    },
  };
}

function schemasOf(registry: z.core.$ZodRegistry<{ id?: string | undefined }>, io: 'input' | 'output'): Json {
  const { schemas } = z.toJSONSchema(registry, {
    io,
    unrepresentable: 'any',
    uri: (id) => `#/components/schemas/${id}`,
  });
  return Object.fromEntries(
    Object.entries(schemas).map(([id, { $schema: _dialect, $id: _id, ...schema }]) => [id, schema]),
  );
}

const toReference = (id: string): Json => ({ $ref: `#/components/schemas/${id}` });

function pathParameters({ path }: Route): Json[] {
  return [...path.matchAll(/\/:([^/]+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
}

function queryParameters(route: Route | ApiRoute): Json[] {
  if (!('query' in route) || route.query === undefined) return [];
  const { properties = {}, required = [] } = z.toJSONSchema(route.query, {
    io: 'input',
    unrepresentable: 'any',
  });
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema,
  }));
}

/** `GET /api/servers/:name/sign-in` is `getApiServersByNameSignIn`. */
function operationIdOf({ method, path }: Route): string {
  const words = path
    .replaceAll('/:', '/by/')
    .split(/[^A-Za-z\d]+/)
    .filter((word) => word !== '');
  return [method.toLowerCase(), ...words.map((word) => word.charAt(0).toUpperCase() + word.slice(1))].join(
    '',
  );
}

const tagOf = ({ path }: Route): string => /^\/(?:api\/)?([^/:]+)/.exec(path)?.[1] ?? 'other';
