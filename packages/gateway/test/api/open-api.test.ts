import { expect, it } from 'vitest';
import * as z from 'zod/mini';
import { toOpenApi } from '../../src/api/shapes/open-api.js';
import type { Route } from '../../src/http/route.js';
import { openStage } from './api-stage.js';

const OPERATION = z.looseObject({
  operationId: z.string(),
  summary: z.string().check(z.minLength(3)),
  parameters: z.array(
    z.strictObject({
      name: z.string(),
      in: z.enum(['path', 'query']),
      required: z.boolean(),
      schema: z.looseObject({}),
    }),
  ),
  requestBody: z.optional(
    z.strictObject({
      required: z.boolean(),
      content: z.record(z.string(), z.object({ schema: z.strictObject({ $ref: z.string() }) })),
    }),
  ),
  responses: z.record(
    z.string(),
    z.looseObject({ description: z.string(), content: z.record(z.string(), z.looseObject({})) }),
  ),
});
const DOCUMENT = z.strictObject({
  openapi: z.string().check(z.regex(/^3\.1\.\d$/)),
  info: z.looseObject({ title: z.string(), version: z.string() }),
  security: z.array(z.record(z.string(), z.array(z.string()))),
  paths: z.record(z.string().check(z.startsWith('/')), z.record(z.string(), OPERATION)),
  components: z.object({
    schemas: z.record(z.string().check(z.regex(/^[\w.-]+$/)), z.looseObject({})),
    securitySchemes: z.record(z.string(), z.looseObject({ type: z.string() })),
  }),
});

/** Every value under a key, however deep. */
function* valuesOf(key: string, value: unknown): Generator<unknown> {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, part] of Object.entries(value)) {
    if (name === key) yield part;
    yield* valuesOf(key, part);
  }
}

// requirement D3
it('describes every route, and every $ref resolves', async () => {
  const { ask, routes } = await openStage();
  const document = z.parse(DOCUMENT, (await ask('GET', '/openapi.json')).body);
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const described = operations.map(({ path, method }) => `${method.toUpperCase()} ${path}`).sort();
  const served = routes.map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`).sort();
  expect(described).toEqual(served);
  expect(new Set(operations.map(({ operation }) => operation.operationId)).size).toBe(operations.length);
  for (const { path, operation } of operations) {
    const open = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    const named = operation.parameters.filter((one) => one.in === 'path').map(({ name }) => name);
    expect(named).toEqual(open);
  }
  const references = [...valuesOf('$ref', document)].map(String);
  expect(references.length).toBeGreaterThan(routes.length);
  for (const reference of references) {
    const [, id = ''] = /^#\/components\/schemas\/(.+)$/.exec(reference) ?? [];
    expect([reference, id in document.components.schemas]).toEqual([reference, true]);
  }
  expect([...valuesOf('$schema', document), ...valuesOf('$id', document)]).toEqual([]);
  expect(document.paths['/api/calls']?.get?.parameters.map(({ name }) => name)).toContain('since');
  expect(document.paths['/health']?.get).toMatchObject({ security: [] });
});

it('describes routes of other modules, whatever their schemas are', () => {
  const shared = z.strictObject({ at: z.date(), list: z.lazy(() => z.array(z.string())) });
  const route = (method: Route['method']): Route => ({
    method,
    path: '/mcp/:view',
    access: 'call',
    summary: 'A route of others',
    body: shared,
    response: shared,
    handle: () => ({}),
  });
  const document = z.parse(DOCUMENT, toOpenApi([route('POST'), route('PUT')], '1'));
  expect(Object.keys(document.paths['/mcp/{view}'] ?? {})).toEqual(['post', 'put']);
  expect(Object.keys(document.components.schemas).sort()).toEqual([
    'Refusal',
    'postMcpByViewAnswer',
    'postMcpByViewBody',
  ]);
});
