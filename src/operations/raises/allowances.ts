/** What the stored allowlist of a raise says about a wallet, with its proof. */
import { merkleRootAddress } from '../../chain/programs/presale/index.ts'
import type { Services } from '../../context.ts'
import { type AllowanceProof, entryKey, proofIn } from '../../merkle/allowlist.ts'
import { LeafLayoutError } from '../../merkle/errors.ts'
import { internal } from '../../platform/errors.ts'
import { type AllowlistRow, allowlistsOf, findPiece } from '../../store/resources/raise-allowlists.ts'
import { hashBytesOf, keyBytesOf } from '../merkle-trees/open-tree.ts'

interface StoredAllowance extends AllowanceProof {
  /** Version and address of the root that it proves. */
  version: number
  config: string
}

/**
 * Returns the allowance of a wallet in a round, from 1; null if it has none. Its cap is that of the newest list, and its
 * proof that of the oldest list with this cap, whose root is on chain first.
 */
export async function findAllowance(
  { store }: Pick<Services, 'store'>,
  id: string,
  { wallet, round }: { wallet: string; round: number },
): Promise<StoredAllowance | null> {
  const key = entryKey(keyBytesOf(wallet), round)
  let found: StoredAllowance | null = null
  for (const list of await allowlistsOf(store.db, id)) {
    const piece = await findPiece(store.db, list, key)
    const proven = piece && provenIn(list, piece, key)
    if (!proven || (found !== null && proven.cap !== found.cap)) break
    found = { ...proven, version: list.version, config: merkleRootAddress(id, BigInt(list.version)) }
  }
  return found
}

function provenIn({ raise_id, root }: AllowlistRow, piece: { entries: Buffer; path: Buffer }, key: string) {
  try {
    return proofIn(piece, key, hashBytesOf(root)) ?? null
  } catch (error) {
    if (!(error instanceof LeafLayoutError)) throw error
    throw internal(`The stored allowlist of the raise ${raise_id} does not lead to its root`, { cause: error })
  }
}
