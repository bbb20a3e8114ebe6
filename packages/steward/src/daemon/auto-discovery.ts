/** Searches for servers when an agent calls a tool that does not exist. It only proposes: a search installs nothing. */
import type { Runtime } from 'turnbuckle';
import type { StewardHost } from './steward-host.js';

export interface AutoDiscoveryOptions {
  readonly runtime: Pick<Runtime, 'on'>;
  readonly host: () => StewardHost | undefined;
  readonly isEnabled: () => boolean;
  readonly now: () => number;
}

const HOUR_MS = 3_600_000;
/** Agents can make up names: at most this many searches in an hour, and one for each name. */
const MAX_SEARCHES = 10;
const MAX_WORDS = 8;

/** Returns the function that ends it. */
export function watchUnknownTools({ runtime, host, isEnabled, now }: AutoDiscoveryOptions): () => void {
  const searched = new Map<string, number>();
  return runtime.on('call.settled', ({ error, toolName, callerId }) => {
    if (error?.code !== 'TOOL_UNKNOWN' || callerId === undefined || !isEnabled()) return;
    const purpose = purposeOf(toolName);
    const time = now();
    for (const [known, at] of searched) if (time - at > HOUR_MS) searched.delete(known);
    if (purpose === '' || searched.has(purpose) || searched.size >= MAX_SEARCHES) return;
    searched.set(purpose, time);
    const request = {
      type: 'search_servers',
      params: { purpose },
      priority: 'low',
      requestedBy: callerId,
    } as const;
    host()
      ?.request(request)
      .catch(() => {});
  });
}

/** `mcp__sheets__readRange` is "sheets read range". */
export function purposeOf(toolName: string): string {
  return toolName
    .slice(0, 256)
    .replace(/^mcp_+/, '')
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word.length > 1)
    .slice(0, MAX_WORDS)
    .join(' ')
    .toLowerCase();
}
