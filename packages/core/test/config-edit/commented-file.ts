/** Random configuration files as people write them: any layout, comments in any place that JSON allows. */

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type Form = 'map' | 'list' | 'mcpServers';

export interface CommentedFile {
  readonly text: string;
  readonly form: Form;
  /** Each comment with the path of the keys it belongs to; a list entry is identified by its server's name. */
  readonly comments: readonly { readonly text: string; readonly about: readonly string[] }[];
}

export interface Contents {
  readonly servers: Readonly<Record<string, Readonly<Record<string, Json>>>>;
  readonly others: Readonly<Record<string, Json>>;
}

/** The same contents and random numbers give the same file. */
export function writeCommentedFile(contents: Contents, random: () => number): CommentedFile {
  const pick = <T>(...choices: readonly [T, ...T[]]): T =>
    choices[Math.floor(random() * choices.length)] ?? choices[0];
  const form = pick<Form>('map', 'list', 'mcpServers');
  const eol = pick('\n', '\r\n');
  const unit = pick('  ', '    ', '\t', ' ');
  const trailing = pick(true, false);
  const density = pick(0, 0.2, 0.5);
  const comments: { text: string; about: readonly string[] }[] = [];

  const comment = (kinds: readonly ('line' | 'block' | 'blocks')[], about: readonly string[]): string => {
    if (random() >= density) return '';
    const kind = kinds[Math.floor(random() * kinds.length)];
    const words = `#${comments.length}# ${pick('why', '"x": {', ', ] }', 'é\u2028 // ')}${pick('', '  ')}`;
    const text =
      kind === 'line' ? `//${words}` : kind === 'block' ? `/*${words}*/` : `/*${words}${eol}   more */`;
    comments.push({ text, about });
    return text;
  };

  const write = (value: Json, indent: string, about: readonly string[]): string => {
    if (typeof value !== 'object' || value === null) return JSON.stringify(value);
    const isList = Array.isArray(value);
    const members = isList
      ? value.map((item): [string | undefined, Json] => [undefined, item])
      : Object.entries(value);
    const [open, close] = isList ? '[]' : '{}';
    const flat = random() < 0.25;
    const inner = indent + unit;
    const head = flat ? pick('', ' ') : comment(['line', 'block'], about);
    const parts = members.map(([key, item], index) => {
      const own = [...about, key ?? nameIn(item) ?? String(index)];
      const above = flat || random() < 0.5 ? '' : comment(['line', 'block', 'blocks'], own);
      const before = [
        flat ? '' : eol,
        !flat && random() < 0.1 ? eol : '',
        flat ? '' : inner,
        above === '' ? '' : `${above}${eol}${inner}`,
        index > 0 || !flat ? spaced(comment(['block'], own)) : '',
      ].join('');
      const label =
        key === undefined ? '' : `${JSON.stringify(key)}${pick(':', ': ', ' : ')}${comment(['block'], own)}`;
      const text = write(item, inner, own);
      const isLast = index === members.length - 1;
      const early = random() < 0.3 ? spaced(comment(['block'], own)) : '';
      const behind = flat ? '' : ` ${comment(['line', 'block'], own)}`;
      return `${before}${label}${text}${early}${isLast && !trailing ? '' : ','}${flat && !isLast ? ' ' : ''}${behind}`;
    });
    const end = flat ? pick('', ' ') : `${eol}${indent}${spaced(comment(['block'], about))}`;
    return `${open}${head}${parts.join('')}${end}${close}`;
  };

  const spaced = (text: string): string => (text === '' ? '' : `${text} `);
  const list = Object.entries(contents.servers).map(([name, config]) => ({
    [pick('name', 'id')]: name,
    ...config,
  }));
  const { servers } = contents;
  const whole: Json = {
    ...contents.others,
    [form === 'mcpServers' ? form : 'servers']: form === 'list' ? list : { ...servers },
  };
  const top = comment(['line', 'blocks'], []);
  const text = `${pick('', '\uFEFF')}${top === '' ? '' : top + eol}${write(whole, '', [])}${pick('', eol)}`;
  return { text, form, comments };
}

function nameIn(item: Json): string | undefined {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) return undefined;
  const name = item.name ?? item.id;
  return typeof name === 'string' ? name : undefined;
}
