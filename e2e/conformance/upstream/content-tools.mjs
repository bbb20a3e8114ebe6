// Tools that return content at once, or send notifications first.
import { setTimeout as pause } from 'node:timers/promises';
import { PIXEL, SILENCE, textResult } from './call.mjs';

const STEP_MS = 40;
const image = { type: /** @type {const} */ ('image'), data: PIXEL, mimeType: 'image/png' };

/** @param {string} uri @param {string} mimeType @param {string} text */
const embedded = (uri, mimeType, text) => ({
  type: /** @type {const} */ ('resource'),
  resource: { uri, mimeType, text },
});

/** @type {import('./call.mjs').Tools} */
export const CONTENT_TOOLS = {
  test_simple_text: { run: () => textResult('This is a simple text response for testing.') },
  test_image_content: { run: () => ({ content: [image] }) },
  test_audio_content: {
    run: () => ({ content: [{ type: 'audio', data: SILENCE, mimeType: 'audio/wav' }] }),
  },
  test_embedded_resource: {
    run: () => ({
      content: [embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')],
    }),
  },
  test_multiple_content_types: {
    run: () => ({
      content: [
        { type: 'text', text: 'Multiple content types test:' },
        image,
        embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
      ],
    }),
  },
  test_error_handling: {
    run: () => ({ ...textResult('This tool intentionally returns an error for testing'), isError: true }),
  },
  test_tool_with_logging: {
    run: async (_args, { context }) => {
      for (const step of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
        await context.mcpReq.log('info', step);
        await pause(STEP_MS);
      }
      return textResult('logged three times');
    },
  },
  test_logging_tool: {
    run: async (_args, { context }) => {
      await context.mcpReq.log('info', 'one line');
      return textResult('logged once');
    },
  },
  test_tool_with_progress: {
    run: async (_args, { context }) => {
      const progressToken = context.mcpReq._meta?.progressToken;
      for (const progress of progressToken === undefined ? [] : [0, 50, 100]) {
        const params = { progressToken: progressToken ?? '', progress, total: 100 };
        await context.mcpReq.notify({ method: 'notifications/progress', params });
        await pause(STEP_MS);
      }
      return textResult('done');
    },
  },
  test_reconnection: {
    run: async (_args, { context }) => {
      context.http?.closeSSE?.();
      await pause(100);
      return textResult('Reconnection test completed');
    },
  },
  test_trigger_tool_change: {
    run: (_args, { world }) => {
      world.change('tools');
      return textResult('the list of tools is another one');
    },
  },
  test_trigger_prompt_change: {
    run: (_args, { world }) => {
      world.change('prompts');
      return textResult('the list of prompts is another one');
    },
  },
  test_custom_header: {
    inputSchema: {
      type: 'object',
      properties: { region: { type: 'string', 'x-mcp-header': 'Region' }, query: { type: 'string' } },
      required: ['region'],
    },
    run: (args) => textResult(JSON.stringify(args)),
  },
  json_schema_2020_12_tool: {
    inputSchema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: {
        address: {
          $anchor: 'addressDef',
          type: 'object',
          properties: { street: { type: 'string' }, city: { type: 'string' } },
        },
      },
      properties: {
        name: { type: 'string' },
        address: { $ref: '#/$defs/address' },
        contactMethod: { type: 'string', enum: ['phone', 'email'] },
        phone: { type: 'string' },
        email: { type: 'string' },
      },
      allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
      if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
      // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema
      then: { required: ['phone'] },
      else: { required: ['email'] },
      additionalProperties: false,
    },
    run: (args) => textResult(JSON.stringify(args)),
  },
};
