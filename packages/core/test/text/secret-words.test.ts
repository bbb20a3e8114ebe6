import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findSecretShape } from '../../src/redaction/secret-shapes.js';
import { findSecretWord } from '../../src/redaction/secret-words.js';

describe('the name of a secret', () => {
  it.each([
    'password',
    'Pass-Word',
    'userPassword',
    'dbpassword',
    'API_KEY',
    'apiKey',
    'your API key',
    'p a s s w o r d',
    'p.a.s.s.w.o.r.d',
    'p4ssw0rd',
    'p\u0430ssw\u043erd',
    '\uff50\uff41\uff53\uff53\uff57\uff4f\uff52\uff44',
    'pass\u200bword',
    'pass\u00adword',
    'passphrase',
    'access_token',
    'token',
    'GitHub token',
    'clientSecret',
    'private key',
    'SSH key',
    'seed phrase',
    'recovery phrase',
    'wallet seed',
    'pin',
    'PIN code',
    'P-I-N code',
    'otp',
    '2FA code',
    'one-time code',
    'verification code',
    'sign-in code',
    'cvv',
    'Credit Card Number',
    'cardNumber',
    'ssn',
    "mother's maiden name",
    'jwt',
    'Passwort',
    'Kennwort',
    'privater Schl\u00fcssel',
    'API-Schl\u00fcssel',
    'Kreditkartennummer',
    'mot de passe',
    "cl\u00e9 d'API",
    'num\u00e9ro de carte bancaire',
    'Contrase\u00f1a',
    'tarjeta de cr\u00e9dito',
    'senha',
    'wachtwoord',
    'has\u0142o',
    'l\u00f6senord',
    '\u015fifre',
    'пароль',
    'κωδικός πρόσβασης',
    '密码',
    'パスワード',
    '비밀번호',
    'पासवर्ड',
  ])('is %s', (text) => expect(findSecretWord(text)).toEqual(expect.any(String)));

  it.each([
    'name',
    'username',
    'email',
    'city',
    'maxTokens',
    'next_page_token',
    'token count',
    'number of tokens',
    'Which message to pin',
    'keyword',
    'keyboard',
    'compass words',
    'passenger',
    'bypass',
    'secretary',
    'country code',
    'postal code',
    'discount code',
    'tokenizer',
    'author',
    'business card',
    'cookie',
    'tan color',
    'description of the issue',
  ])('is not %s', (text) => expect(findSecretWord(text)).toBeUndefined());

  it('is different for numeric fields', () => {
    expect(findSecretWord('passwordLength', { numeric: true })).toBeUndefined();
    for (const text of ['pin', 'cvv', 'card number', 'one time code', 'ssn'])
      expect(findSecretWord(text, { numeric: true })).toEqual(expect.any(String));
  });

  it('is found through any case and any separators', () => {
    const separator = fc.constantFrom(' ', '_', '-', '.', '\u200b', '\u2060', '');
    const word = fc.constantFrom('password', 'passphrase', 'apikey');
    fc.assert(
      fc.property(word, separator, fc.integer({ min: 0, max: 255 }), (secret, between, upper) => {
        const disguised = [...secret]
          .map((letter, index) =>
            (upper >> (index % 8)) & 1 && between !== '' ? letter.toUpperCase() : letter,
          )
          .join(between);
        expect(findSecretWord(disguised)).toEqual(expect.any(String));
      }),
      { numRuns: 10_000 },
    );
  });

  it('is searched in any text without an error', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        expect(() => findSecretWord(text)).not.toThrow();
      }),
      { numRuns: 10_000 },
    );
  });
});

describe('the shape of a secret', () => {
  it.each([
    ['ghp_abcdefghijklmnopqrstuvwxyz0123456789', 'a GitHub token'],
    ['key: AKIAIOSFODNN7EXAMPLE', 'an AWS key'],
    ['-----BEGIN OPENSSH PRIVATE KEY-----', 'a private key'],
    ['xoxb-1234567890-abc', 'a Slack token'],
    ['sk-ant-abcdefghijklmnopqrst', "a model provider's key"],
    ['4111 1111 1111 1111', 'a card number'],
    ['378282246310005', 'a card number'],
    ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghijkl', 'a signed token'],
  ])('%s is %s', (text, what) => expect(findSecretShape(text)).toBe(what));

  it.each([
    'Ada',
    '4111 1111 1111 1112',
    'sk-8',
    'https://example.com/a?b=c',
    '1700000000000',
    '+49 151 23456789',
  ])('%s has no such shape', (text) => expect(findSecretShape(text)).toBeUndefined());
});
