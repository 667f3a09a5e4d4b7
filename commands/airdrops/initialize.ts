/** One airdrop put on chain and funded, once: what is signed is in the journal before it is sent, and sent again after an interruption. */
import type { StoredMerkleTree as TreeRecord } from '../../src/api/merkle-trees.ts'
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

/** A transaction may expire without being executed; after so many of them something else is wrong. */
const MAX_LAUNCH_ATTEMPTS = 4
/** Error of a transaction whose blockhash expired before it was executed. */
const EXPIRED = 'BlockhashExpired'

/** Answers the airdrop as the chain shows it, with the signature of this run, or null where an earlier run made it. */
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
  /** Null where the platform wallet signed: its bytes are not at hand. */
  transaction: string | null
}

/** Answers the signature. Only one that has expired is tried again: any other failure would come again. */
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
 * The bytes in the journal are sent again until they are confirmed or never can be: only then are others signed. Null
 * where those of an earlier run have expired and were never executed.
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
  // Loaded here because it reads addresses, and help must load no base58.
  const { requireExpected } = await import('./expected-build.ts')
  requireExpected(await session.wallet.decode(transaction), options.payer.address, record)
  const forecast = await forecastOf(session, transaction, options.payer.address)
  if (forecast.fault !== null) throw wouldFail(forecast, forecast.fault)
  return { ...(await signCompletely(session, transaction, options)), tracked_resource }
}

/** False where what an earlier run has signed has expired, and was never executed. */
async function submitLaunch(session: Session, launch: SignedLaunch, { isNew }: { isNew: boolean }): Promise<boolean> {
  const { transaction, signature } = launch
  try {
    await submitSigned(session, signature, { transaction, ...trackedField(launch) })
    return true
  } catch (error) {
    // The API stores before it sends: what it does not know it never sent, and what it says of it comes from the chain.
    if (isNew || !(error instanceof ApiError) || error.code !== 'bad_request') throw error
    return isKnownToApi(session, signature)
  }
}

async function isKnownToApi({ client }: Session, signature: string): Promise<boolean> {
  return (await client.transactions.get({ signature })).data.lifecycle !== 'unknown'
}

/** The key in the journal is used until what was signed under it is proven to have failed: the platform wallet signs once for a key. */
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
