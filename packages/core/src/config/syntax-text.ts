/** What is wrong with the syntax of a JSON text, in plain English. */
import { type ParseError, printParseErrorCode } from 'jsonc-parser';

const SYNTAX: Readonly<Record<string, string>> = {
  InvalidSymbol: 'this is neither a value nor a key',
  InvalidNumberFormat: 'this is not a number',
  PropertyNameExpected: 'a key in double quotes is expected here',
  ValueExpected: 'a value is expected here',
  ColonExpected: 'a colon is expected here',
  CommaExpected: 'a comma is expected here',
  CloseBraceExpected: 'the object is not closed: "}" is missing',
  CloseBracketExpected: 'the list is not closed: "]" is missing',
  EndOfFileExpected: 'nothing more is expected here',
  UnexpectedEndOfComment: 'the comment is not closed',
  UnexpectedEndOfString: 'the text is not closed: a double quote is missing',
  UnexpectedEndOfNumber: 'the number is not complete',
  InvalidUnicode: 'this is not a valid \\u sequence',
  InvalidEscapeCharacter: 'this is not a valid escape',
  InvalidCharacter: 'this character is not allowed here',
};

/** What was found is told only if it is a sign of the syntax: anything else may be a part of a secret. */
export function describeSyntax({ error, offset }: ParseError, text: string): string {
  const what = SYNTAX[printParseErrorCode(error)] ?? 'this is not JSON';
  const found = text[offset] ?? '';
  return /[[\]{}:,']/.test(found) ? `${what}, found ${found}` : what;
}
