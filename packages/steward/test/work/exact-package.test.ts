/** A package that is named exactly, without a registry of servers: every text has its real name. */
import { afterEach, expect, it } from 'vitest';
import { type Json, openStewardStage, type StewardStage } from '../daemon/stage.js';

let stage: StewardStage;
afterEach(() => stage.close());

const add = (identifier: string, version = '1.2.3', type = 'npm'): Promise<string> =>
  stage.request('add_server', { package: { type, identifier, version } });

// requirement E3, E4
it('a package that is named exactly is called by its name', async () => {
  stage = await openStewardStage({});
  const told = async (...name: Parameters<typeof add>): Promise<string> => {
    const { error, message } = await stage.until(await add(...name), 'failed');
    const { message: text, hint } = error as Json;
    expect(message).toBe(text);
    return `${text}\n${hint}`;
  };
  expect(await told('@other/nope')).toContain('The npm package @other/nope is not allowed.');
  const odd = await told('@other/nope x');
  expect(odd).toContain(
    'The npm package is refused because "@other/nope x" is not a valid npm package name.',
  );
  expect(odd).toContain('Only exact names and exact versions are installed. Send the request again');
  expect(await told('@other/nope', '^1.0.0')).toContain('version "^1.0.0" is not an exact version');
  const hidden = await told('@acme/\u202efiles\u001b[31m');
  expect(hidden).toContain('\\u{202e}files');
  expect(hidden).not.toContain('\u202e');
  expect(hidden).not.toContain('\u001b');
  expect(await told('../up', '1', 'pypi')).toContain('"../up" is not a valid PyPI package name');

  const id = await add('@acme/server-files');
  const { subject } = await stage.approval(id);
  const { summary, warnings } = subject as { summary: string; warnings: string[] };
  expect(summary).toBe('Installing @acme/server-files 1.2.3 as server "files"');
  expect(warnings).toContain(
    'the package is not listed in a registry of servers: the publisher of @acme/server-files has not been verified',
  );
  const { body } = await stage.api('GET', '/api/steward/requests');
  expect(JSON.stringify(body)).not.toContain('package/');
});
