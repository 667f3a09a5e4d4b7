/** Signs and submits a sponsored claim that its claimer has signed, once for each listed wallet. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { readHeights } from '../../chain/reads/statuses.ts'
import { decodeTransaction } from '../../chain/sending/transactions.ts'
import type { Context } from '../../context.ts'
import { ApiError, Overtaken } from '../../platform/errors.ts'
import { feeOfMessage } from '../../solana/fees.ts'
import { decodeInstruction } from '../../solana/instructions.ts'
import { type DecodedTransaction, decodeWireTransaction, keyAt } from '../../solana/messages.ts'
import { SYSTEM_PROGRAM } from '../../solana/program-ids.ts'
import { signatureHolds } from '../../solana/signatures.ts'
import {
  addToUsed,
  deleteSponsoredClaim,
  findSponsoredClaim,
  insertSponsoredClaim,
  lockSponsorship,
  moveSponsoredClaim,
  type SponsoredClaimRow,
} from '../../store/airdrops/sponsorships.ts'
import type { Tx } from '../../store/store.ts'
import { findTransaction } from '../../store/transactions/transactions.ts'
import { trackingOf } from '../building.ts'
import { requireCluster, requireSigner } from '../signing/require-signer.ts'
import { signAndSubmit } from '../signing/sign-and-submit.ts'
import { openSigningRun, type SigningRun } from '../signing/signing-run.ts'
import type { NewSigningPlan, SigningContext } from '../signing/types.ts'
import { sendFirst } from '../transactions/submit-transaction.ts'
import { heightOfSponsoredClaim, SPONSORED_CLAIM, sponsoredClaimTerms } from './build-sponsored-claim.ts'
import {
  asSponsorshipRefusal,
  changedTransaction,
  claimExpired,
  claimWouldFail,
  sponsoredAlready,
  sponsorUnavailable,
} from './refusals.ts'
import { notingRefusals } from './refused-claims.ts'
import {
  lockForClaim,
  requireBudget,
  requireSponsorship,
  requireUnpaused,
  requireUnsponsored,
} from './sponsorship-checks.ts'

type SubmitSponsoredClaimRoute = Api['sponsorships']['submit']
type Submission = Result<SubmitSponsoredClaimRoute>

/** Blocks that must be left when the platform wallet signs, so that the transaction can still land. */
const LEAST_BLOCKS = 30
/** Retries by the node when a request sends a transaction again. */
const RESENT_MAX_RETRIES = 2

/** A transaction that was built here and signed by its claimer. */
interface SignedBuild {
  /** Id of the sponsored claim. */
  claim: string
  airdropId: string
  claimer: string
  transaction: DecodedTransaction
  lastValidBlockHeight: number
}

/**
 * The message identifies the request. Sending it again, with or without an Idempotency-Key, continues its signing or
 * returns its signature.
 */
export async function submitSponsoredClaim(
  context: Context,
  { id, claim, transaction }: Input<SubmitSponsoredClaimRoute>,
): Promise<Submission> {
  const build = requireBuild(context, { id, claim, transaction: decodeTransaction(transaction) })
  const known = await findSponsoredClaim(context.store.db, claim)
  if (known !== null && known.status !== 'signing') return answerAgain(context, known)
  try {
    return await notingRefusals(context, id, signClaim(context, build, known))
  } catch (error) {
    if (!isTaken(error)) throw asSponsorshipRefusal(error)
    const row = await findSponsoredClaim(context.store.db, claim)
    if (row?.signature) return answerOf(row, row.signature)
    throw sponsoredAlready({ wallet: build.claimer, signature: null })
  }
}

/** Whether another request is signing the same message, or has just done so. */
const isTaken = (error: unknown) =>
  error instanceof Overtaken || (error instanceof ApiError && error.code === 'conflict')

/** Throws bad_request unless the message was built here for this airdrop and its claimer has signed it. */
function requireBuild(
  context: Context,
  { id, claim, transaction }: { id: string; claim: string; transaction: DecodedTransaction },
): SignedBuild {
  const lastValidBlockHeight = heightOfSponsoredClaim(context, claim, id, transaction)
  if (lastValidBlockHeight === null) throw changedTransaction('it differs from the transaction built under this id')
  const { keys, signers } = transaction.message
  const [, claimer] = keys
  if (signers !== 2 || claimer === undefined) throw changedTransaction('it does not have two signers')
  if (!signatureHolds(transaction, 1)) throw changedTransaction(`the signature of ${claimer} is missing or wrong`)
  return { claim, airdropId: id, claimer, transaction, lastValidBlockHeight }
}

/** Sends the stored transaction again while no node has shown it. */
async function answerAgain(context: Context, row: SponsoredClaimRow): Promise<Submission> {
  if (row.status === 'expired') throw claimExpired()
  if (row.signature === null) throw sponsoredAlready(row)
  const stored = await findTransaction(context.store.db, row.signature)
  if (stored?.lifecycle === 'submitted' && stored.raw.length > 0) {
    await sendFirst(context, decodeWireTransaction(stored.raw), RESENT_MAX_RETRIES)
  }
  return answerOf(row, row.signature)
}

const answerOf = ({ id, wallet, lamports }: Pick<SponsoredClaimRow, 'id' | 'wallet' | 'lamports'>, signature: string) =>
  ({ mode: 'signed', signature, id, claimer: wallet, lamports }) as const

/** The columns of a claim's row, without its sequence number and its settlement. */
type Reserved = Pick<
  SponsoredClaimRow,
  'id' | 'airdrop_id' | 'wallet' | 'genesis' | 'signing_id' | 'lamports' | 'fee' | 'created_at'
>

async function signClaim(context: Context, build: SignedBuild, known: SponsoredClaimRow | null): Promise<Submission> {
  const signing = signingContext(context, known)
  await requireUnpaused(context, await requireSigner(context))
  const run = await openSigningRun<null>(signing, SPONSORED_CLAIM)
  if (run.resumed !== null && known !== null) return signPlan(signing, run, run.resumed, known)
  const { plan, reserved } = await planClaim(context, build, run)
  return signPlan(signing, run, plan, reserved)
}

/** The claim's row replaces the Idempotency-Key: it names the signing that a repeated request continues. */
const signingContext = (context: Context, known: SponsoredClaimRow | null): SigningContext => ({
  ...context,
  signing: { earlier: known?.signing_id ?? null, async bind() {}, unbind: async () => true },
})

async function signPlan(
  context: SigningContext,
  run: SigningRun<null>,
  plan: Parameters<typeof signAndSubmit>[2],
  row: Reserved,
): Promise<Submission> {
  const wallet = { airdrop_id: row.airdrop_id, wallet: row.wallet, genesis: row.genesis }
  return signAndSubmit(context, run, plan, {
    async reserve(tx) {
      const sponsorship = await lockForClaim(tx, wallet, BigInt(row.lamports))
      await addToUsed(tx, sponsorship, BigInt(row.lamports))
      await insertSponsoredClaim(tx, { ...row, signature: null, status: 'signing', live: 1, settled_at: null })
    },
    release: (tx) => release(tx, row),
    async record(tx, [signature]) {
      const isOurs = await moveSponsoredClaim(tx, { id: row.id, status: 'signing' }, { status: 'submitted', signature })
      if (!isOurs) throw claimExpired()
    },
    answer: ([signature]) => answerOf(row, signature),
  })
}

/** Returns the reserved amount if nothing can have been signed. */
async function release(tx: Tx, { id, airdrop_id, lamports }: Reserved): Promise<void> {
  const sponsorship = await lockSponsorship(tx, airdrop_id)
  if (!(await deleteSponsoredClaim(tx, id)) || sponsorship === null) return
  await addToUsed(tx, sponsorship, -BigInt(lamports))
}

/** Runs all checks that are possible before the platform wallet signs. Refusals here are neither counted nor stored. */
async function planClaim(
  context: Context,
  { claim, airdropId, claimer, transaction, lastValidBlockHeight }: SignedBuild,
  run: SigningRun<null>,
): Promise<{ plan: NewSigningPlan<null>; reserved: Reserved }> {
  const { message } = transaction
  await requireSponsorship(context, airdropId)
  if (message.keys[0] !== run.wallet)
    throw sponsorUnavailable('the platform wallet has changed since the build; build the claim again')
  const genesis = await requireCluster(context)
  await requireUnsponsored(context, { airdrop_id: airdropId, wallet: claimer, genesis })
  const { block_height } = await readHeights(context.chain)
  if (block_height + LEAST_BLOCKS > lastValidBlockHeight) throw claimExpired()
  const versioned = { ...context, txVersion: message.config === null ? 0 : 1 } as const
  const { payable, lent, accountRent } = await sponsoredClaimTerms(versioned, airdropId, claimer)
  if (lentIn(transaction) !== lent) throw claimWouldFail('its accounts have changed since it was built')
  const { claim: parts, status, tokens, mint } = payable
  const fee = feeOfMessage(message)
  const lamports = fee + lent + accountRent
  await requireBudget(context, airdropId, lamports)
  const { distributor } = parts
  const sponsored = { distributor, claimer, mint, lent, status: status.address, account: tokens.address, accountRent }
  return {
    plan: {
      // The program pays the claimer from its vault, so none of the tokens belong to the wallet.
      first: { transaction: transaction.raw, cosigners: [claimer], uncapped: [mint], sponsored },
      state: null,
      tracked_resource: trackingOf('airdrop', airdropId, ['airdrop.claimed']),
    },
    reserved: {
      id: claim,
      airdrop_id: airdropId,
      wallet: claimer,
      genesis,
      signing_id: run.id,
      lamports: String(lamports),
      fee: String(fee),
      created_at: context.clock.now(),
    },
  }
}

/** Adds up what the message's own transfers lend. A build has at most one. */
function lentIn({ message }: DecodedTransaction): bigint {
  let lent = 0n
  for (const { programIdIndex, accounts, data } of message.instructions) {
    if (keyAt(message, programIdIndex) !== SYSTEM_PROGRAM) continue
    const addresses = [...accounts].map((index) => keyAt(message, index))
    const decoded = decodeInstruction(SYSTEM_PROGRAM, addresses, data)
    if (decoded?.program !== 'system' || decoded.instruction.type !== 'transfer') continue
    lent += decoded.instruction.lamports
  }
  return lent
}
