import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { fixture } from '@turnbuckle/testing';
import { describe, expect, it } from 'vitest';

const run = promisify(execFile);

/** Calls a tool in another process with the built library; returns whether the API was loaded. */
async function loadsApi(before: string): Promise<unknown> {
  const program = `
    ${before}
    import { createRequire } from 'node:module';
    const { createRuntime } = await import('turnbuckle');
    const runtime = await createRuntime({ servers: { up: ${JSON.stringify(fixture('echo'))} } });
    const { content } = await runtime.callTool('up', 'echo', { text: 'called' });
    await runtime.close();
    const loaded = Object.keys(createRequire(import.meta.url).cache).some((file) => file.includes('@opentelemetry'));
    console.log(JSON.stringify({ text: content[0].text, loaded }));`;
  const cwd = new URL('../..', import.meta.url);
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program], { cwd });
  return JSON.parse(stdout);
}

describe('the OpenTelemetry API', () => {
  it('is not loaded by a host that does not use it', async () => {
    expect(await loadsApi('')).toEqual({ text: 'called', loaded: false });
  });

  it('is loaded if the host has registered a tracer provider', async () => {
    const register = `
      import { NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
      new NodeTracerProvider().register();`;
    expect(await loadsApi(register)).toEqual({ text: 'called', loaded: true });
  });

  it('is not needed if something else has registered under its name', async () => {
    const fake = `globalThis[Symbol.for('opentelemetry.js.api.1')] = { version: '1.0.0', trace: {} };
      import { register } from 'node:module';
      register('data:text/javascript,' + encodeURIComponent(\`export const resolve = (name, context, next) => {
        if (name === '@opentelemetry/api') throw new Error('not installed');
        return next(name, context);
      };\`));`;
    expect(await loadsApi(fake)).toEqual({ text: 'called', loaded: false });
  });
});
