/** Libraries name their errors after their classes (`this.name = this.constructor.name`): the bundle keeps the class names. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { BIN } from './turnbuckle.js';

it('the built command minifies no error class name', () => {
  const dist = dirname(BIN);
  const files = readdirSync(dist).filter((name) => name.endsWith('.js'));
  const names = files.flatMap((name) =>
    [
      ...readFileSync(join(dist, name), 'utf8').matchAll(
        /([\w$]+)=class extends [\w$.]*Error\b|class ([\w$]+) extends [\w$.]*Error\b/g,
      ),
    ].map(([, assigned, own]) => assigned ?? own ?? ''),
  );
  expect(names).toContain('TurnbuckleError');
  expect(names.length).toBeGreaterThan(5);
  expect(names.filter((name) => name.length < 4)).toEqual([]);
});
