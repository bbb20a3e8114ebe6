import { fixture } from '@turnbuckle/testing';
import type { ConfiguredRuntime, Reload } from 'turnbuckle';
import { onTestFinished } from 'vitest';
import type { Setting } from './setting.js';

/** A runtime that is up and follows its files, and what it told of them. */
export interface Followed extends ConfiguredRuntime {
  readonly reloads: Reload[];
}

export async function follow(
  setting: Setting,
  options: Parameters<Setting['open']>[0] = {},
): Promise<Followed> {
  const configured = await setting.open(options);
  await configured.runtime.connectAll();
  const reloads: Reload[] = [];
  const stop = await configured.follow((reload) => reloads.push(reload));
  onTestFinished(stop);
  return { ...configured, reloads };
}

/** The content of a file with servers of these names, none of which starts by itself. */
export const lazyServers = (...names: string[]) => ({
  servers: Object.fromEntries(names.map((name) => [name, { ...fixture('echo'), start: 'lazy' }])),
});

export const namesOf = ({ runtime }: ConfiguredRuntime): string[] => runtime.status().map(({ name }) => name);
