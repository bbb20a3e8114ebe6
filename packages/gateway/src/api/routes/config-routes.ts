/** Where the configuration comes from, and reading it again. */
import { type ConfiguredServer, type LoadedConfig, type Runtime, redactConfig } from 'turnbuckle';
import * as z from 'zod/mini';
import type { ApiParts } from './api-parts.js';
import type { ApiRoute } from './api-route.js';
import { cleanData, cleanTexts, toFault } from './clean.js';
import { NOTHING, readBody } from './fit.js';
import { ANYTHING, FAULT, ORIGIN } from './shapes.js';
import { requireWhole } from './sight.js';

const CONFIG = z.object({
  /** From the weakest to the strongest. */
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
      entry: ANYTHING,
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

export function createConfigRoutes({ configured, onConfigChanged }: ApiParts): readonly ApiRoute[] {
  const { runtime } = configured;
  return [
    {
      method: 'GET',
      path: '/api/config',
      // What servers are started with is for who may say it.
      access: 'manage',
      summary: 'The files, what each of them says, and what is wrong with them',
      answer: CONFIG,
      handle: async (visit) => {
        requireWhole(runtime, visit);
        const config = configured.config();
        return cleanTexts({ ...toConfig(config), settings: await settingsOf(config, runtime) }, runtime);
      },
    },
    {
      method: 'POST',
      path: '/api/config/reload',
      access: 'manage',
      summary: 'Read the files again and take over what changed',
      body: NOTHING,
      answer: RELOADED,
      handle: async (visit) => {
        requireWhole(runtime, visit);
        await readBody(visit, NOTHING);
        const { config, added, removed, changed, errors } = await configured.reload();
        onConfigChanged?.();
        return cleanTexts(
          { added, removed, changed, errors, problems: config.problems.map(toFault) },
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
  servers: [...servers.values()].map(toWritten),
  problems: problems.map(toFault),
});

const toWritten = ({ name, entry, origin, shadowed, problem, kept }: ConfiguredServer) => ({
  name,
  entry: redactConfig(entry),
  origin,
  shadowed,
  problem: toFault(problem),
  kept,
});

async function settingsOf(
  { settings, settingOrigins }: LoadedConfig,
  runtime: Pick<Runtime, 'redactSteps'>,
): Promise<unknown> {
  const shown = [...settingOrigins].map(async ([key, origin]) => {
    const value = await cleanData(settings[key], runtime);
    return [key, { value, origin }] as const;
  });
  return Object.fromEntries(await Promise.all(shown));
}
