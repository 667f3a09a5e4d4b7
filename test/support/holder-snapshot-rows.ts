/** Rows of holder snapshots without holders, for tests of lists. */
import type { NewRow } from '../../src/store/schema.ts'
import { wallet } from './trees.ts'

export const holderSnapshotRow = (n: number): NewRow<'holder_snapshots'> => ({
  ...{
    id: `hsn_${n}`,
    address: wallet(n),
    mint: wallet(n),
    collection: null,
    token_program: 'spl',
    decimals: 6,
    slot: n,
    block_time: null,
  },
  ...{ supply: '0', withheld: '0', confidential: '0', accounts: 0, holders: 0, owners: 'all', pieces: 0 },
  ...{ kinds_json: '[]', programs_json: '[]', holders_sha256: '00'.repeat(32) },
  ...{ external_uid: null, metadata_json: null, created_at: n },
})
