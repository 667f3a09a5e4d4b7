/** Builds a claim that the platform wallet pays for. The claimer signs it first. */

import { timingSafeEqual } from 'node:crypto'
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { explainTransactionError } from '../../chain/errors/index.ts'
import { AIRDROP_CLAIM_UNITS, buildSponsoredClaim, claimRents } from '../../chain/programs/merkle-distributor/index.ts'
import { readWallets } from '../../chain/reads/rpc-reads.ts'
import { requireGuarded } from '../../chain/sending/guard-report.ts'
import { namesIn } from '../../chain/sending/transactions.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../platform/errors.ts'
import { feeOfMessage } from '../../solana/fees.ts'
import { type DecodedTransaction, decodeWireTransaction } from '../../solana/messages.ts'
import { type PayableClaim, requireClaim, storedLeaf } from '../airdrops/claimable-leaf.ts'
import { type BuiltTransaction, buildTransaction, trackingOf, unsignedAnswer } from '../building.ts'
import { guardModeOf, readPolicyState } from '../signing/policy-state.ts'
import { requireCluster, requireSigner } from '../signing/require-signer.ts'
import { messageSha256 } from '../transactions/message-terms.ts'
import { claimWouldFail, sponsorUnavailable } from './refusals.ts'
import { notingRefusals } from './refused-claims.ts'
import { requireBudget, requireSponsorship, requireUnpaused, requireUnsponsored } from './sponsorship-checks.ts'

type BuildSponsoredClaimRoute = Api['sponsorships']['build']

export const SPONSORED_CLAIM = 'airdrop.sponsored_claim'

/** Reserves and stores nothing, because anyone may request the claim of any listed wallet. */
export const buildSponsoredClaimFor = (
  context: Context,
  input: Input<BuildSponsoredClaimRoute>,
): Promise<Result<BuildSponsoredClaimRoute>> => notingRefusals(context, input.id, buildFor(context, input))

async function buildFor(
  context: Context,
  { id, claimer }: Input<BuildSponsoredClaimRoute>,
): Promise<Result<BuildSponsoredClaimRoute>> {
  await requireSponsorship(context, id)
  const signer = await requireSigner(context)
  await requireUnpaused(context, signer)
  if (claimer === signer.address) {
    throw badRequest('claimer: the platform wallet has no sponsored claims: claim like any other wallet', {
      param: 'claimer',
    })
  }
  await requireUnsponsored(context, { airdrop_id: id, wallet: claimer, genesis: await requireCluster(context) })
  const { payable, lent, accountRent } = await sponsoredClaimTerms(context, id, claimer)
  const { policy } = await readPolicyState(context.store.db, context.clock, signer.address)
  const guard = guardModeOf(policy, context.guard)
  const built = await buildPaid({ ...context, guard }, signer.address, accountRent + lent, (envelope) =>
    buildSponsoredClaim({ ...envelope, ...payable.claim, claimer, lent }),
  )
  // What the policy would refuse once the claimer has signed is refused now.
  if (policy.guards === 'required') requireGuarded(built.guarding)
  const decoded = decodeWireTransaction(built.transaction)
  const lamports = feeOfMessage(decoded.message) + lent + accountRent
  await requireBudget(context, id, lamports)
  return {
    ...unsignedAnswer({ ...built, requiredSigners: [claimer] }),
    id: sponsoredClaimId(context, id, decoded, built.lastValidBlockHeight),
    fee_payer: signer.address,
    lamports: String(lamports),
    tracked_resource: trackingOf('airdrop', id, ['airdrop.claimed']),
  }
}

/** A claim that may be paid for, with the lamports for its rent. */
interface SponsoredClaimTerms {
  payable: PayableClaim
  lent: bigint
  accountRent: bigint
}

/** Throws like `requireClaim`, and not_found for a wallet that is not listed. */
export async function sponsoredClaimTerms(
  context: Pick<Context, 'store' | 'chain' | 'txVersion' | 'signer' | 'log'>,
  id: string,
  claimer: string,
): Promise<SponsoredClaimTerms> {
  const leaf = await storedLeaf(context, id, claimer)
  const payable = await requireClaim(context, { id, claimer, leaf })
  const { status, tokens, claim } = payable
  const opened = claim.opensAccount ? tokens.account : undefined
  const rents = await claimRents(context.chain, { status: status.account, tokens: opened })
  return { payable, ...rents }
}

/**
 * Throws bad_request for a claim that fails in the simulation. A platform wallet without funds is reported separately.
 */
async function buildPaid(
  context: Context,
  wallet: string,
  rent: bigint,
  build: Parameters<typeof buildTransaction>[1]['build'],
): Promise<BuiltTransaction> {
  let failure: string | undefined
  const built = await buildTransaction(context, {
    payer: wallet,
    fallbackUnits: AIRDROP_CLAIM_UNITS,
    build,
    onFailedSimulation({ transaction, err, logs }) {
      const { message } = decodeWireTransaction(transaction)
      const { program, name, message: words } = explainTransactionError(err, { logs, ...namesIn(message) })
      failure = `${program === null ? '' : `${program}: `}${name}: ${words}`
    },
  })
  if (failure === undefined) return built
  const [held] = await readWallets(context.chain, [wallet])
  if ((held?.lamports ?? 0n) >= rent + LEAST_HELD) throw claimWouldFail(failure)
  throw sponsorUnavailable('it has too little SOL; send it some')
}

/** Lamports that the wallet needs in addition to the rent, for its own rent exemption and the fee. */
const LEAST_HELD = 3_000_000n

// Makes and checks ids of sponsored claims. An id proves that this installation built exactly this message for this
// airdrop.

type Sealing = Pick<Context, 'vault'>
type Message = Pick<DecodedTransaction, 'message' | 'messageBytes'>

const PURPOSE = 'sponsored claim'
const ID = /^spc_([0-9]{1,15})_([A-Za-z0-9_-]{43})$/

/** Builds are not stored, so that requests of strangers cannot fill a table. */
function sponsoredClaimId(
  { vault }: Sealing,
  airdropId: string,
  message: Message,
  lastValidBlockHeight: number,
): string {
  const text = `${airdropId}\n${lastValidBlockHeight}\n${messageSha256(message)}`
  return `spc_${lastValidBlockHeight}_${Buffer.from(vault.mac(text, PURPOSE), 'hex').toString('base64url')}`
}

/** Returns the last block height of the build, or null if the message was not built here under this id. */
export function heightOfSponsoredClaim(
  services: Sealing,
  id: string,
  airdropId: string,
  message: Message,
): number | null {
  const height = Number(ID.exec(id)?.[1] ?? Number.NaN)
  if (!Number.isSafeInteger(height)) return null
  const own = Buffer.from(sponsoredClaimId(services, airdropId, message, height))
  const given = Buffer.from(id)
  return own.length === given.length && timingSafeEqual(own, given) ? height : null
}
