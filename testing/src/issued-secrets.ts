/** Made-up examples of every kind of secret with a known format. They are assembled here so that no secret scanner reports them. */
const letters = (count: number): string => 'a1B2c3D4e5F6g7H8'.repeat(8).slice(0, count);
const capitals = (count: number): string => 'A1B2C3D4E5F6G7H8'.repeat(8).slice(0, count);

/** By kind, as the library names them. */
export const ISSUED_SECRETS: Readonly<Record<string, readonly string[]>> = {
  'a token for this daemon': [`tbk_${letters(43)}`, `tbk_-_${letters(41)}`],
  'a private key': [`-----BEGIN PRIVATE KEY-----\n${letters(64)}\n-----END PRIVATE KEY-----`],
  'a GitHub token': [
    ...['p', 'o', 'u', 's', 'r'].map((kind) => `gh${kind}_${letters(36)}`),
    `github_pat_${letters(22)}_${letters(59)}`,
  ],
  'a GitLab token': ['pat', 'dt', 'rt', 'ptt', 'soat', 'cbt', 'ft', 'agent'].map(
    (kind) => `gl${kind}-${letters(26)}`,
  ),
  'an AWS key': [`AKIA${capitals(16)}`, `ASIA${capitals(16)}`],
  'a Google key': [`AIza${letters(35)}`, `GOCSPX-${letters(28)}`, `ya29.${letters(60)}`],
  'a Slack token': [...'abeoprs']
    .map((kind) => `xox${kind}-1234567890-${letters(24)}`)
    .concat(`xapp-1-A1-${letters(40)}`),
  "a model provider's key": ['', 'ant-', 'proj-', 'or-']
    .map((kind) => `sk-${kind}${letters(40)}`)
    .concat(`hf_${letters(34)}`),
  'a payment key': [`sk_live_${letters(24)}`, `rk_test_${letters(24)}`],
  'an npm token': [`npm_${letters(36)}`],
  'a PyPI token': [`pypi-${letters(80)}`],
  'a Docker token': [`dckr_pat_${letters(27)}`],
  'a signed token': [`eyJ${letters(20)}.${letters(30)}.${letters(43)}`],
};
