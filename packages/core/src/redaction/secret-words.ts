/**
 * Detects text that asks for something nobody should type into an untrusted form. Sees through the usual disguises
 * (case, separators, accents, look-alike letters, digits for letters, invisible characters) and knows a few
 * languages. It is incomplete, and in doubt it matches.
 */

/** Unmistakable even inside a word: `dbpassword`. */
const STEMS = [
  'password|passphrase|passcode|passwd|apikey|privatekey|secretkey|accesskey|accesstoken|authtoken|refreshtoken',
  'bearertoken|clientsecret|seedphrase|mnemonic|creditcard|cardnumber',
  'passwort|kennwort|motdepasse|contrasena|wachtwoord|losenord|adgangskode|passord|salasana|kreditkarte|kreditkort',
].join('|');

/** Secrets that also fit into a number field. */
const NUMBERS = [
  '(?:your|card|bank|account|sim|the) pin|pin ?(?:code|number|nummer)|code pin|codice pin',
  '(?:credit|debit|payment|bank) ?cards?|card (?:number|no|details|verification)|cvv2?|cvc2?|cvn|csc',
  'otp|totp|2fa|mfa|two factor|one ?time ?(?:code|pin|passwords?)|backup codes?|recovery codes?',
  '(?:verification|authenticat(?:ion|or)|sms|login|security|access|auth|sign ?in) codes?',
  'ssn|social security|national insurance number|bank account number|routing number',
  'geheimzahl|geheimnummer|kartennummer|pruf(?:nummer|ziffer)|einmalcode|sicherheitscode|bestatigungscode|m?tan nummer',
  'code secret|code de (?:verification|securite)|carte (?:bancaire|bleue|de credit)|numero de carte|cryptogramme',
  'codigo de (?:verificacion|seguridad|acceso)|tarjeta de (?:credito|debito)|numero de (?:la )?tarjeta',
  'codigo de (?:verificacao|seguranca)|cartao de credito|numero do cartao',
  'codice (?:di verifica|segreto|di sicurezza)|carta di credito|numero (?:di|della) carta',
  'pincode|verificatiecode|beveiligingscode|numer karty|kod weryfikacyjny|engangskode?|tunnusluku|kredi karti',
].join('|');

const COUNTED =
  'max|min|page|continuation|sync|pagination|stop|design|per|of|output|input|completion|prompt|cancellation';
const ABOUT =
  'limit|count|budget|address|ids?|symbol|amount|name|type|contract|usage|price|standard|balance|supply';

const WORDS = [
  'pass ?(?:words?|phrases?|codes?|wd|keys?)|pwd|credentials?|creds|bearer|jwt|secrets?|client secret',
  `(?<!\\b(?:${COUNTED}) )token(?! (?:${ABOUT})\\b)|(?:access|auth|bearer|api|refresh|session) tokens`,
  '(?:api|private|secret|access|signing|encryption|decryption|ssh|pgp|gpg|master|recovery|deploy|wallet) ?keys?',
  'service account key|session (?:id|cookie)|auth cookie|cookie header|id rsa|pem file|key ?store',
  'seed ?(?:phrase|words?)|recovery (?:phrase|words?)|wallet (?:phrase|seed|words?)|(?:12|24) words? phrase',
  "security (?:answer|question)|mother['’ ]?s? maiden name",
  'geheimnis|zugangsdaten|anmeldedaten|zugriffs ?token|(?:geheimer|privater|api) schlu(?:e)?ssel|wiederherstellungs\\w+',
  "mots? de passe|cle(?:f)? (?:privee|secrete|api|d ?['’]? ?api|d ?['’]? ?acces)|jeton|phrase (?:de recuperation|secrete)",
  'clave (?:secreta|privada|de acceso|api|de api)|frase (?:semilla|de recuperacion)|credenciales',
  'senha|palavra ?passe|chave (?:privada|secreta|de acesso|de api|api)',
  'parola d ?.? ?ordine|chiave (?:privata|segreta|api|di accesso)|credenziali|frase di recupero',
  'geheime sleutel|inloggegevens|haslo|klucz (?:prywatny|api)|heslo|sifre|jelszo|lozinka|mat khau|kata sandi',
].join('|');

const bounded = (words: string, stems: string): RegExp =>
  new RegExp(`(?<![a-z0-9])(?:${words})(?![a-z0-9])|${stems}|^(?:pin|tan)$`);
const NUMBER_PATTERN = bounded(NUMBERS, 'creditcard|cardnumber|kreditkarte');
const TEXT_PATTERN = bounded(`${WORDS}|${NUMBERS}`, STEMS);

const OTHER_SCRIPTS = new RegExp(
  [
    'парол|пин-?код|секретн|(?:приватн|закрыт)\\S* ключ|код подтверждения|одноразов\\S* код|номер карт|кредитн\\S* карт|токен',
    '密码|密碼|口令|私钥|私鑰|密钥|密鑰|验证码|驗證碼|信用卡|助记词|助記詞|令牌|卡号|卡號',
    'パスワード|暗証番号|秘密鍵|認証コード|確認コード|クレジットカード|トークン|シークレット|暗号鍵',
    '비밀번호|암호|인증번호|신용카드|개인 ?키|비밀 ?키|토큰',
    'كلمة المرور|كلمة السر|رمز التحقق|بطاقة الائتمان|סיסמה|סיסמא|कूटशब्द|पासवर्ड|ओटीपी|รหัสผ่าน|κωδικ\\S+ πρ[οό]σβασης|συνθηματικ[οό]',
  ]
    .join('|')
    .normalize('NFKC'),
);

const SEPARATE: Readonly<Record<string, string>> = {
  ł: 'l',
  ø: 'o',
  ß: 'ss',
  đ: 'd',
  ı: 'i',
  æ: 'ae',
  œ: 'oe',
};
const LOOK_ALIKES: Readonly<Record<string, string>> = Object.fromEntries(
  ['аaеeоoрpсcхxуyіiѕsјjԁdԛqѡwкkмmтtнhвbгr', 'αaοoρpεeιiκkνvτtυuχxηnσsςsωw', '0o1i3e4a5s7t@a$s!i'].flatMap(
    (pairs) =>
      [...pairs].flatMap((letter, index, all) => (index % 2 === 0 ? [[letter, all[index + 1] ?? '']] : [])),
  ),
);

const MAX_SCANNED_LENGTH = 8_000;

/** The words by which a text names a secret; undefined if it names none. With `numeric`, only those made of digits. */
export function findSecretWord(text: string, { numeric = false } = {}): string | undefined {
  const pattern = numeric ? NUMBER_PATTERN : TEXT_PATTERN;
  const start = text.slice(0, MAX_SCANNED_LENGTH);
  // Capitals start a word, or disguise one.
  return find(toWords(splitCapitals(start)), pattern) ?? find(toWords(start), pattern);
}

function find(plain: string, pattern: RegExp): string | undefined {
  const latin = withoutAccents(plain);
  const unmasked = toWords(replaceAll(latin, LOOK_ALIKES));
  return pattern.exec(latin)?.[0] ?? OTHER_SCRIPTS.exec(plain)?.[0] ?? pattern.exec(unmasked)?.[0];
}

/** Lower-case words with single spaces: `apiKey`, `API_KEY` and `a p i - k e y` all become `api key`, or `apikey`. */
function toWords(text: string): string {
  return text
    .replace(/[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, '')
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\s_\-.:/\\*]+/g, ' ')
    .replace(/(?<![\p{L}\p{N}])\p{L}(?: \p{L}){2,}(?![\p{L}\p{N}])/gu, (spaced) => spaced.replaceAll(' ', ''))
    .trim();
}

const splitCapitals = (text: string): string =>
  text.replace(/(\p{Ll})(\p{Lu})|([\p{Lu}\d])(\p{Lu}\p{Ll})/gu, '$1$3 $2$4');

const withoutAccents = (text: string): string =>
  replaceAll(
    text
      .normalize('NFD')
      .replace(/(?<=\p{Script=Latin}\p{M}{0,4})\p{M}/gu, '')
      .normalize('NFC'),
    SEPARATE,
  );

const replaceAll = (text: string, letters: Readonly<Record<string, string>>): string =>
  [...text].map((letter) => (Object.hasOwn(letters, letter) ? letters[letter] : letter)).join('');
