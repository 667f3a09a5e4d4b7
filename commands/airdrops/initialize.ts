/** One airdrop put on chain and funded, once: what was signed is kept before it is sent, and sent again after an interruption. */
import { readFileSync, rmSync } from 'node:fs'
import type { Airdrop } from '../../src/api/airdrops.ts'
import type { MerkleTree as TreeRecord } from '../../src/api/merkle-trees.ts'
import type { Transaction } from '../../src/api/transactions.ts'
import { ApiError } from '../../src/errors.ts'
import type { Session } from '../command.ts'
import { signedOnce } from '../signing/by-platform.ts'
import { follow } from '../signing/following.ts'
import { didFail, faultOf, type TrackedResource, wouldFail } from '../signing/sign-and-submit.ts'
import { submitSigned } from '../signing/submitting.ts'
import { sourceOf, stateFile, writeStateFile } from '../state-file.ts'
import { failure } from '../ui/problem.ts'
import { isOwnOnChain } from './own.ts'
import type { Part } from './parts.ts'

export interface Initializing {
  payer: string
  signed: boolean
  keypair: string | undefined
  platform_id: string
  clawback_after_days: number | undefined
}

/** A transaction may expire unseen; more than this and something else is wrong. */
const MOST_TRIES = 4

type Outcome = Pick<Part, 'state' | 'distributor' | 'signature'>

export async function initialize(session: Session, how: Initializing, record: TreeRecord): Promise<Outcome> {
  const before = await onChain(session, how, record)
  if (before !== null) return { state: 'funded', distributor: before.distributor, signature: null }
  const landed = await (how.signed ? byPlatform : byKeypair)(session, how, record)
  const after = await onChain(session, how, record)
  if (after === null) {
    throw failure(`${landed} is confirmed, but the distributor of ${record.id} is not seen on chain yet`, {
      next: 'run the same command again',
      details: { signature: landed },
    })
  }
  return { state: 'funded', distributor: after.distributor, signature: landed }
}

/** Null where it is not on chain. Throws where somebody else has put it there. */
async function onChain(
  { client }: Session,
  { payer }: Initializing,
  { id, root }: TreeRecord,
): Promise<Airdrop | null> {
  const { data } = await client.airdrops.get({ id })
  return isOwnOnChain(data, root, payer) ? data : null
}

interface Kept {
  transaction: string
  signature: string
  tracked_resource?: TrackedResource | undefined
}

/** The same bytes are sent again until they have landed or never can: only then are others signed. Answers the signature. */
async function byKeypair(session: Session, how: Initializing, record: TreeRecord): Promise<string> {
  const file = stateFile('launches', [await sourceOf(session), await session.cluster(), record.id, record.root])
  let kept = readKept(file)
  let failed: Transaction | undefined
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const isNew = kept === null
    kept ??= await sign(session, how, record)
    if (isNew) writeStateFile(file, kept)
    const isSent = await isKnown(session, kept.signature)
    if (!isSent && !(await send(session, kept, isNew))) {
      kept = null
      continue
    }
    const end = await follow(session, kept.signature, 'confirmed')
    rmSync(file, { force: true })
    if (end.lifecycle !== 'failed') return kept.signature
    // One that only came too late is made again; any other failure would come again.
    if (end.err !== 'BlockhashExpired') throw await didFail(session, kept.transaction, end)
    failed = end
    kept = null
  }
  throw failure(`the airdrop ${record.id} was not put on chain in ${MOST_TRIES} tries`, {
    next: 'run the same command again; a higher priority-fee may help',
    details: { last: failed?.signature ?? null },
  })
}

async function sign(session: Session, how: Initializing, record: TreeRecord): Promise<Kept> {
  const { wallet, client } = session
  const { data } = await client.airdrops.create(bodyOf(how, record))
  if (data.mode !== 'unsigned') throw failure('the API answered with a signed transaction, though none was asked for')
  const { transaction, tracked_resource } = data
  const { data: simulation } = await client.transactions.simulate({ transaction })
  const fault = await faultOf(session, transaction, simulation)
  if (fault !== null) {
    const content = await wallet.decode(transaction)
    throw wouldFail(fault, { cluster: await session.cluster(), signer: how.payer, content, simulation })
  }
  const signed = await wallet.sign(transaction, { keypair: how.keypair })
  if (signed.signature === null || signed.missing.length > 0) {
    throw failure(`not signed by ${signed.missing.join(', ')}`)
  }
  return { transaction: signed.transaction, signature: signed.signature, tracked_resource }
}

/** False where what an earlier run has signed can land no more, and never did. */
async function send(session: Session, kept: Kept, isNew: boolean): Promise<boolean> {
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

/** The key is the same in every run, so that the platform wallet signs once for each try. Answers the signature. */
async function byPlatform(session: Session, how: Initializing, record: TreeRecord): Promise<string> {
  const { client } = session
  for (let tries = 1; tries <= MOST_TRIES; tries++) {
    const key = `airdrop-launch:${record.id}:${record.root.slice(0, 16)}:${tries}`
    const { data } = await signedOnce(session, key, (options) =>
      client.airdrops.create({ ...bodyOf(how, record), mode: 'signed' }, options),
    )
    if (data.mode !== 'signed') throw failure('the API answered without a signature: it did not sign')
    const end = await follow(session, data.signature, 'confirmed')
    if (end.lifecycle !== 'failed') return data.signature
    if (end.err !== 'BlockhashExpired') {
      throw failure(`${data.signature} failed: ${JSON.stringify(end.err)}`, {
        next: `\`svc tx status ${data.signature}\` shows its error`,
        details: { signature: data.signature, err: end.err },
      })
    }
  }
  throw failure(`the airdrop ${record.id} was not put on chain in ${MOST_TRIES} tries`, {
    next: 'run the same command again; a higher priority-fee may help',
  })
}

function bodyOf({ payer, platform_id, clawback_after_days }: Initializing, { mint, airdrop_count, root }: TreeRecord) {
  return {
    payer,
    platform_id,
    mint,
    airdrop_count,
    merkle_root: root,
    ...(clawback_after_days === undefined ? {} : { clawback_after_days }),
  }
}

/** Null where no run before this one has signed anything. */
function readKept(file: string): Kept | null {
  try {
    const { transaction, signature, tracked_resource } = JSON.parse(readFileSync(file, 'utf8')) as Partial<Kept>
    if (typeof transaction !== 'string' || typeof signature !== 'string') return null
    return { transaction, signature, tracked_resource }
  } catch {
    return null
  }
}
