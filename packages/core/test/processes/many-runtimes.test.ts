import { fixture } from '@turnbuckle/testing';
import { expect, it, onTestFinished } from 'vitest';
import { openRuntime } from '../lifecycle/open-runtime.js';

it('twelve runtimes in one host add one listener per signal, and remove it when they are closed', async () => {
  const warnings: Error[] = [];
  const note = (warning: Error): void => void warnings.push(warning);
  process.on('warning', note);
  onTestFinished(() => void process.off('warning', note));
  const before = process.listenerCount('SIGTERM');
  const servers = { one: fixture('echo'), two: fixture('echo') };
  const runtimes = await Promise.all(Array.from({ length: 12 }, () => openRuntime({ servers })));
  await Promise.all(runtimes.map((runtime) => runtime.connectAll()));
  expect(process.listenerCount('SIGTERM')).toBe(before + 1);
  await Promise.all(runtimes.map((runtime) => runtime.close()));
  expect(process.listenerCount('SIGTERM')).toBe(before);
  expect(warnings.filter(({ name }) => name === 'MaxListenersExceededWarning')).toEqual([]);
});
