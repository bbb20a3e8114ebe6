import { expect, it } from 'vitest';
import * as z from 'zod/mini';
import { ACCESS_SCHEMA } from '../../src/config/schema/access-schema.js';
import { describeIssue } from '../../src/config/schema/issue-text.js';
import { jsonSchema } from '../../src/config/schema/json-schema.js';
import { createSetting } from './setting.js';

it.each([
  ['call', 'call'],
  ['read', 'read'],
  ['admin', 'admin'],
  ['look', 'read'],
  ['manage', 'admin'],
])('the access %s is read as %s', (word, access) => {
  expect(z.parse(ACCESS_SCHEMA, word)).toBe(access);
});

it.each([['everything'], [''], [7], [null], ['constructor']])('%j is not a valid access', (word) => {
  const { error } = z.safeParse(ACCESS_SCHEMA, word, { error: describeIssue });
  const [message, ...more] = error?.issues.map((issue) => issue.message) ?? [];
  expect(message).toMatch(/^expected "call", "read" or "admin", found \w+/);
  expect(more).toEqual([]);
});

it('an old name is translated in a configuration file, and the JSON Schema has only the current names', async () => {
  const setting = await createSetting();
  const issuer = {
    url: 'https://login.example.com',
    resource: 'https://tools.example.com/mcp',
    scopes: { all: { access: ['call', 'look', 'manage'], can: ['mcp_integration'] } },
  };
  await setting.write(setting.userFile, { daemon: { issuer } });
  const { settings, problems } = await setting.load();
  expect(problems).toEqual([]);
  expect(settings.daemon?.issuer?.scopes.all?.access).toEqual(['call', 'read', 'admin']);
  const schema = JSON.stringify(jsonSchema());
  expect(schema).toContain('"enum":["call","read","admin"]');
  expect(schema).not.toContain('"manage"');
});
