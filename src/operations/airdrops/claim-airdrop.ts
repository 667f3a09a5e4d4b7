/** Builds the claim of one wallet, from the stored tree or from a given amount and proof. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { decodeTokenAccount } from '../../chain/balance-changes.ts'
import {
  AIRDROP_CLAIM_UNITS,
  buildAirdropClaim,
  claimStatusAddress,
  decodeClaimStatus,
  requireRoomForProof,
  tokenAccountAddress,
} from '../../chain/programs/merkle-distributor/index.ts'
import type { Context } from '../../context.ts'
import { badRequest, notFound } from '../../errors.ts'
import { lookUpProof } from '../../merkle/stored-tree.ts'
import { verifyProof } from '../../merkle/tree.ts'
import { findTree } from '../../store/merkle-trees.ts'
import type { Row } from '../../store/schema.ts'
import { buildTransaction, trackingOf, unsignedAnswer } from '../building.ts'
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
import { swapToSol } from './swap-to-sol.ts'

type ClaimAirdropRoute = Api['airdrops']['claim']

/** The amount and proof of a claim. `tree` is the stored tree, or null when amount and proof were in the request. */
interface Leaf {
  amount: bigint
  proof: Uint8Array[]
  tree: Row<'merkle_trees'> | null
}

export async function claimAirdrop(
  context: Context,
  input: Input<ClaimAirdropRoute>,
): Promise<Result<ClaimAirdropRoute>> {
  const { chain } = context
  const { id, claimer } = input
  const { mint } = airdropKeyOf(id)
  const leaf = input.proof === undefined ? await storedLeaf(context, id, claimer) : requestLeaf(input, input.proof)
  requireRoomForProof(leaf.proof.length, context.txVersion)
  const account = await tokenAccountAddress(mint, claimer)
  let statusAddress = ''
  const read = await readAirdrop(chain, id, async ({ distributor }) => {
    statusAddress = await claimStatusAddress(distributor, claimer)
    return [statusAddress, account]
  })
  const airdrop = requireDistributor(chain, read)
  if (leaf.tree === null) requireProof(airdrop, claimer, leaf)
  const held = airdrop.accounts.get(account) ?? null
  const fault = claimFault({
    ...airdrop,
    claimer,
    amount: leaf.amount,
    root: leaf.tree?.root ?? null,
    reasonsNotToFund: await reasonsNotToFund(mint, airdrop.distributor, leaf.tree),
    status: decodeClaimStatus(airdrop.accounts.get(statusAddress) ?? null),
    account: held === null ? null : decodeTokenAccount(held),
  })
  if (fault !== null) {
    const { reason, message, param, details } = fault
    throw badRequest(message, { param, details: { reason, ...details } })
  }
  const claim = {
    distributor: airdrop.address,
    mint,
    amount: leaf.amount,
    proof: leaf.proof,
    opensAccount: !isOpen(held),
  }
  const built = await buildTransaction(context, {
    payer: claimer,
    platformFee: input.platform_fee,
    fallbackUnits: AIRDROP_CLAIM_UNITS,
    build: (envelope) => buildAirdropClaim({ ...envelope, ...claim }),
  })
  const swap = input.swap_to_sol ? await swapToSol(context, { mint, amount: leaf.amount, payer: claimer }, built) : null
  return {
    ...unsignedAnswer(built),
    swap_transaction: swap === null ? null : unsignedAnswer(swap).transaction,
    tracked_resource: trackingOf('airdrop', id, ['airdrop.claimed']),
  }
}

/** Throws not_found without the tree, or when the wallet is not in it. */
async function storedLeaf(context: Context, id: string, claimer: string): Promise<Leaf> {
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

function requestLeaf({ amount }: Input<ClaimAirdropRoute>, proof: readonly string[]): Leaf {
  return { amount: BigInt(amount), proof: proof.map(hashBytesOf), tree: null }
}

/** Checks the proof by the root that the program will check it with. Throws bad_request when it does not match. */
function requireProof({ distributor, id }: PresentAirdrop, claimer: string, { amount, proof }: Leaf): void {
  if (verifyProof(keyBytesOf(claimer), amount, proof, hashBytesOf(distributor.root))) return
  throw badRequest(
    `proof: it does not lead from ${claimer} and the amount ${amount} to the root ${distributor.root} of the airdrop ${id}: claim with the amount and proof that were made for this wallet`,
    { param: 'proof', details: { root: distributor.root, claimer, amount: String(amount) } },
  )
}
