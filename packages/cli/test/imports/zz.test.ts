import { appendFileSync } from 'node:fs';
import { it } from 'vitest';
import { CLIENTS, readClientConfig, writeClientConfig } from '../../src/imports/index.js';

const require_log = (k: string, c: string) =>
  appendFileSync('/tmp/imports-evil.log', k + ' ' + c + ' ' + Math.round(performance.now()) + '\n');
const N = 5_000_000;
const fill = (s: string) => s.repeat(Math.floor(N / s.length));
const evil: Record<string, string> = {
  comments: fill('/*'),
  open: fill('['),
  obj: fill('{"a":'),
  quotes: fill('"'),
  single: fill("'"),
  esc: fill('\\'),
  spaces: 'a' + fill(' '),
  ident: fill('a '),
  blanks: '[a]\nb=1\n' + fill('\n').slice(100) + 'c=1\n',
  tomlc: '[mcp_servers.added]\ncommand="x"\n' + fill('#\n').slice(100) + 'd=1\n',
  dollars: JSON.stringify({ mcpServers: { a: { command: 'x', args: [fill('${').slice(100)] } } }),
  dollars2: JSON.stringify({ mcpServers: { a: { command: 'x', args: [fill('${A:-').slice(100)] } } }),
  dollars3: JSON.stringify({ mcpServers: { a: { command: 'x', args: [fill('$(').slice(100)] } } }),
  dollars4: JSON.stringify({ mcpServers: { a: { command: 'x', args: [fill('${{ secrets.').slice(100)] } } }),
  dollars5: JSON.stringify({
    mcpServers: { a: { command: 'x', args: [fill('{env:').slice(100)] } },
    mcp: { a: { command: [fill('{env:').slice(100)] } },
  }),
  many: JSON.stringify({
    mcpServers: Object.fromEntries(
      Array.from({ length: 60000 }, (_, i) => [`n${i}`, { command: 'node', args: ['x'] }]),
    ),
  }),
  list: JSON.stringify({
    mcpServers: Array.from({ length: 60000 }, (_, i) => ({ name: `n${i}`, command: 'node', args: ['x'] })),
  }),
  yaml: fill('a: [b, c]\n- x\n'),
  yaml2: 'x:\n' + fill('  - a\n'),
  yaml3: fill('- '),
  yaml4: fill('? '),
  yaml5: fill('&a '),
  front: '---\n' + fill('a'),
  anchors: fill('*a '),
  toml: fill('a.'),
  toml2: 'a=' + fill('['),
};
it('x', () => {
  for (const [k, text] of Object.entries(evil))
    for (const c of [
      'cursor',
      'codex',
      'goose',
      'opencode',
      'gemini',
      'continue',
      'claude-agents',
      'generic',
      'claude-code',
      'mcpproxy',
      'vscode',
    ]) {
      require_log(k, c);
      let t = performance.now();
      const r = readClientConfig(c, text);
      const a = performance.now() - t;
      t = performance.now();
      writeClientConfig(c, text, [{ name: 'added', config: { command: 'node' } }]);
      const b = performance.now() - t;
      if (a > 1500 || b > 3000)
        console.log('SLOW', k, c, Math.round(a), Math.round(b), r.servers.length, r.problems);
    }
}, 560000);
