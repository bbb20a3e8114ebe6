import { timeBound } from '@turnbuckle/testing';
import { dangersOf } from 'turnbuckle/host';
import { describe, expect, it } from 'vitest';

const env = (...names: string[]): Record<string, unknown> => ({
  command: 'server',
  env: Object.fromEntries(names.map((name) => [name, 'a value'])),
});
const line = (text: string): Record<string, unknown> => {
  const [command, ...args] = text.split(' ');
  return { command, args };
};

const VARIABLES = [
  'NODE_OPTIONS',
  'LD_PRELOAD',
  'LD_LIBRARY_PATH',
  'LD_AUDIT',
  'DYLD_INSERT_LIBRARIES',
  'PATH',
  'Path',
  'npm_config_registry',
  'NPM_CONFIG_SCRIPT_SHELL',
  'BASH_ENV',
  'ENV',
  'PYTHONSTARTUP',
  'PYTHONPATH',
  'PERL5OPT',
  'RUBYOPT',
  'JAVA_TOOL_OPTIONS',
  '_JAVA_OPTIONS',
  'GIT_SSH_COMMAND',
  'GIT_CONFIG_COUNT',
  'UV_INDEX_URL',
  'PIP_INDEX_URL',
  'HTTPS_PROXY',
  'NODE_EXTRA_CA_CERTS',
  'DOCKER_HOST',
  'HOME',
];

const LINES: ReadonlyArray<readonly [line: string, word: string]> = [
  ['npx -c evil', '-c'],
  ['npx -y --call=evil pkg', '--call'],
  ['npx --node-options=--require=./x pkg', '--node-options'],
  ['npx --script-shell ./x pkg', '--script-shell'],
  ['npx --registry https://elsewhere pkg', '--registry'],
  ['npm exec pkg --registry=https://elsewhere', '--registry'],
  ['npx.cmd -c evil', '-c'],
  ['uvx --index-url https://elsewhere pkg', '--index-url'],
  ['node -e evil', '-e'],
  ['node --eval=evil', '--eval'],
  ['node -pe evil', '-pe'],
  ['node --title x -e evil', '-e'],
  ['node --no-warnings -r ./x server.js', '-r'],
  ['node --import ./x server.js', '--import'],
  ['node --inspect=0.0.0.0 server.js', '--inspect'],
  ['/usr/local/bin/node -e evil', '-e'],
  ['C:\\Tools\\Node.EXE -e evil', '-e'],
  ['deno run -A server.ts', '-A'],
  ['deno eval evil', 'eval'],
  ['sh -c evil', '-c'],
  ['bash -lc evil', '-lc'],
  ['bash --norc -c evil', '-c'],
  ['cmd /c evil', '/c'],
  ['powershell -EncodedCommand ZQB2', '-EncodedCommand'],
  ['python -c evil', '-c'],
  ['python3.12 -Ic evil', '-Ic'],
  ['perl -e evil', '-e'],
  ['php -r evil', '-r'],
  ['docker run -v /:/host image', 'mounts /'],
  ['docker run -v/:/host image', 'mounts /'],
  ['docker run --volume=/etc:/etc image', 'mounts /etc'],
  ['docker run --mount type=bind,source=/,target=/host image', 'mounts /'],
  ['docker run -v /var/run/docker.sock:/s image', 'docker.sock'],
  ['docker run -v ${HOME}:/h image', 'mounts ${HOME}'],
  ['docker run -i --rm --privileged image', '--privileged'],
  ['podman run --network host image', '--network host'],
  ['docker run --pid=host image', '--pid host'],
  ['docker run --cap-add SYS_ADMIN image', '--cap-add SYS_ADMIN'],
  ['docker run --security-opt seccomp=unconfined image', 'seccomp=unconfined'],
  ['docker -H tcp://elsewhere run image', '-H'],
  ['sudo npx pkg', 'sudo'],
  ['env NODE_OPTIONS=--require=./x node server.js', 'NODE_OPTIONS'],
  ['env -i FOO=1 sh -c evil', '-c'],
  ['timeout 5 bash -c evil', '-c'],
  ['nice -n 5 env LD_PRELOAD=x sh -c evil', 'LD_PRELOAD'],
];

const HARMLESS = [
  'npx -y @scope/server /data',
  'npx -y pkg@1.2.3 -c config.json --registry x',
  'npx -y pkg --prefix a',
  'uvx mcp-server-git --repository .',
  'node dist/server.js -p 8080 -e production',
  'node server.js',
  'python -m my_server',
  'python server.py -c config.toml',
  'docker run -i --rm -e TOKEN image -c x --privileged',
  'docker run -i --rm -v /data/notes:/notes image',
  'my-server -c config.toml -e production',
  'sh run.sh -c x',
  'deno run --allow-net server.ts',
];

describe('dangers in an entry', () => {
  it.each(VARIABLES)('the variable %s', (name) => {
    const found = dangersOf(env(name));
    expect(found).toEqual([expect.stringContaining(name)]);
    expect(found.join()).not.toContain('a value');
    expect(dangersOf({ command: 'server', inheritEnv: [name] })).toEqual(found);
  });

  it.each(LINES)('%s', (text, word) => {
    expect(dangersOf(line(text))).toContainEqual(expect.stringContaining(word));
  });

  it.each(HARMLESS)('is not a danger: %s', (text) => {
    expect(dangersOf(line(text))).toEqual([]);
  });

  it('do not include variables of a server’s own', () => {
    expect(dangersOf(env('API_KEY', 'DEBUG', 'PORT', 'MY_PATH', 'ENVIRONMENT', 'GIT_AUTHOR_NAME'))).toEqual(
      [],
    );
  });

  it('reports each once, the command first', () => {
    const found = dangersOf({
      command: 'sh',
      args: ['-c', 'a', '-c', 'b'],
      env: { PATH: 'x', NODE_OPTIONS: 'y' },
    });
    expect(found).toEqual([
      'sh: -c runs code from the command line',
      'environment variable PATH changes what programs load, run or trust',
      'environment variable NODE_OPTIONS changes what programs load, run or trust',
    ]);
  });

  it.each([
    {},
    { command: 3, args: 'x', env: [] },
    { args: [null, {}, 1] },
    { url: 'https://h' },
    { env: null },
  ])('accepts any entry: %j', (entry) => {
    expect(dangersOf(entry as Record<string, unknown>)).toEqual([]);
  });
});

describe('programs that run programs that run programs', () => {
  it.each([
    ['env', 'A=1'],
    ['env', 'env'],
    ['sudo', '-u'],
  ])('%s %s, thousands of times, are checked in time', (wrapper, word) => {
    const args = [...Array.from({ length: 20_000 }, (_, at) => (at % 2 ? wrapper : word)), 'sh', '-c', 'x'];
    const began = performance.now();
    const found = dangersOf({ command: wrapper, args });
    expect(performance.now() - began).toBeLessThan(timeBound(1_000));
    expect(found).toContain('sh: -c runs code from the command line');
  });

  it('are reported in order', () => {
    expect(dangersOf(line('sudo env PATH=/x LD_PRELOAD=y doas bash -c z'))).toEqual([
      'sudo runs the server with different privileges',
      'environment variable PATH changes what programs load, run or trust',
      'environment variable LD_PRELOAD changes what programs load, run or trust',
      'doas runs the server with different privileges',
      'bash: -c runs code from the command line',
    ]);
  });
});
