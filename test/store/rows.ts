/** Rows for tests. */
import type { NewRow } from '../../src/store/schema.ts'

/** A token whose mint is on the chain: lists leave out those that are closed. */
export const token = (mint: string): NewRow<'tokens'> => ({
  mint,
  status: 'created',
  token_program: 'spl',
  raw_json: '{}',
  external_uid: null,
  metadata_json: null,
  created_at: 1_700_000_000_000,
})

/** The least transaction that can be read: one signature, one key, no instruction. */
export const LEAST_TRANSACTION = Buffer.concat([
  Buffer.of(1),
  Buffer.alloc(64),
  Buffer.of(1, 0, 0, 1),
  Buffer.alloc(32 + 32),
  Buffer.of(0),
])

export const apiKey = (id: string): NewRow<'api_keys'> => ({
  id,
  name: 'test',
  hash: `hash of ${id}`,
  preview: 'svc_test_',
  scopes_json: '[]',
  per_minute: 120,
  per_day: 50_000,
  status: 'active',
  created_at: 1_700_000_000_000,
  revoked_at: null,
  expires_at: null,
  allow_ips_json: null,
})
