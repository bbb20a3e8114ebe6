/** Paths of files on this machine are for those who may manage the daemon. */
import { TurnbuckleError } from 'turnbuckle';
import { isRecord } from 'turnbuckle/host';

const HIDDEN_FILE = 'a file that the owner of the daemon can see';

/** The same error without the path of the file that it is about. */
export function withoutFile(thrown: unknown): unknown {
  if (!(thrown instanceof TurnbuckleError)) return thrown;
  const { code, message, hint, server, tool, data, cause } = thrown;
  const file = data?.file;
  if (typeof file !== 'string' || file === '') return thrown;
  const hide = (text: string): string => text.replaceAll(file, HIDDEN_FILE);
  const { file: _, ...rest } = data ?? {};
  return new TurnbuckleError(code, hide(message), {
    ...{ server, tool, cause, data: rest },
    hint: hint === undefined ? undefined : hide(hint),
  });
}

/** The same data without the place of a rule, and the path in an error. */
export function withoutFiles<Data extends object>(data: Data): Data {
  const changed = Object.entries(data).flatMap(([key, value]): Array<[string, unknown]> => {
    if (value instanceof TurnbuckleError) return [[key, withoutFile(value)]];
    return key === 'rule' && isRecord(value) ? [[key, withoutPlace(value)]] : [];
  });
  return changed.length === 0 ? data : { ...data, ...Object.fromEntries(changed) };
}

/** A rule without the place that it is written at. */
export function withoutPlace({ file: _, line: __, ...rest }: RulePlace): object {
  return rest;
}

interface RulePlace {
  readonly file?: unknown;
  readonly line?: unknown;
}
