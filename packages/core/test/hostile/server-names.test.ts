import { mkdir, readdir } from 'node:fs/promises';
import { sep } from 'node:path';
import { fixture, temporaryDirectory } from '@turnbuckle/testing';
import { createRuntime, TurnbuckleError } from 'turnbuckle';
import { expect, it, onTestFinished } from 'vitest';

const NAMES = [
  '../../outside',
  'a/../../outside',
  '/outside',
  'a/b',
  'a\\..\\b',
  '..',
  '.',
  'a\0b',
  'con',
  '%2e%2e%2fx',
];

it.each([...NAMES, 'x'.repeat(300), '__proto__', 'a\nb'])(
  'never become a path as they are, whatever they say: %j',
  async (name) => {
    const home = await temporaryDirectory();
    onTestFinished(home.remove);
    const stateDir = home.file('deep/down/state');
    await mkdir(stateDir, { recursive: true });
    const servers = Object.fromEntries([[name, { ...fixture('echo'), sandbox: { home: 'own' } }]]);
    const plain = Object.fromEntries([[name, fixture('echo')]]);
    for (const given of [servers, plain]) {
      const runtime = await createRuntime({
        stateDir,
        environment: { HOME: home.file('deep'), PATH: process.env.PATH },
        servers: given as typeof plain,
      }).catch((error: unknown) => {
        expect(error).toBeInstanceOf(TurnbuckleError);
      });
      if (runtime === undefined) continue;
      await runtime.connectAll();
      for (const work of [
        () => runtime.pins.pin(name, 'echo'),
        () => runtime.callTool(name, 'echo', { text: 'x' }),
      ])
        await work().catch((error: unknown) => expect(error).toBeInstanceOf(TurnbuckleError));
      await runtime.close();
    }
    const files = await readdir(home.path, { recursive: true });
    const strange = files.filter(
      (file) => !`${file}${sep}`.startsWith(`deep${sep}`) || file.includes('outside'),
    );
    expect(strange).toEqual([]);
    // A configuration directory with its usual name may be created in the home directory.
    const beside = (await readdir(home.file('deep'))).filter((file) => file !== '.config');
    expect([...beside, ...(await readdir(home.file('deep/down')))]).toEqual(['down', 'state']);
  },
);
