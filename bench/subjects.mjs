// The subjects of the benchmark. A client file in clients/ exports `load` of type LoadClient. A subject is a client
// file with settings; `informative` subjects are variants of another subject.
import { peers } from './peers.mjs';

/**
 * @typedef {object} Subject
 * @property {string} id
 * @property {string} label
 * @property {string} client file in clients/, without its ending
 * @property {string} [peer] id of the peer whose packages it needs
 * @property {'legacy' | 'both'} era the era of its server
 * @property {ClientSettings} settings
 * @property {boolean} [informative]
 */

/**
 * @typedef {{ method?: 'execute', pin?: string, stateDir?: string }} ClientSettings
 *
 * @typedef {{ name: string, transport: 'stdio', command: string, args: string[] }} StdioSpec
 * @typedef {{ name: string, transport: 'http', url: string }} HttpSpec
 * @typedef {StdioSpec | HttpSpec} ServerSpec
 *
 * An open client that has listed all tools. `call` returns the text of the result's first block.
 * @typedef {object} Session
 * @property {number} toolCount
 * @property {(server: string, tool: string, args: Record<string, unknown>) => Promise<string>} call
 * @property {() => Promise<unknown>} close
 *
 * Connects to all servers and lists their tools; resolves when both are done.
 * @typedef {(servers: readonly ServerSpec[]) => Promise<Session>} OpenSession
 *
 * Loads the library, which is not timed. `importPeer` imports from the peer's own packages.
 * @typedef {(options: { importPeer: ImportPeer, settings: ClientSettings }) => Promise<OpenSession>} LoadClient
 * @typedef {<Module>(specifier: string) => Promise<Module>} ImportPeer
 */

/** @type {Subject} */
export const reference = { id: 'sdk', label: 'MCP SDK 2.4.0', client: 'sdk', era: 'legacy', settings: {} };

/** @type {Subject} */
export const ours = {
  id: 'turnbuckle',
  label: 'turnbuckle',
  client: 'turnbuckle',
  era: 'legacy',
  settings: {},
};

/** @type {readonly Subject[]} */
export const subjects = [
  reference,
  ours,
  {
    ...ours,
    id: 'turnbuckle-execute',
    label: 'turnbuckle, execute',
    settings: { method: 'execute' },
    informative: true,
  },
  { ...ours, id: 'turnbuckle-modern', label: 'turnbuckle, modern era', era: 'both', informative: true },
  {
    ...reference,
    id: 'sdk-modern',
    label: 'MCP SDK, modern era',
    era: 'both',
    settings: { pin: '2026-07-28' },
    informative: true,
  },
  { id: 'floor', label: 'no client at all (floor)', client: 'floor', era: 'legacy', settings: {} },
  ...peers
    .filter(({ isClient }) => isClient)
    .map(({ id, label }) => ({
      id,
      label,
      client: id,
      peer: id,
      era: /** @type {const} */ ('legacy'),
      settings: {},
    })),
];
