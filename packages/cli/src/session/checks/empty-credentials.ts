/** Finds credentials with nothing in them: a shell fills in a variable between double quotes, and stores what is left. */

const BARE_SCHEME = /^(basic|bearer|digest|dpop|token|api-?key)?$/i;
const SECRET_NAME = /token|key|secret|passw|auth/i;

type Entry = Readonly<Record<string, unknown>>;

/** One sentence for each; none for an entry that is as it should be. Never a value. */
export function emptyCredentials({ headers, env, url, args }: Entry): string[] {
  const spots = [
    ...textsOf(headers).flatMap(([name, value]) => {
      const scheme = value.trim();
      if (!BARE_SCHEME.test(scheme)) return [];
      return [`The header ${name} ${scheme === '' ? 'is empty' : `has nothing after "${scheme}"`}`];
    }),
    ...textsOf(env).flatMap(([name, value]) => (value === '' ? [`The variable ${name} is empty`] : [])),
    ...parametersOf(url).flatMap(([name, value]) =>
      value === '' && SECRET_NAME.test(name) ? [`The URL parameter ${name} is empty`] : [],
    ),
    ...(Array.isArray(args) ? args : []).flatMap((word: unknown) => {
      const [, option] = /^(--?[\w-]+)=$/.exec(String(word)) ?? [];
      return option !== undefined && SECRET_NAME.test(option) ? [`The option ${option} is empty`] : [];
    }),
  ];
  return spots.map(
    (spot) => `${spot}. To keep the shell from replacing a placeholder, put it in single quotes: '\${NAME}'.`,
  );
}

const textsOf = (map: unknown): Array<[string, string]> =>
  typeof map !== 'object' || map === null
    ? []
    : Object.entries(map).filter((pair): pair is [string, string] => typeof pair[1] === 'string');

const parametersOf = (url: unknown): Array<[string, string]> =>
  typeof url === 'string' && URL.canParse(url) ? [...new URL(url).searchParams] : [];
