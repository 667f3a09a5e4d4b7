/** Handles collections of Metaplex Core, whose two counters change whenever anyone mints or burns. */
import type { ChainAccount } from '../../solana/accounts.ts'
import { utf8 } from '../../solana/bytes.ts'
import { METAPLEX_CORE } from '../../solana/programs/metaplex-core.ts'

const COUNTERS_BYTES = 8

/** Returns the data without the counters `num_minted` and `current_size`, or null if it is not a collection or is cut off. */
export function withoutCounters(account: ChainAccount): Buffer | null {
  const fields = METAPLEX_CORE.decode('collection', account)
  if (fields === null) return null
  const { name, uri } = fields
  const texts = METAPLEX_CORE.offsetOf('collection', 'name')
  const at = [name, uri].reduce((sum, text) => sum + 4 + utf8(text).length, texts)
  return Buffer.concat([account.data.subarray(0, at), account.data.subarray(at + COUNTERS_BYTES)])
}
