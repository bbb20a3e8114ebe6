import type { FixtureTool } from '../kernel/behaviour.js';
import { createTool } from './tool.js';

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** Every kind of content, with `_meta` at each level and members that no revision defines. */
export const EVERY_CONTENT = {
  content: [
    {
      type: 'text',
      text: 'zażółć \u{1f980}',
      annotations: { audience: ['user'], priority: 0.5 },
      _meta: { at: 'text' },
    },
    { type: 'image', data: PIXEL, mimeType: 'image/png', _meta: { at: 'image' } },
    { type: 'audio', data: 'UklGRgAAAABXQVZF', mimeType: 'audio/wav', _meta: { at: 'audio' } },
    {
      type: 'resource_link',
      uri: 'fixture://greeting',
      name: 'greeting',
      mimeType: 'text/plain',
      size: 5,
      _meta: { at: 'link' },
    },
    {
      type: 'resource',
      resource: {
        uri: 'fixture://embedded',
        mimeType: 'text/plain',
        text: 'inside',
        _meta: { at: 'contents' },
      },
      _meta: { at: 'embedded' },
    },
    {
      type: 'resource',
      resource: { uri: 'fixture://embedded-bytes', mimeType: 'application/octet-stream', blob: 'AAEC' },
      'x-unknown': { kept: [1, null, 'two'] },
    },
  ],
  structuredContent: { nested: { deep: [true, null] }, 'x-unknown': 1 },
  isError: false,
  _meta: { 'example.com/at': 'result' },
  'x-unknown': { kept: true },
};

/** Returns `EVERY_CONTENT`. */
export function createContentTool(): FixtureTool {
  const options = {
    name: 'content',
    description: 'Every kind of content',
    _meta: { 'example.com/at': 'tool' },
    'x-unknown': { kept: true },
  };
  return createTool(options, () => EVERY_CONTENT);
}
