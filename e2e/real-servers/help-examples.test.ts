/** The published servers have everything that the examples of the help use: the tests that run the examples use stand-ins. */
import { mkdtempSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createRuntime } from 'turnbuckle';
import { afterAll, expect, it } from 'vitest';
import { type PublishedName, serverScript } from './published-servers.mjs';

interface Published {
  readonly tools: Readonly<Record<string, readonly string[]>>;
  readonly prompts?: Readonly<Record<string, readonly string[]>>;
  readonly resources?: readonly string[];
}

const file = new URL('../../packages/cli/test/docs/published.json', import.meta.url);
const published: Record<string, Published> = JSON.parse(readFileSync(file, 'utf8'));
const directory = mkdtempSync(path.join(os.tmpdir(), 'turnbuckle-examples-'));
afterAll(() => rm(directory, { recursive: true, force: true }));

const ARGS: Readonly<Record<string, readonly string[]>> = { filesystem: [directory] };

it.each(Object.entries(published))(
  '%s has everything that its stand-in has',
  async (name, { tools, prompts, resources }) => {
    const script = await serverScript(name as PublishedName);
    const config = { command: process.execPath, args: [script, ...(ARGS[name] ?? [])] };
    const runtime = await createRuntime({ servers: { it: config }, stateDir: path.join(directory, 'state') });
    try {
      await runtime.connect('it');
      const real = new Map(runtime.catalog.listByServer('it').map((tool) => [tool.tool, tool.inputSchema]));
      for (const [tool, required] of Object.entries(tools))
        expect([tool, real.get(tool)?.required]).toEqual([tool, expect.arrayContaining([...required])]);
      for (const [tool, required] of Object.entries(tools))
        expect(Object.keys(Object(real.get(tool)?.properties))).toEqual(
          expect.arrayContaining([...required]),
        );
      const promptNames =
        prompts === undefined ? [] : (await runtime.listPrompts('it')).map((one) => one.name);
      expect(promptNames).toEqual(expect.arrayContaining(Object.keys(prompts ?? {})));
      const uris = resources === undefined ? [] : (await runtime.listResources('it')).map((one) => one.uri);
      expect(uris).toEqual(expect.arrayContaining([...(resources ?? [])]));
    } finally {
      await runtime.close();
    }
  },
);
