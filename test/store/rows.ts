/** Rows for tests. */
import type { NewRow } from '../../src/store/schema.ts'

export const token = (mint: string): NewRow<'tokens'> => ({
  mint,
  status: 'created',
  token_program: 'spl',
  raw_json: null,
  external_uid: null,
  metadata_json: null,
  created_at: 1_700_000_000_000,
})

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
})
