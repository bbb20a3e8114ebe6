import type { Adapter, AdapterPayload } from 'oidc-provider';

/** How long a used refresh token is accepted again, in ms: some authorization servers tolerate a lost response. */
export type Grace = () => number;

const GRANTED = new Set(['AccessToken', 'AuthorizationCode', 'RefreshToken', 'DeviceCode']);

/** The storage of an authorization server, in memory. */
export function createRotatingStore(grace: Grace): (model: string) => Adapter {
  const kept = new Map<string, { payload: AdapterPayload; endsAt: number; consumedAt?: number }>();
  const find = (key: string): AdapterPayload | undefined => {
    const found = kept.get(key);
    if (found === undefined || found.endsAt <= Date.now()) return undefined;
    const { payload, consumedAt } = found;
    if (consumedAt === undefined || Date.now() - consumedAt < grace()) return payload;
    return { ...payload, consumed: Math.floor(consumedAt / 1_000) };
  };
  const findBy = (model: string, member: 'uid' | 'userCode', value: string): AdapterPayload | undefined => {
    const keys = [...kept.keys()].filter((key) => key.startsWith(`${model}:`));
    return keys.map(find).find((payload) => payload?.[member] === value);
  };
  return (model) => ({
    async upsert(id, payload, expiresIn) {
      const endsAt = Date.now() + (expiresIn ?? 86_400) * 1_000;
      kept.set(`${model}:${id}`, { payload, endsAt });
    },
    find: async (id) => find(`${model}:${id}`),
    findByUid: async (uid) => findBy(model, 'uid', uid),
    findByUserCode: async (userCode) => findBy(model, 'userCode', userCode),
    async consume(id) {
      const found = kept.get(`${model}:${id}`);
      if (found !== undefined) found.consumedAt ??= Date.now();
    },
    async destroy(id) {
      kept.delete(`${model}:${id}`);
    },
    async revokeByGrantId(grantId) {
      for (const [key, { payload }] of kept) {
        if (GRANTED.has(key.split(':')[0] ?? '') && payload.grantId === grantId) kept.delete(key);
      }
    },
  });
}
