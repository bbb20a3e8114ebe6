/** The `sandbox` key of a local server: what its process may reach, and the presets that say it in a word. */
import * as z from 'zod/mini';
import { list } from './counted.js';

export const SANDBOX_PRESET_NAMES = ['strict', 'offline', 'standard'] as const;

export type SandboxPreset = (typeof SANDBOX_PRESET_NAMES)[number];

const whole = (least: number, most: number) => z.number().check(z.int(), z.gte(least), z.lte(most));
const path = z.string().check(z.minLength(1), z.maxLength(4_096), z.regex(/^[^\p{Cc}\p{Cs}]*$/u));
const paths = list(path, 200);

const settings = z.strictObject({
  /** Fills in what is not written here. */
  preset: z.optional(z.enum(SANDBOX_PRESET_NAMES)),
  /** Files and directories it may read; written, these and no others. */
  read: z.optional(paths),
  /** Files and directories it may change. */
  write: z.optional(paths),
  network: z.optional(z.boolean()),
  /** `own`: a home directory that only this server has, kept between runs. `empty`: one that is gone with it. */
  home: z.optional(z.enum(['own', 'empty'])),
  /** For each process. Less than the least here does not start a Node.js server. */
  memoryMb: z.optional(whole(128, 1_048_576)),
  /** Processes and threads together. */
  processes: z.optional(whole(4, 100_000)),
  /** Computing time of each process, not the time it waits. */
  cpuSeconds: z.optional(whole(1, 31_536_000)),
});

const EXPECTED = 'expected true, false, "standard", "offline", "strict" or an object of settings';

export const SANDBOX_SCHEMA = z.union([z.boolean(), z.enum(SANDBOX_PRESET_NAMES), settings], {
  error: (issue) => {
    // Of somebody who wrote an object it is not the question what else could have been written.
    const [first] = issue.code === 'invalid_union' ? (issue.errors.at(-1) ?? []) : [];
    return first === undefined || first.path.length === 0
      ? EXPECTED
      : `${first.path.join('.')}: ${first.message.replace(/^Invalid (input|option): /, '')}`;
  },
});

export type SandboxConfig = z.output<typeof SANDBOX_SCHEMA>;

export interface SandboxPolicy {
  readonly preset: SandboxPreset;
  readonly read: readonly string[];
  readonly write: readonly string[];
  readonly network: boolean;
  readonly home: 'own' | 'empty';
  readonly memoryMb: number;
  readonly processes: number;
  readonly cpuSeconds: number | undefined;
  /** Keys that were written for this server: what was asked for by name is given or the server not started. */
  readonly written: ReadonlySet<string>;
}

type Defaults = Omit<SandboxPolicy, 'preset' | 'written'>;

const STANDARD: Defaults = {
  read: ['.'],
  write: [],
  network: true,
  home: 'own',
  memoryMb: 2_048,
  processes: 512,
  cpuSeconds: undefined,
};

export const SANDBOX_PRESETS: Readonly<Record<SandboxPreset, Defaults>> = {
  standard: STANDARD,
  offline: { ...STANDARD, network: false },
  strict: { ...STANDARD, network: false, read: [], home: 'empty', memoryMb: 1_024, processes: 256 },
};

/** All that was written and, for the rest, what the preset says; undefined when there is to be no sandbox. */
export function toSandboxPolicy(config: SandboxConfig | undefined): SandboxPolicy | undefined {
  if (config === undefined || config === false) return undefined;
  if (typeof config !== 'object')
    return toSandboxPolicy({ preset: config === true ? 'standard' : config }) as SandboxPolicy;
  const { preset = 'standard', ...rest } = config;
  const written = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
  return { ...SANDBOX_PRESETS[preset], ...written, preset, written: new Set(Object.keys(written)) };
}
