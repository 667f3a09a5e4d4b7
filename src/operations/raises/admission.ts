/** How a wallet may open its account in a raise: freely, or by a proof from the request or the stored allowlist. */
import type { Api } from '../../api/index.ts'
import type { Input } from '../../api/route.ts'
import { merkleRootAddress, type ProvenCap, readOpening } from '../../chain/programs/presale/index.ts'
import type { Services } from '../../context.ts'
import { type AllowanceProof, entryKey, proofIn, provenAllowance } from '../../merkle/allowlist.ts'
import { LeafLayoutError } from '../../merkle/errors.ts'
import { toHex } from '../../merkle/tree.ts'
import { internal } from '../../platform/errors.ts'
import { type AllowlistRow, allowlistsOf, findPiece } from '../../store/resources/raise-allowlists.ts'
import { fault } from '../locks/checks.ts'
import { hashBytesOf, keyBytesOf } from '../merkle-trees/open-tree.ts'
import type { Sale } from './require-raise.ts'

export interface Admission {
  /** Most that the wallet may deposit; undefined for the limit of the round. */
  cap: bigint | undefined
  /** Opens the account; null without an allowlist, and if the account is there. */
  proven: ProvenCap | null
}

type Asked = Pick<Input<Api['raises']['deposit']>, 'cap' | 'proof'>

/** Throws bad_request for a wallet that is not on the allowlist, and for a proof of another list. */
export async function admissionOf(
  services: Pick<Services, 'store' | 'chain'>,
  { raise, round, escrow }: Sale,
  wallet: string,
  { cap, proof }: Asked,
): Promise<Admission> {
  const { address, allowlist } = raise
  if ((cap === undefined) !== (proof === undefined))
    throw fault(cap === undefined ? 'cap' : 'proof', 'cap and proof belong together: send both, or none')
  if (escrow !== null) return { cap: escrow.cap, proven: null }
  if (allowlist === 'none') return { cap: undefined, proven: null }
  if (allowlist === 'operator') {
    throw fault('id', `An operator of the creator signs for each buyer of the raise ${address}, which svc does not do`)
  }
  const { roots } = await readOpening(services.chain, address)
  const admit = ({ cap, proof, config }: Omit<ProvenCap, 'round'>) => ({ cap, proven: { round, cap, proof, config } })
  if (cap !== undefined && proof !== undefined) {
    const leaf = { wallet: keyBytesOf(wallet), round: round + 1, cap: BigInt(cap) }
    const hashes = proof.map(hashBytesOf)
    const version = roots.indexOf(toHex(provenAllowance(leaf, hashes)))
    if (version >= 0)
      return admit({ cap: leaf.cap, proof: hashes, config: merkleRootAddress(address, BigInt(version)) })
    throw fault(
      'proof',
      `proof: it leads to no root of the raise ${address} from ${wallet}, round ${round + 1} and cap ${cap}`,
    )
  }
  const found = await findAllowance(services, address, { wallet, round: round + 1 })
  if (found === null) {
    const message = `buyer: ${wallet} is not in round ${round + 1} of the allowlist that is stored here for the raise ${address}; with another list send cap and proof`
    throw fault('buyer', message, { reason: 'not_listed' })
  }
  if (typeof roots[found.version] === 'string') return admit(found)
  const message = `id: the allowlist of the raise ${address} is not open yet: its creator writes its root on chain first (POST /v2/raises/{id}/openings, \`svc raises open\`)`
  throw fault('id', message, { reason: 'not_open' })
}

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
