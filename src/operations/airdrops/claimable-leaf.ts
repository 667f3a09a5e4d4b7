/** Finds the leaf of a wallet, and checks on chain that its claim would be paid now. */
import type { Api } from '../../api/index.ts'
import type { Input } from '../../api/route.ts'
import { decodeTokenAccount } from '../../chain/balance-changes.ts'
import type { MaybeAccount } from '../../chain/plain-reads.ts'
import {
  claimStatusAddress,
  type DistributorClaim,
  decodeClaimStatus,
  requireRoomForProof,
  tokenAccountAddress,
} from '../../chain/programs/merkle-distributor/index.ts'
import type { Envelope } from '../../chain/unsigned.ts'
import type { Context } from '../../context.ts'
import { badRequest, notFound } from '../../errors.ts'
import { lookUpProof } from '../../merkle/stored-tree.ts'
import { verifyProof } from '../../merkle/tree.ts'
import { findTree } from '../../store/merkle-trees.ts'
import type { Row } from '../../store/schema.ts'
import { withRow } from '../merkle-trees/open-tree.ts'
import { hashBytesOf, keyBytesOf } from '../merkle-trees/tree-keys.ts'
import { claimFault } from './claim-faults.ts'
import {
  airdropKeyOf,
  isOpen,
  type PresentAirdrop,
  readAirdrop,
  reasonsNotToFund,
  requireDistributor,
} from './on-chain.ts'

/** The amount and proof of a claim. `tree` is the stored tree, or null when amount and proof were in the request. */
export interface ClaimLeaf {
  amount: bigint
  proof: Uint8Array[]
  tree: Row<'merkle_trees'> | null
}

/** A claim that the program would pay now. */
export interface PayableClaim {
  mint: string
  /** What the builder needs besides the envelope. */
  claim: Omit<DistributorClaim, keyof Envelope>
  /** The account that the claim creates, which may hold lamports already. */
  status: { address: string; account: MaybeAccount }
  /** The claimer's token account, which may be missing or hold lamports alone. */
  tokens: { address: string; account: MaybeAccount }
}

/** Throws bad_request with `details.reason` for a claim that would not be paid, not_found without a distributor. */
export async function requireClaim(
  { chain, txVersion }: Pick<Context, 'chain' | 'txVersion'>,
  { id, claimer, leaf }: { id: string; claimer: string; leaf: ClaimLeaf },
): Promise<PayableClaim> {
  const { mint } = airdropKeyOf(id)
  requireRoomForProof(leaf.proof.length, txVersion)
  const account = await tokenAccountAddress(mint, claimer)
  let statusAddress = ''
  const read = await readAirdrop(chain, id, async ({ distributor }) => {
    statusAddress = await claimStatusAddress(distributor, claimer)
    return [statusAddress, account]
  })
  const airdrop = requireDistributor(chain, read)
  if (leaf.tree === null) requireProof(airdrop, claimer, leaf)
  const held = airdrop.accounts.get(account) ?? null
  const status = airdrop.accounts.get(statusAddress) ?? null
  const fault = claimFault({
    ...airdrop,
    claimer,
    amount: leaf.amount,
    root: leaf.tree?.root ?? null,
    reasonsNotToFund: await reasonsNotToFund(mint, airdrop.distributor, leaf.tree),
    status: decodeClaimStatus(status),
    account: held === null ? null : decodeTokenAccount(held),
  })
  if (fault !== null) {
    const { reason, message, param, details } = fault
    throw badRequest(message, { param, details: { reason, ...details } })
  }
  const { amount, proof } = leaf
  return {
    mint,
    claim: { distributor: airdrop.address, mint, amount, proof, opensAccount: !isOpen(held) },
    status: { address: statusAddress, account: status },
    tokens: { address: account, account: held },
  }
}

/** Throws not_found without the tree, or when the wallet is not in it. */
export async function storedLeaf(context: Pick<Context, 'store'>, id: string, claimer: string): Promise<ClaimLeaf> {
  const tree = await findTree(context.store.db, id)
  if (tree === null) {
    throw notFound(`There is no merkle tree ${id}: to claim without one, send the amount and the proof of ${claimer}`, {
      param: 'proof',
    })
  }
  return withRow(context, tree, async ({ row, head, read }) => {
    const leaf = await lookUpProof(head, keyBytesOf(claimer), read)
    if (leaf !== undefined) return { amount: leaf.amount, proof: leaf.proof, tree: row }
    throw notFound(`The wallet ${claimer} is not in the merkle tree ${id}: it has nothing to claim`, {
      param: 'claimer',
    })
  })
}

export function requestLeaf(
  { amount }: Pick<Input<Api['airdrops']['claim']>, 'amount'>,
  proof: readonly string[],
): ClaimLeaf {
  return { amount: BigInt(amount), proof: proof.map(hashBytesOf), tree: null }
}

/** Checks the proof by the root that the program will check it with. Throws bad_request when it does not match. */
function requireProof({ distributor, id }: PresentAirdrop, claimer: string, { amount, proof }: ClaimLeaf): void {
  if (verifyProof(keyBytesOf(claimer), amount, proof, hashBytesOf(distributor.root))) return
  throw badRequest(
    `proof: it does not lead from ${claimer} and the amount ${amount} to the root ${distributor.root} of the airdrop ${id}: claim with the amount and proof that were made for this wallet`,
    { param: 'proof', details: { root: distributor.root, claimer, amount: String(amount) } },
  )
}
