/** Puts one airdrop on chain and funds it, once: what is signed is in the journal first, and is sent again after an interruption. */
import type { TreeRecord } from '../../src/api/merkle-trees.ts'
import { ApiError } from '../../src/errors.ts'
import type { Session } from '../session.ts'
import { trackedField } from '../signing/built-transactions.ts'
import { waitForTransaction } from '../signing/following.ts'
import { requestPlatformSignature, submitSigned } from '../signing/requests.ts'
import { forecastOf, transactionFailure, wouldFail } from '../signing/run-failures.ts'
import { signCompletely } from '../signing/signatures.ts'
import { failure } from '../ui/problem.ts'
import { type LaunchJournal, type LaunchTerms, launchJournal, type SignedLaunch } from './launch-journal.ts'
import { ownOnChain, type Payer } from './own.ts'
import { chainStateOf, type LaunchPart, type PartState } from './parts.ts'

export interface LaunchOptions {
  payer: Payer
  /** Whether the platform wallet signs. */
  signed: boolean
  keypair: string | undefined
  platform_id: string
  clawback_after_days: number | undefined
}

/**
 * The most attempts to send a launch. A transaction may expire without being executed, but after so many another fault
 * is likely.
 */
const MAX_LAUNCH_ATTEMPTS = 4
/** The error of a transaction whose blockhash expired before it was executed. */
const EXPIRED = 'BlockhashExpired'

/**
 * Returns the airdrop as the chain shows it, with the signature of this run, or null where an earlier run created it.
 */
export async function initializeAirdrop(
  session: Session,
  options: LaunchOptions,
  record: TreeRecord,
): Promise<PartState & Pick<LaunchPart, 'signature'>> {
  const journal = await launchJournal(session, record)
  const before = await ownOnChain(session, options.payer, record)
  if (before !== null) {
    journal.remove()
    return { ...chainStateOf(before, options.payer, record), signature: null }
  }
  const attempt = options.signed ? attemptByPlatform : attemptByKeypair
  const signature = await confirmedOnce(session, record, journal, () => attempt(session, options, record, journal))
  const after = await ownOnChain(session, options.payer, record)
  if (after === null) {
    throw failure(`${signature} is confirmed, but the distributor of ${record.id} is not seen on chain yet`, {
      next: 'run the same command again',
      details: { signature },
    })
  }
  return { ...chainStateOf(after, options.payer, record), signature }
}

export const launchTermsOf = (
  { payer, platform_id, clawback_after_days, signed }: LaunchOptions,
  { root }: Pick<TreeRecord, 'root'>,
): LaunchTerms => ({
  payer: payer.address,
  root,
  platform_id,
  clawback_after_days: clawback_after_days ?? null,
  signed,
})

interface SentLaunch {
  signature: string
  /** The signed bytes; null where the platform wallet signed, whose answer has only the signature. */
  transaction: string | null
}

/**
 * Returns the confirmed signature. Only an expired transaction is retried, because any other failure would repeat
 * itself.
 */
async function confirmedOnce(
  session: Session,
  { id }: TreeRecord,
  journal: LaunchJournal,
  attempt: () => Promise<SentLaunch | null>,
): Promise<string> {
  let last: string | null = null
  for (let attempts = 0; attempts < MAX_LAUNCH_ATTEMPTS; attempts++) {
    const sent = await attempt()
    if (sent === null) continue
    const end = await waitForTransaction(session, sent.signature, 'confirmed')
    journal.remove()
    if (end.lifecycle !== 'failed') return sent.signature
    if (end.err !== EXPIRED) throw await transactionFailure(session, sent.transaction ?? undefined, end)
    last = sent.signature
  }
  throw failure(`the airdrop ${id} was not put on chain in ${MAX_LAUNCH_ATTEMPTS} tries`, {
    next: 'run the same command again; a higher priority-fee may help',
    details: { last },
  })
}

/**
 * Sends the bytes in the journal again until they are confirmed or have expired; only then are new ones signed. Null
 * where those of an earlier run expired and were never executed.
 */
async function attemptByKeypair(
  session: Session,
  options: LaunchOptions,
  record: TreeRecord,
  journal: LaunchJournal,
): Promise<SentLaunch | null> {
  const terms = launchTermsOf(options, record)
  const entry = journal.read(terms)
  const earlier = entry !== null && 'transaction' in entry ? entry : null
  const launch = earlier ?? (await signLaunch(session, options, record))
  if (earlier === null) journal.write({ ...launch, terms })
  const isSent = await isKnownToApi(session, launch.signature)
  if (isSent || (await submitLaunch(session, launch, { isNew: earlier === null }))) return launch
  journal.remove()
  return null
}

async function signLaunch(session: Session, options: LaunchOptions, record: TreeRecord): Promise<SignedLaunch> {
  const { data } = await session.client.airdrops.create(launchBody(options, record))
  if (data.mode !== 'unsigned') throw failure('the API answered with a signed transaction, though none was asked for')
  const { transaction, tracked_resource } = data
  // This import is dynamic because the module decodes addresses, and help must not load base58.
  const { requireExpected } = await import('./expected-build.ts')
  requireExpected(await session.wallet.decode(transaction), options.payer.address, record)
  const forecast = await forecastOf(session, transaction, options.payer.address)
  if (forecast.fault !== null) throw wouldFail(forecast, forecast.fault)
  return { ...(await signCompletely(session, transaction, options)), tracked_resource }
}

/** False where the transaction of an earlier run has expired and was never executed. */
async function submitLaunch(session: Session, launch: SignedLaunch, { isNew }: { isNew: boolean }): Promise<boolean> {
  const { transaction, signature } = launch
  try {
    await submitSigned(session, signature, { transaction, ...trackedField(launch) })
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
  options: LaunchOptions,
  record: TreeRecord,
  journal: LaunchJournal,
): Promise<SentLaunch> {
  const terms = launchTermsOf(options, record)
  const entry = journal.read(terms)
  const earlier = entry !== null && 'key' in entry ? entry : null
  const key = earlier?.key ?? crypto.randomUUID()
  if (earlier === null) journal.write({ key, signature: null, terms })
  const { data } = await requestPlatformSignature(session, key, (request) =>
    session.client.airdrops.create({ ...launchBody(options, record), mode: 'signed' }, request),
  )
  if (data.mode !== 'signed') throw failure('the API answered without a signature: it did not sign')
  const { signature } = data
  journal.write({ key, signature, terms })
  return { signature, transaction: null }
}

const launchBody = (
  { payer, platform_id, clawback_after_days }: LaunchOptions,
  { mint, airdrop_count, root }: TreeRecord,
) => ({
  payer: payer.address,
  platform_id,
  mint,
  airdrop_count,
  merkle_root: root,
  ...(clawback_after_days === undefined ? {} : { clawback_after_days }),
})
