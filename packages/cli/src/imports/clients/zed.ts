/** Zed: `context_servers`; older files nest the command, and extensions bring servers of their own. */
import type { Client } from '../client.js';
import { NO_PLACEHOLDERS } from '../entries/placeholder-styles.js';
import { isEntry, omitKeys } from '../formats/plain-value.js';

export const zed: Client = {
  id: 'zed',
  label: 'Zed',
  format: 'json',
  candidates: (at) => [
    at.project('.zed', 'settings.json'),
    at.machine.platform === 'win32' ? at.appData('Zed', 'settings.json') : at.config('zed', 'settings.json'),
  ],
  dialect: {
    container: ['context_servers'],
    style: NO_PLACEHOLDERS,
    transports: { stdio: '', http: '' },
    switchKey: 'enabled',
    ownedKeys: ['source'],
    normalizeEntry(entry) {
      if (entry.source === 'extension') return 'it comes from a Zed extension';
      const plain = omitKeys(entry, 'source');
      if (isEntry(plain.command)) {
        const { path, ...rest } = plain.command;
        return { ...omitKeys(plain, 'command'), command: path, ...rest };
      }
      const reach = plain.command ?? plain.url;
      return reach === undefined && plain.settings !== undefined ? 'it comes from a Zed extension' : plain;
    },
    finalizeEntry: (entry) => ({ source: 'custom', ...entry }),
  },
};
