/** Finds the leaf of a wallet, and checks on chain that its claim would be paid now. */
import type { Api } from '../../api/index.ts'
import type { Input } from '../../api/route.ts'
import {
  claimStatusAddress,
  type DistributorClaim,
  type DistributorLeaf,
  decodeClaimStatus,
  hasRoomForVested,
  requireRoomForProof,
  tokenAccountAddress,
} from '../../chain/programs/merkle-distributor/index.ts'
import type { MaybeAccount } from '../../chain/reads/node-reads.ts'
import { decodeTokenAccount } from '../../chain/sending/balance-changes.ts'
import type { Envelope } from '../../chain/sending/unsigned.ts'
import type { Context } from '../../context.ts'
import { lookUpProof } from '../../merkle/stored-tree.ts'
import { verifyProof } from '../../merkle/tree.ts'
import { badRequest, notFound } from '../../platform/errors.ts'
import { findTree } from '../../store/airdrops/merkle-trees.ts'
import type { Row } from '../../store/schema.ts'
import { hashBytesOf, keyBytesOf, withRow } from '../merkle-trees/open-tree.ts'
import { trySigner } from '../signing/require-signer.ts'
import { claimFaultInTokens } from './claim-faults.ts'
import { claimPayment } from './claim-payment.ts'
import {
  airdropKeyOf,
  isOpen,
  type PresentAirdrop,
  readAirdrop,
  reasonsNotToFund,
  requireDistributor,
} from './on-chain.ts'

/** The leaf of a claim. `tree` is the stored tree, or null when amounts and proof were in the request. */
interface ClaimLeaf extends DistributorLeaf {
  proof: Uint8Array[]
  tree: Row<'merkle_trees'> | null
}

/** A claim that the program would pay now. */
export interface PayableClaim {
  mint: string
  /** What the builder needs besides the envelope. */
  claim: Omit<DistributorClaim, keyof Envelope>
  /** Raw units that the claim pays. */
  amount: bigint
  /** The account that the claim creates, which may hold lamports already. */
  status: { address: string; account: MaybeAccount }
  /** The claimer's token account, which may be missing or hold only lamports. */
  tokens: { address: string; account: MaybeAccount }
}

/** Throws bad_request with `details.reason` for a claim that would not be paid, not_found without a distributor. */
export async function requireClaim(
  context: Pick<Context, 'chain' | 'txVersion' | 'signer' | 'log'>,
  { id, claimer, leaf }: { id: string; claimer: string; leaf: ClaimLeaf },
): Promise<PayableClaim> {
  const { chain, txVersion } = context
  const { mint } = airdropKeyOf(id)
  requireRoomForProof(leaf.proof.length, txVersion)
  const account = tokenAccountAddress(mint, claimer)
  let statusAddress = ''
  const read = await readAirdrop(chain, id, async ({ distributor }) => {
    statusAddress = claimStatusAddress(distributor, claimer)
    return [statusAddress, account]
  })
  const airdrop = requireDistributor(chain, read)
  if (leaf.tree === null) requireProof(airdrop, claimer, leaf)
  const held = airdrop.accounts.get(account) ?? null
  const statusAccount = airdrop.accounts.get(statusAddress) ?? null
  const status = decodeClaimStatus(statusAccount)
  const payment = claimPayment(leaf, airdrop.distributor, status, airdrop.now)
  const fault = await claimFaultInTokens(chain, mint, {
    ...airdrop,
    claimer,
    payment,
    platform: (await trySigner(context))?.address ?? null,
    vests: leaf.locked > 0n || (leaf.tree !== null && leaf.tree.total_locked !== '0'),
    root: leaf.tree?.root ?? null,
    reasonsNotToFund: await reasonsNotToFund(mint, airdrop.distributor, leaf.tree),
    status,
    account: held === null ? null : decodeTokenAccount(held),
  })
  if (fault !== null) {
    const { reason, message, param, details } = fault
    throw badRequest(message, { param, details: { reason, ...details } })
  }
  // With the longest proofs the vested amount does not fit and needs a second claim.
  const takesVested = payment.vested > 0n && (status !== null || hasRoomForVested(leaf.proof.length, txVersion))
  return {
    mint,
    amount: payment.unlocked + (takesVested ? payment.vested : 0n),
    claim: {
      distributor: airdrop.address,
      mint,
      leaf: status === null ? leaf : null,
      takesVested,
      opensAccount: !isOpen(held),
    },
    status: { address: statusAddress, account: statusAccount },
    tokens: { address: account, account: held },
  }
}

/** Throws not_found without the tree, or when the wallet is not in it. */
export async function storedLeaf(context: Pick<Context, 'store'>, id: string, claimer: string): Promise<ClaimLeaf> {
  const tree = await findTree(context.store.db, id)
  if (tree === null) {
    throw notFound(
      `There is no merkle tree ${id}: to claim without a stored tree, send the amount and proof of ${claimer}`,
      {
        param: 'proof',
      },
    )
  }
  return withRow(context, tree, async ({ row, head, read }) => {
    const leaf = await lookUpProof(head, keyBytesOf(claimer), read)
    if (leaf !== undefined) return { amount: leaf.amount, locked: leaf.locked, proof: leaf.proof, tree: row }
    throw notFound(`The wallet ${claimer} is not in the merkle tree ${id}: it has nothing to claim`, {
      param: 'claimer',
      details: { reason: 'not_listed' },
    })
  })
}

export function requestLeaf(
  { amount, amount_locked }: Pick<Input<Api['airdrops']['claim']>, 'amount' | 'amount_locked'>,
  proof: readonly string[],
): ClaimLeaf {
  return { amount: BigInt(amount), locked: BigInt(amount_locked ?? 0), proof: proof.map(hashBytesOf), tree: null }
}

/** Checks the proof by the root that the program will check it with. Throws bad_request when it does not match. */
function requireProof({ distributor, id }: PresentAirdrop, claimer: string, leaf: ClaimLeaf): void {
  const { amount, locked, proof } = leaf
  if (verifyProof(keyBytesOf(claimer), amount, proof, hashBytesOf(distributor.root), locked)) return
  const amounts = locked === 0n ? `the amount ${amount}` : `the amounts ${amount} and ${locked} (locked)`
  throw badRequest(
    `proof: it does not lead from ${claimer} and ${amounts} to the root ${distributor.root} of the airdrop ${id}: claim with the amount and proof that were made for this wallet`,
    {
      param: 'proof',
      details: { root: distributor.root, claimer, amount: String(amount), amount_locked: String(locked) },
    },
  )
}
