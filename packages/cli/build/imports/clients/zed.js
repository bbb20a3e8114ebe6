import { NO_PLACEHOLDERS } from '../placeholder-styles.js';
import { isEntry, without } from '../plain-value.js';
export const zed = {
  id: 'zed',
  label: 'Zed',
  format: 'json',
  candidates: (at) => [
    at.project('.zed', 'settings.json'),
    at.place.platform === 'win32' ? at.appData('Zed', 'settings.json') : at.config('zed', 'settings.json'),
  ],
  dialect: {
    container: ['context_servers'],
    style: NO_PLACEHOLDERS,
    transports: { stdio: '', http: '' },
    switchKey: 'enabled',
    owns: ['source'],
    before(entry) {
      if (entry.source === 'extension') return 'comes with an extension of Zed';
      const plain = without(entry, 'source');
      if (isEntry(plain.command)) {
        const { path, ...rest } = plain.command;
        return { ...without(plain, 'command'), command: path, ...rest };
      }
      const reach = plain.command ?? plain.url;
      return reach === undefined && plain.settings !== undefined ? 'comes with an extension of Zed' : plain;
    },
    after: (entry) => ({ source: 'custom', ...entry }),
  },
};
//# sourceMappingURL=zed.js.map
