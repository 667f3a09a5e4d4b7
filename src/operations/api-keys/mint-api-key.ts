/** Generates a bearer key and the part of it that is stored. */
import { hash } from 'node:crypto'
import { newId, randomText } from '../../store/id.ts'

/** Returns `svc_live_<32 base62>` or `svc_test_…` with 190 bits of randomness. Only its SHA-256 is stored. */
export function mintApiKey(kind: 'live' | 'test', key?: string) {
  const minted = key ?? `svc_${kind}_${randomText(32)}`
  return {
    key: minted,
    row: {
      id: newId('key'),
      hash: hash('sha256', minted, 'hex'),
      preview: `${minted.slice(0, 9)}…${minted.slice(-4)}`,
      status: 'active' as const,
      revoked_at: null,
    },
  }
}
