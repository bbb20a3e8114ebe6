/** Syntax errors of a JSON text in plain English. */
import { type ParseError, printParseErrorCode } from 'jsonc-parser';

const SYNTAX: Readonly<Record<string, string>> = {
  InvalidSymbol: 'unexpected word',
  InvalidNumberFormat: 'invalid number',
  PropertyNameExpected: 'expected a key in double quotes',
  ValueExpected: 'expected a value',
  ColonExpected: 'expected a colon',
  CommaExpected: 'expected a comma',
  CloseBraceExpected: 'unclosed object, missing "}"',
  CloseBracketExpected: 'unclosed list, missing "]"',
  EndOfFileExpected: 'unexpected content after the end of the document',
  UnexpectedEndOfComment: 'unclosed comment',
  UnexpectedEndOfString: 'unclosed string, missing double quote',
  UnexpectedEndOfNumber: 'incomplete number',
  InvalidUnicode: 'invalid \\u sequence',
  InvalidEscapeCharacter: 'invalid escape sequence',
  InvalidCharacter: 'invalid character',
};

/** The found character is shown only if it is punctuation: anything else may be part of a secret. */
export function describeSyntax({ error, offset }: ParseError, text: string): string {
  const what = SYNTAX[printParseErrorCode(error)] ?? 'invalid JSON';
  const found = text[offset] ?? '';
  return /[[\]{}:,']/.test(found) ? `${what}, found ${found}` : what;
}
