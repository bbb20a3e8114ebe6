import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { temporaryDirectory } from '@turnbuckle/testing';
import type { Runtime } from 'turnbuckle';
import { describe, expect, it } from 'vitest';
import { ownServer } from './own-server.js';
import { expectCalm, strainOf } from './strain.js';
import { withRuntime } from './with-runtime.js';

type Schema = Record<string, unknown>;

async function withTools(
  schemas: Record<string, Schema>,
  test: (runtime: Runtime) => Promise<void>,
): Promise<void> {
  const home = await temporaryDirectory();
  const file = home.file('tools.json');
  const tools = Object.entries(schemas).map(([name, inputSchema]) => ({ name, inputSchema }));
  await writeFile(file, JSON.stringify([...tools, { name: 'good', inputSchema: { type: 'object' } }]));
  await withRuntime({ servers: { listed: ownServer('listed-tools', file) } }, test);
  await home.remove();
}

const withValue = (value: Schema, more: Schema = {}): Schema => ({
  type: 'object',
  properties: { value },
  ...more,
});

const PATTERNS = [
  '^(a+)+$',
  '(a*)*b',
  '^(a|aa)+$',
  '(?:a?a?){30}b',
  '^(\\w+\\s?)*$',
  '(x+x+)+y',
  '(.*)*=',
  '^(?=(a+))\\1+$',
];

describe('schemas of untrusted servers', () => {
  it('cannot stall the host with a pattern', async () => {
    const schemas = Object.fromEntries(
      PATTERNS.flatMap((pattern, index) => [
        [`pattern_${index}`, withValue({ type: 'string', pattern })],
        [`keys_${index}`, { type: 'object', patternProperties: { [pattern]: { type: 'string' } } }],
      ]),
    );
    await withTools(schemas, async (runtime) => {
      await runtime.callTool('listed', 'good');
      const text = `${'a'.repeat(60)}!`;
      const { stallMs } = await strainOf(async () => {
        for (const tool of Object.keys(schemas))
          await runtime.execute(
            `mcp__listed__${tool}`,
            tool.startsWith('keys') ? { [text]: 'x' } : { value: text },
          );
      });
      expectCalm(stallMs);
      await expect(runtime.callTool('listed', 'good')).resolves.toBeDefined();
    });
  });

  it('cannot stall the host by recursion or by references that multiply', async () => {
    const doubling = Object.fromEntries(
      Array.from({ length: 40 }, (_, level) => {
        const next = { $ref: `#/$defs/d${level + 1}` };
        return [`d${level}`, { anyOf: [next, { allOf: [next] }] }];
      }),
    );
    const choice = {
      anyOf: Array.from({ length: 8 }, () => ({ properties: { next: { $ref: '#/$defs/node' } } })),
    };
    const schemas = {
      self: { type: 'object', properties: { self: { $ref: '#' } } },
      loop: withValue(
        { $ref: '#/$defs/a' },
        { $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } },
      ),
      around: withValue(
        { $ref: '#/$defs/a' },
        { $defs: { a: { anyOf: [{ type: 'null' }, { $ref: '#/$defs/a' }] } } },
      ),
      doubling: withValue({ $ref: '#/$defs/d0' }, { $defs: { ...doubling, d40: { type: 'string' } } }),
      choices: withValue({ $ref: '#/$defs/node' }, { $defs: { node: { type: 'object', ...choice } } }),
      dynamic: withValue({ $dynamicRef: '#' }),
      unevaluated: { type: 'object', unevaluatedProperties: { $ref: '#' } },
    };
    await withTools(schemas, async (runtime) => {
      await runtime.callTool('listed', 'good');
      const flat = { next: { next: { next: { next: { next: { next: 5 } } } } } };
      const { stallMs } = await strainOf(async () => {
        for (const tool of Object.keys(schemas)) {
          await runtime.execute(`mcp__listed__${tool}`, { value: flat });
          await runtime.execute(`mcp__listed__${tool}`, { value: { next: flat }, self: { self: {} } });
        }
      });
      expectCalm(stallMs);
      for (const tool of ['loop', 'around', 'doubling'])
        expect((await runtime.execute(`mcp__listed__${tool}`, { value: 1 })).failure?.code).toBe(
          'SCHEMA_UNUSABLE',
        );
      expect((await runtime.execute('mcp__listed__self', { self: { self: { self: {} } } })).success).toBe(
        true,
      );
      expect(await runtime.execute('mcp__listed__self', { self: 5 })).toMatchObject({
        success: false,
        failure: { code: 'ARGUMENTS_INVALID' },
      });
    });
  });

  it('are never fetched from the network', async () => {
    let hits = 0;
    const canary = createServer((_request, response) => {
      hits += 1;
      response.end('{"type":"string"}');
    });
    await new Promise<void>((resolve) => canary.listen(0, '127.0.0.1', resolve));
    const origin = `http://127.0.0.1:${(canary.address() as AddressInfo).port}`;
    const schemas = {
      ref: withValue({ $ref: `${origin}/schema.json` }),
      anchored: withValue({ $ref: `${origin}/schema.json#/$defs/a` }),
      dynamic: withValue({ $dynamicRef: `${origin}/schema.json#x` }),
      based: { $id: `${origin}/base/`, type: 'object', properties: { value: { $ref: 'schema.json' } } },
      dialect: { $schema: `${origin}/dialect`, type: 'object' },
      deep: withValue({ type: 'array', items: { anyOf: [{ $ref: `${origin}/x` }] } }),
    };
    await withTools(schemas, async (runtime) => {
      for (const tool of Object.keys(schemas))
        await expect(runtime.callTool('listed', tool, { value: ['x'] })).rejects.toMatchObject({
          code: 'SCHEMA_UNUSABLE',
          server: 'listed',
          tool,
        });
      await expect(runtime.callTool('listed', 'good')).resolves.toBeDefined();
    });
    canary.close();
    expect(hits).toBe(0);
  });
});
