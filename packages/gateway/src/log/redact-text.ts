import { dropUncertainTail, type TruncateOptions } from './truncate-json.js';

/** The beginning of a text, without secrets: also without half of one at the cut. */
export function redactText(text: string, { limit, redact }: TruncateOptions): string {
  const looked = text.slice(0, limit * 2);
  const redacted = String(redact(looked));
  const sure = looked.length < text.length ? dropUncertainTail(looked, redacted) : redacted;
  const isWhole = looked.length === text.length && sure.length <= limit;
  return isWhole ? sure : `${sure.slice(0, limit - 1)}…`;
}
