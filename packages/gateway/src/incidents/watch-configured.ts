/** Reports the incidents of a runtime and of its config files. */
import type { ConfiguredRuntime } from 'turnbuckle';
import type { LoadedConfig, Reload } from 'turnbuckle/host';
import { ConfigIncidents } from './config-incidents.js';
import type { OperatorLog } from './operator-log.js';
import { watchRuntime } from './watch-runtime.js';

export interface ConfiguredWatch {
  /** The configuration was edited, and is in effect. */
  changed(config: LoadedConfig): void;
  /** The files were read again, and are in effect. */
  reloaded(reload: Reload): void;
  stop(): void;
}

/** Reports the problems that there are, and everything from now on. */
export function watchConfigured(
  { runtime, config: current }: ConfiguredRuntime,
  log: OperatorLog,
): ConfiguredWatch {
  const files = new ConfigIncidents(log.report);
  files.check(current());
  const { servers, stop } = watchRuntime(runtime, log);
  const changed = (config: LoadedConfig): void => {
    log.setLevel(config.settings.daemon?.logLevel);
    servers.keepOnly(new Set(runtime.serverNames()));
    files.check(config);
  };
  return {
    changed,
    reloaded: (reload) => {
      changed(reload.config);
      files.reloaded(reload);
    },
    stop,
  };
}
