import { fixture } from '@turnbuckle/testing';
import { expect, it } from 'vitest';
import { createSetting } from './setting.js';

const servers = { github: fixture('echo'), files: fixture('echo') };

it.each([
  ['one that is nearly another', ['files', 'gitub'], ['"gitub" (did you mean "github"?)']],
  ['one that is like no other, where nothing else is there', ['elsewhere'], ['"elsewhere".']],
  ['one of another project beside one that is there', ['files', 'elsewhere'], []],
  ['those that there are', ['files', 'github', 'native'], []],
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

it('tells no more of a thousand names than anybody reads, in no time', async () => {
  const setting = await createSetting();
  const named = Array.from({ length: 1_000 }, (_, index) => `gitub${index}`);
  await setting.write(setting.userFile, { servers, daemon: { views: { code: { servers: named } } } });
  const { problems } = await setting.load();
  expect(problems.length).toBeLessThanOrEqual(20);
  expect(problems.length).toBeGreaterThan(0);
});
