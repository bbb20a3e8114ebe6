/** A call of the log as the command shows it, and as `--json` prints it: every column, null without a value. */
import { CALL_COLUMN_LIST, fromRow, type Row, type ShownCall } from '@turnbuckle/store';

export type LoggedCall = {
  readonly [Name in keyof ShownCall]-?:
    | Exclude<ShownCall[Name], undefined>
    | (undefined extends ShownCall[Name] ? null : never);
};

const EMPTY: Readonly<Record<string, null>> = Object.fromEntries([
  ['number', null],
  ...CALL_COLUMN_LIST.map(({ name }) => [name, null]),
]);

/** The database guarantees the required columns and the types. */
export const toLoggedCall = (row: Row): LoggedCall => ({ ...EMPTY, ...fromRow(row) }) as LoggedCall;
