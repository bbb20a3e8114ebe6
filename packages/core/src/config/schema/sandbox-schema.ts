/** The `sandbox` key of a local server: what its process can access, and the presets. */
import * as z from 'zod/mini';
import { list } from './max-entries.js';

export const SANDBOX_PRESET_NAMES = ['strict', 'offline', 'standard'] as const;

export type SandboxPreset = (typeof SANDBOX_PRESET_NAMES)[number];

const integer = (least: number, most: number) => z.number().check(z.int(), z.gte(least), z.lte(most));
const path = z.string().check(z.minLength(1), z.maxLength(4_096), z.regex(/^[^\p{Cc}\p{Cs}]*$/u));
const paths = list(path, 200);

const settings = z.strictObject({
  /** The defaults for the other keys. */
  preset: z.optional(z.enum(SANDBOX_PRESET_NAMES)),
  /** Readable files and directories; if set, only these. */
  read: z.optional(paths),
  /** Writable files and directories. */
  write: z.optional(paths),
  network: z.optional(z.boolean()),
  /** `own`: a home directory for this server only, kept between runs. `empty`: a temporary one. */
  home: z.optional(z.enum(['own', 'empty'])),
  /** Per process. A Node.js server does not start with less than the minimum here. */
  memoryMb: z.optional(integer(128, 1_048_576)),
  /** Processes and threads together. */
  processes: z.optional(integer(4, 100_000)),
  /** CPU time per process. */
  cpuSeconds: z.optional(integer(1, 31_536_000)),
});

const EXPECTED = 'expected true, false, "standard", "offline", "strict" or an object with settings';

export const SANDBOX_SCHEMA = z.union([z.boolean(), z.enum(SANDBOX_PRESET_NAMES), settings], {
  error: (issue) => {
    // For an object, the message does not list the other alternatives.
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
  /** The keys set for this server: if one cannot be enforced, the server is not started. */
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

/** The configured keys plus the preset's for the rest; undefined without a sandbox. */
export function toSandboxPolicy(config: SandboxConfig | undefined): SandboxPolicy | undefined {
  if (config === undefined || config === false) return undefined;
  if (typeof config !== 'object')
    return toSandboxPolicy({ preset: config === true ? 'standard' : config }) as SandboxPolicy;
  const { preset = 'standard', ...rest } = config;
  const written = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
  return { ...SANDBOX_PRESETS[preset], ...written, preset, written: new Set(Object.keys(written)) };
}
