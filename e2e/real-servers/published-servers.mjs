import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { commandScript, installPublished, packageDirectory } from '../../scripts/install-published.mjs';

const CACHE = fileURLToPath(new URL('../../.cache/real-servers', import.meta.url));

/** The published servers that the suite and the guided tour run, by their name in the configuration. */
export const PUBLISHED = Object.freeze({
  everything: '@modelcontextprotocol/server-everything@2026.8.31',
  filesystem: '@modelcontextprotocol/server-filesystem@2026.8.31',
  memory: '@modelcontextprotocol/server-memory@2026.8.31',
  thinking: '@modelcontextprotocol/server-sequential-thinking@2026.8.31',
  github: '@modelcontextprotocol/server-github@2025.4.8',
  mongodb: 'mongodb-mcp-server@3.0.4',
  shadcn: 'shadcn@4.23.0',
  runner: 'mcp-server-code-runner@0.1.8',
  playwright: '@playwright/mcp@0.0.83',
  postgres: '@modelcontextprotocol/server-postgres@0.6.2',
});

/** @typedef {keyof typeof PUBLISHED} PublishedName */

/**
 * Installs the named servers unless they are installed; two at a time, at most five minutes each.
 * @param {readonly PublishedName[]} names
 * @param {(line: string) => void} onProgress
 */
export async function installServers(names, onProgress) {
  await installPublished({ directory: CACHE, packages: names.map((name) => PUBLISHED[name]), onProgress });
}

/**
 * The script that starts an installed server; rejects if it is not installed.
 * @param {PublishedName} name
 * @returns {Promise<string>}
 */
export async function serverScript(name) {
  return path.normalize(await commandScript(packageDirectory(CACHE, PUBLISHED[name])));
}
