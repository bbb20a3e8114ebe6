import { fixture } from '@turnbuckle/testing';
import { expect, it } from 'vitest';
import { createSetting } from './setting.js';

const servers = { github: fixture('echo'), files: fixture('echo') };

it.each([
  ['a misspelt server', ['files', 'gitub'], ['"gitub" (did you mean "github"?)']],
  ['only an unknown server', ['elsewhere'], ['"elsewhere".']],
  ['an unknown server next to a known one', ['files', 'elsewhere'], []],
  ['known servers', ['files', 'github', 'native'], []],
])('a view names %s', async (_, named, told) => {
  const setting = await createSetting();
  const text = JSON.stringify({ servers, daemon: { views: { code: { servers: named } } } }, null, 2);
  const file = await setting.write(setting.userFile, text);
  const { problems } = await setting.load();
  expect(problems).toHaveLength(told.length);
  for (const [index, words] of told.entries()) {
    const at = named.findIndex((name) => words.includes(name));
    const line = text.slice(0, text.indexOf(`"${named[at]}"`, text.indexOf('views'))).split('\n').length;
    expect(problems[index]?.message).toContain(`${file}:${line}:`);
    expect(problems[index]?.message).toContain(`daemon.views.code.servers[${at}]: `);
    expect(problems[index]?.message).toContain(words);
  }
});

it('reports only a few of a thousand names, quickly', async () => {
  const setting = await createSetting();
  const named = Array.from({ length: 1_000 }, (_, index) => `gitub${index}`);
  await setting.write(setting.userFile, { servers, daemon: { views: { code: { servers: named } } } });
  const { problems } = await setting.load();
  expect(problems.length).toBeLessThanOrEqual(20);
  expect(problems.length).toBeGreaterThan(0);
});
