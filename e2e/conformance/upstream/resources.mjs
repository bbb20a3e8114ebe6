import { ResourceNotFoundError } from '@modelcontextprotocol/server';
import { PIXEL } from './call.mjs';

/** @typedef {import('@modelcontextprotocol/server').ReadResourceResult['contents'][number]} Contents */

/** @type {Record<string, { name: string, contents: Omit<Contents, 'uri'> & ({ text: string } | { blob: string }) }>} */
const RESOURCES = {
  'test://static-text': {
    name: 'static-text',
    contents: { mimeType: 'text/plain', text: 'This is the content of the static text resource.' },
  },
  'test://static-binary': { name: 'static-binary', contents: { mimeType: 'image/png', blob: PIXEL } },
  'test://watched-resource': {
    name: 'watched-resource',
    contents: { mimeType: 'text/plain', text: 'Watched by those who subscribe.' },
  },
};
const TEMPLATE = /^test:\/\/template\/([^/]+)\/data$/;

/** @param {import('@modelcontextprotocol/server').Server} server */
export function serveResources(server) {
  server.setRequestHandler('resources/list', () => ({
    resources: Object.entries(RESOURCES).map(([uri, { name, contents }]) => ({
      uri,
      name,
      description: `The resource ${name}`,
      mimeType: contents.mimeType,
    })),
  }));
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: [
      {
        uriTemplate: 'test://template/{id}/data',
        name: 'template',
        description: 'One for each id',
        mimeType: 'application/json',
      },
    ],
  }));
  server.setRequestHandler('resources/read', ({ params: { uri } }) => ({ contents: [read(uri)] }));
  server.setRequestHandler('resources/subscribe', () => ({}));
  server.setRequestHandler('resources/unsubscribe', () => ({}));
}

/**
 * @param {string} uri
 * @returns {Contents}
 */
function read(uri) {
  const known = RESOURCES[uri];
  if (known !== undefined) return { uri, ...known.contents };
  const id = TEMPLATE.exec(uri)?.[1];
  if (id === undefined) throw new ResourceNotFoundError(uri);
  const text = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
  return { uri, mimeType: 'application/json', text };
}
