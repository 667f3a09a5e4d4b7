/** Sends one transaction once, however often its run is interrupted: what is signed is in the journal first, and is sent again. */
import type { TrackedResource } from '../../src/api/payloads.ts'
import { ApiError } from '../../src/errors.ts'
import type { Session } from '../session.ts'
import { failure } from '../ui/problem.ts'
import { trackedField } from './built-transactions.ts'
import { checkedBuild, type Demand, type Signing, signingFor } from './demand.ts'
import { waitForTransaction } from './following.ts'
import { requestPlatformSignature, submitSigned } from './requests.ts'
import { forecastOf, transactionFailure, wouldFail } from './run-failures.ts'
import { signCompletely } from './signatures.ts'

/** A transaction that the keypair has signed. */
export interface SignedEntry {
  transaction: string
  signature: string
  tracked_resource?: TrackedResource | undefined
}
/** The idempotency key of the request to the platform wallet, and its signature once that is known. */
export interface RequestedEntry {
  key: string
  signature: string | null
}
export type ResumableEntry = SignedEntry | RequestedEntry

export interface ResumableJournal {
  /** Returns the stored entry; null where no earlier run has started this one. */
  read(): ResumableEntry | null
  write(entry: ResumableEntry): void
  remove(): void
}

export interface ResumableRun {
  journal: ResumableJournal
  signer: ResumableSigner
  /** What is said where it did not succeed, as the start of a sentence: `the airdrop ID was not put on chain`. */
  unfinished: string
}

/** Who signs: the user's keypair, or the platform wallet under an idempotency key. */
export type ResumableSigner =
  | {
      address: string
      keypair: string | undefined
      build(): Promise<{ transaction: string; tracked_resource?: TrackedResource | undefined }>
      /** What the build must be (`DEMANDS`). */
      demand(of: Signing): Promise<Demand>
    }
  | { sign(request: { idempotencyKey: string }): Promise<{ signature: string }> }

/**
 * The most attempts to send a transaction. It may expire without being executed, but after so many another fault is
 * likely.
 */
const MAX_RESUMABLE_ATTEMPTS = 4
/** The error of a transaction whose blockhash expired before it was executed. */
const EXPIRED = 'BlockhashExpired'

interface SentTransaction {
  signature: string
  /** The signed bytes; null where the platform wallet signed, whose answer has only the signature. */
  transaction: string | null
}

/**
 * Returns the confirmed signature. Only an expired transaction is retried, because any other failure would repeat
 * itself.
 */
export async function runResumable(session: Session, { journal, signer, unfinished }: ResumableRun): Promise<string> {
  let last: string | null = null
  for (let attempts = 0; attempts < MAX_RESUMABLE_ATTEMPTS; attempts++) {
    const sent =
      'sign' in signer
        ? await attemptByPlatform(session, journal, signer)
        : await attemptByKeypair(session, journal, signer)
    if (sent === null) continue
    const end = await waitForTransaction(session, sent.signature, 'confirmed')
    journal.remove()
    if (end.lifecycle !== 'failed') return sent.signature
    if (end.err !== EXPIRED) throw await transactionFailure(session, sent.transaction ?? undefined, end)
    last = sent.signature
  }
  throw failure(`${unfinished} in ${MAX_RESUMABLE_ATTEMPTS} tries`, {
    next: 'run the same command again; a higher priority-fee may help',
    details: { last },
  })
}

type KeypairSigner = Extract<ResumableSigner, { address: string }>
type PlatformSigner = Extract<ResumableSigner, { sign: unknown }>

/**
 * Sends the bytes in the journal again until they are confirmed or have expired; only then are new ones signed. Null
 * where those of an earlier run expired and were never executed.
 */
async function attemptByKeypair(
  session: Session,
  journal: ResumableJournal,
  signer: KeypairSigner,
): Promise<SentTransaction | null> {
  const entry = journal.read()
  const earlier = entry !== null && 'transaction' in entry ? entry : null
  const signed = earlier ?? (await signExpected(session, signer))
  if (earlier === null) journal.write(signed)
  const isSent = await isKnownToApi(session, signed.signature)
  if (isSent || (await submitOnce(session, signed, { isNew: earlier === null }))) return signed
  journal.remove()
  return null
}

async function signExpected(session: Session, signer: KeypairSigner): Promise<SignedEntry> {
  const { transaction, tracked_resource } = await signer.build()
  const demand = await signer.demand(signingFor(session, signer.address, { cluster: await session.cluster() }))
  const checked = await checkedBuild(session, transaction, demand)
  const forecast = await forecastOf(session, transaction, signer.address)
  if (forecast.fault !== null) throw wouldFail(forecast, forecast.fault)
  return { ...(await signCompletely(session, checked, signer)), tracked_resource }
}

/** False where the transaction of an earlier run has expired and was never executed. */
async function submitOnce(session: Session, signed: SignedEntry, { isNew }: { isNew: boolean }): Promise<boolean> {
  const { transaction, signature } = signed
  try {
    await submitSigned(session, signature, { transaction, ...trackedField(signed) })
    return true
  } catch (error) {
    // The API stores a transaction before it sends it, so it never sent one that it does not know. What it reports
    // about the others comes from the chain.
    if (isNew || !(error instanceof ApiError) || error.code !== 'bad_request') throw error
    return isKnownToApi(session, signature)
  }
}

async function isKnownToApi({ client }: Session, signature: string): Promise<boolean> {
  return (await client.transactions.get({ signature })).data.lifecycle !== 'unknown'
}

/**
 * Uses the key in the journal until what was signed under it is proven to have failed, because the platform wallet
 * signs once per key.
 */
async function attemptByPlatform(
  session: Session,
  journal: ResumableJournal,
  { sign }: PlatformSigner,
): Promise<SentTransaction> {
  const entry = journal.read()
  const earlier = entry !== null && 'key' in entry ? entry : null
  const key = earlier?.key ?? crypto.randomUUID()
  if (earlier === null) journal.write({ key, signature: null })
  const { signature } = await requestPlatformSignature(session, key, sign)
  journal.write({ key, signature })
  return { signature, transaction: null }
}
