/** Where the configuration comes from, and reloading it. */
import type { Runtime } from 'turnbuckle';
import { type ConfiguredServer, type LoadedConfig, redactConfig } from 'turnbuckle/host';
import * as z from 'zod/mini';
import type { ApiRoute } from '../../http/api-route.js';
import { redactData, redactTexts, toErrorData } from '../../http/redact.js';
import { EMPTY_OBJECT, readOptionalJson } from '../../http/validate.js';
import { ANY_OBJECT, FAULT, ORIGIN } from '../shapes/shapes.js';
import { requireUnrestricted } from '../visibility.js';
import type { ApiDependencies } from './api-dependencies.js';

const CONFIG = z.object({
  /** From the lowest to the highest precedence. */
  layers: z.array(
    z.object({
      scope: z.string(),
      file: z.string(),
      required: z.boolean(),
      directory: z.string(),
      present: z.boolean(),
    }),
  ),
  settings: z.record(z.string(), z.object({ value: z.unknown(), origin: ORIGIN })),
  servers: z.array(
    z.object({
      name: z.string(),
      entry: ANY_OBJECT,
      origin: ORIGIN,
      shadowed: z.array(ORIGIN),
      problem: z.optional(FAULT),
      kept: z.boolean(),
    }),
  ),
  problems: z.array(FAULT),
});
const RELOADED = z.object({
  added: z.array(z.string()),
  removed: z.array(z.string()),
  changed: z.array(z.string()),
  errors: z.record(z.string(), z.string()),
  problems: z.array(FAULT),
});

export function createConfigRoutes({ configured, onConfigChanged }: ApiDependencies): readonly ApiRoute[] {
  const { runtime } = configured;
  return [
    {
      method: 'GET',
      path: '/api/config',
      // How servers are started is only for tokens that may change it.
      access: 'admin',
      summary: 'Show the config files, their problems, and where each value comes from',
      response: CONFIG,
      handle: async (context) => {
        requireUnrestricted(runtime, context);
        const config = configured.config();
        return redactTexts({ ...toConfig(config), settings: await settingsOf(config, runtime) }, runtime);
      },
    },
    {
      method: 'POST',
      path: '/api/config/reload',
      access: 'admin',
      summary: 'Reload the config files',
      body: EMPTY_OBJECT,
      response: RELOADED,
      handle: async (context) => {
        requireUnrestricted(runtime, context);
        await readOptionalJson(context, EMPTY_OBJECT);
        const reload = await configured.reload();
        const { config, added, removed, changed, errors } = reload;
        onConfigChanged?.(added.length + removed.length + changed.length > 0 ? reload : undefined);
        return redactTexts(
          { added, removed, changed, errors, problems: config.problems.map(toErrorData) },
          runtime,
        );
      },
    },
  ];
}

const toConfig = ({ layers, servers, problems }: LoadedConfig): Record<string, unknown> => ({
  layers: layers.map(({ layer: { scope, file, required, directory }, present }) => ({
    ...{ scope, file, required, directory, present },
  })),
  servers: [...servers.values()].map(toConfiguredServer),
  problems: problems.map(toErrorData),
});

const toConfiguredServer = ({ name, entry, origin, shadowed, problem, kept }: ConfiguredServer) => ({
  name,
  entry: redactConfig(entry),
  origin,
  shadowed,
  problem: toErrorData(problem),
  kept,
});

async function settingsOf(
  { settings, settingOrigins }: LoadedConfig,
  runtime: Pick<Runtime, 'redactSteps'>,
): Promise<unknown> {
  const shown = [...settingOrigins].map(async ([key, origin]) => {
    const value = await redactData(settings[key], runtime);
    return [key, { value, origin }] as const;
  });
  return Object.fromEntries(await Promise.all(shown));
}
