/** Malformed bytes below the message level: lines, event streams and WebSocket frames. */
import type { FuzzContext, FuzzMessages } from './fuzz-messages.js';

const LINE_ENDS = ['\n', '\r\n', '\r', '\n\n', '\u2028', '\u0000\n'];
const NOISE = [
  Uint8Array.of(0xff, 0xfe, 0x0a),
  Uint8Array.of(0xc3, 0x28, 0x0a),
  Uint8Array.of(0x00, 0x0a),
  Uint8Array.of(0xef, 0xbb, 0xbf, 0x7b, 0x7d, 0x0a),
  'Content-Length: 5\r\n\r\n{}\n',
  '\u001b[2J\u001b[31mstarting\n',
];

/** A line on stdout: a message, or other output of the program. */
export function fuzzLine(messages: FuzzMessages, context: FuzzContext): string | Uint8Array {
  const { json } = messages;
  return json.chance(0.3)
    ? json.pick(NOISE)
    : messages.serverMessage(context).replaceAll('\n', ' ') + json.pick(LINE_ENDS);
}

/** Fields of an event stream. */
export function fuzzEvent(messages: FuzzMessages, context: FuzzContext): string | Uint8Array {
  const { json } = messages;
  const fields = Array.from({ length: 1 + json.below(4) }, () => {
    const kind = json.below(8);
    if (kind < 3) return `data: ${messages.serverMessage(context).replaceAll('\n', ' ')}`;
    if (kind === 3) return `event: ${json.pick(['message', 'endpoint', 'error', '', 'constructor'])}`;
    if (kind === 4) return `id: ${json.pick(['', '1', '\u0000', 'x'.repeat(2_000), '-1'])}`;
    if (kind === 5) return `retry: ${json.pick(['0', '20', '-1', '1e9', 'NaN', '3000000000'])}`;
    if (kind === 6) return `: ${'c'.repeat(json.below(2_000))}`;
    return json.pick(['data', 'data:', ':', 'nonsense', '\ufeffdata: {}']);
  });
  return fields.join(json.pick(['\n', '\r\n', '\r'])) + json.pick(['\n\n', '\r\n\r\n', '\r\r', '\n']);
}

/** A frame with random flag bits, whose payload may have another length than the header says. */
export function fuzzFrame(messages: FuzzMessages, context: FuzzContext): Uint8Array {
  const { json } = messages;
  const payload = Buffer.from(
    json.chance(0.7) ? messages.serverMessage(context) : String.fromCharCode(json.below(256)),
  );
  const first = json.pick([
    0x81,
    0x81,
    0x01,
    0x00,
    0x80,
    0x82,
    0x88,
    0x89,
    0x8a,
    0xf1,
    0x83,
    json.below(256),
  ]);
  const claimed = json.chance(0.9) ? payload.length : json.below(70_000);
  const head =
    claimed < 126
      ? Buffer.from([first, claimed])
      : claimed < 65_536
        ? Buffer.from([first, 126, claimed >> 8, claimed & 0xff])
        : Buffer.from([first, 127, 0, 0, 0, 0, 0, claimed >> 16, (claimed >> 8) & 0xff, claimed & 0xff]);
  return Buffer.concat([head, payload]);
}
