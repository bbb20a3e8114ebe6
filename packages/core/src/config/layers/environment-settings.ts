/** Settings from environment variables: they override all files except the administrator's. */
import { TurnbuckleError } from '../../errors.js';
import type { FileSettings, SettingName } from '../schema/file-schema.js';
import type { Origin } from './loaded-config.js';

export interface EnvironmentSettings {
  readonly settings: Partial<FileSettings>;
  readonly origins: ReadonlyMap<SettingName, Origin>;
  readonly problems: readonly TurnbuckleError[];
}

interface Switch {
  readonly setting: 'toolApprovalRequired' | 'autoDiscoveryEnabled';
  readonly on: readonly string[];
  readonly off: readonly string[];
  /** The value if the variable is set but invalid: a guard stays on. */
  readonly otherwise?: boolean;
}

const ON = ['true', '1', 'on'];
const OFF = ['false', '0', 'off'];

const SWITCHES: Readonly<Record<string, Switch>> = {
  MCP_TOOL_APPROVAL: {
    setting: 'toolApprovalRequired',
    on: [...ON, 'yes'],
    off: [...OFF, 'no'],
    otherwise: true,
  },
  MCP_AUTO_DISCOVERY: { setting: 'autoDiscoveryEnabled', on: ON, off: OFF },
};

/** Empty means unset; an invalid value is a problem that names the variable. */
export function environmentSettings(
  environment: Readonly<Record<string, string | undefined>>,
): EnvironmentSettings {
  const settings: Partial<FileSettings> = {};
  const origins = new Map<SettingName, Origin>();
  const problems: TurnbuckleError[] = [];
  for (const [variable, { setting, on, off, otherwise }] of Object.entries(SWITCHES)) {
    const said = environment[variable]?.trim().toLowerCase() ?? '';
    if (said === '') continue;
    const isOn = on.includes(said);
    const understood = isOn || off.includes(said);
    if (!understood) problems.push(notUnderstood(variable, said));
    const value = understood ? isOn : otherwise;
    if (value === undefined) continue;
    settings[setting] = value;
    const file = `the environment variable ${variable}`;
    origins.set(setting, { scope: 'environment', file, line: 0, column: 0 });
  }
  return { settings, origins, problems };
}

function notUnderstood(variable: string, said: string): TurnbuckleError {
  return new TurnbuckleError(
    'CONFIG_INVALID',
    `Invalid value ${JSON.stringify(said.slice(0, 40))} for environment variable ${variable}: expected "true", "false", "1", "0", "on" or "off".`,
    { hint: `Set ${variable} to one of these values, or unset it.`, data: { variable } },
  );
}
