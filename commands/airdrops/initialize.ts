/** One airdrop put on chain and funded, once: what was signed is kept before it is sent, and sent again after an interruption. */
import type { MerkleTree as TreeRecord } from '../../src/api/merkle-trees.ts'
import type { Transaction } from '../../src/api/transactions.ts'
import { ApiError } from '../../src/errors.ts'
import type { Session } from '../command.ts'
import { signedOnce } from '../signing/by-platform.ts'
import { follow } from '../signing/following.ts'
import { didFail, failedAs, faultOf, wouldFail } from '../signing/sign-and-submit.ts'
import { submitSigned } from '../signing/submitting.ts'
import { failure } from '../ui/problem.ts'
import { requireExpected } from './expected-build.ts'
import { type Begun, type KeptFile, keptFile, type Terms } from './kept.ts'
import { ownOnChain, type Payer } from './own.ts'
import { type Part, type PartState, stateOf } from './parts.ts'

export interface Initializing {
  payer: Payer
  signed: boolean
  keypair: string | undefined
  platform_id: string
  clawback_after_days: number | undefined
}

/** A transaction may expire unseen; more than this and something else is wrong. */
const MOST_TRIES = 4

export async function initialize(
  session: Session,
  how: Initializing,
  record: TreeRecord,
): Promise<PartState & Pick<Part, 'signature'>> {
  const file = await keptFile(session, record)
  const before = await ownOnChain(session, how.payer, record)
  if (before !== null) {
    file.forget()
    return { ...stateOf(before, how.payer, record), signature: null }
  }
  const landed = await (how.signed ? byPlatform : byKeypair)(session, how, record, file)
  const after = await ownOnChain(session, how.payer, record)
  if (after === null) {
    throw failure(`${landed} is confirmed, but the distributor of ${record.id} is not seen on chain yet`, {
      next: 'run the same command again',
      details: { signature: landed },
    })
  }
  return { ...stateOf(after, how.payer, record), signature: landed }
}

export const termsOf = (
  { payer, platform_id, clawback_after_days, signed }: Initializing,
  { root }: Pick<TreeRecord, 'root'>,
): Terms => ({
  payer: payer.address,
  root,
  platform_id,
  clawback_after_days: clawback_after_days ?? null,
  signed,
})

type Signed = Extract<Begun, { transaction: string }>

/** The same bytes are sent again until they have landed or never can: only then are others signed. Answers the signature. */
async function byKeypair(session: Session, how: Initializing, record: TreeRecord, file: KeptFile): Promise<string> {
  const terms = termsOf(how, record)
  let kept = file.read(terms) as Signed | null
  let failed: Transaction | undefined
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const isNew = kept === null
    if (kept === null) {
      kept = await sign(session, how, record)
      file.write({ ...kept, terms })
    }
    const isSent = await isKnown(session, kept.signature)
    if (!isSent && !(await send(session, kept, isNew))) {
      kept = null
      continue
    }
    const end = await follow(session, kept.signature, 'confirmed')
    file.forget()
    if (end.lifecycle !== 'failed') return kept.signature
    // One that only came too late is made again; any other failure would come again.
    if (end.err !== EXPIRED) throw await didFail(session, kept.transaction, end)
    failed = end
    kept = null
  }
  throw tooOften(record, failed?.signature)
}

const EXPIRED = 'BlockhashExpired'

const tooOften = ({ id }: TreeRecord, last: string | undefined) =>
  failure(`the airdrop ${id} was not put on chain in ${MOST_TRIES} tries`, {
    next: 'run the same command again; a higher priority-fee may help',
    details: { last: last ?? null },
  })

async function sign(session: Session, how: Initializing, record: TreeRecord): Promise<Signed> {
  const { wallet, client } = session
  const { data } = await client.airdrops.create(bodyOf(how, record))
  if (data.mode !== 'unsigned') throw failure('the API answered with a signed transaction, though none was asked for')
  const { transaction, tracked_resource } = data
  const content = await wallet.decode(transaction)
  requireExpected(content, how.payer.address, record)
  const { data: simulation } = await client.transactions.simulate({ transaction })
  const fault = await faultOf(session, transaction, simulation)
  if (fault !== null) {
    throw wouldFail(fault, { cluster: await session.cluster(), signer: how.payer.address, content, simulation })
  }
  const signed = await wallet.sign(transaction, { keypair: how.keypair })
  if (signed.signature === null || signed.missing.length > 0) {
    throw failure(`not signed by ${signed.missing.join(', ')}`)
  }
  return { transaction: signed.transaction, signature: signed.signature, tracked_resource }
}

/** False where what an earlier run has signed can land no more, and never did. */
async function send(session: Session, kept: Signed, isNew: boolean): Promise<boolean> {
  const { transaction, signature, tracked_resource } = kept
  try {
    await submitSigned(session, signature, {
      transaction,
      ...(tracked_resource === undefined ? {} : { tracked_resource }),
    })
    return true
  } catch (error) {
    // The API stores before it sends: what it does not know was never sent by it, and its word on it is the chain's.
    if (isNew || !(error instanceof ApiError) || error.code !== 'bad_request') throw error
    return isKnown(session, signature)
  }
}

async function isKnown({ client }: Session, signature: string): Promise<boolean> {
  return (await client.transactions.get({ signature })).data.lifecycle !== 'unknown'
}

/** A key is used until what was signed under it is proven to have failed: the platform wallet signs once for it. */
async function byPlatform(session: Session, how: Initializing, record: TreeRecord, file: KeptFile): Promise<string> {
  const { client } = session
  const terms = termsOf(how, record)
  let last: string | undefined
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const kept = file.read(terms) as Extract<Begun, { key: string }> | null
    const key = kept?.key ?? crypto.randomUUID()
    if (kept === null) file.write({ key, signature: null, terms })
    const { data } = await signedOnce(session, key, (options) =>
      client.airdrops.create({ ...bodyOf(how, record), mode: 'signed' }, options),
    )
    if (data.mode !== 'signed') throw failure('the API answered without a signature: it did not sign')
    const { signature } = data
    file.write({ key, signature, terms })
    const end = await follow(session, signature, 'confirmed')
    file.forget()
    if (end.lifecycle !== 'failed') return signature
    if (end.err !== EXPIRED) throw failedAs(end)
    last = signature
  }
  throw tooOften(record, last)
}

function bodyOf(
  { payer: { address: payer }, platform_id, clawback_after_days }: Initializing,
  { mint, airdrop_count, root }: TreeRecord,
) {
  return {
    payer,
    platform_id,
    mint,
    airdrop_count,
    merkle_root: root,
    ...(clawback_after_days === undefined ? {} : { clawback_after_days }),
  }
}
