/** Reads the bytes of a transaction, stored or from the chain, and what it does in the text that approvers read. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { describeMessage } from '../../chain/instructions/describe.ts'
import type { Context } from '../../context.ts'
import { notFound } from '../../platform/errors.ts'
import { printable } from '../../platform/printable.ts'
import type { DecodedMessage } from '../../solana/decoded-message.ts'
import { type AddressNames, instructionTexts } from '../../solana/described-instructions.ts'
import { feeOfMessage } from '../../solana/fees.ts'
import { lifetimeOf } from '../../solana/lifetimes.ts'
import { decodeWireTransaction } from '../../solana/messages.ts'
import { type PlaceAddresses, placeAddresses } from '../../solana/squads/index.ts'
import type { Row } from '../../store/schema.ts'
import { findTransaction } from '../../store/transactions/transactions.ts'
import { trySigner } from '../signing/require-signer.ts'
import { findExecuted } from './fetch-transactions.ts'

type ContentRoute = Api['transactions']['content']

/** Throws not_found if its bytes are neither stored nor on the chain. */
export async function readContent(context: Context, { signature }: Input<ContentRoute>): Promise<Result<ContentRoute>> {
  const row = await findTransaction(context.store.db, signature)
  const stored = row === null || row.raw.length === 0 ? null : row.raw
  const raw = stored ?? (await executedBytes(context, signature))
  if (raw === null) {
    const why = row === null ? 'It was not submitted here' : 'Its stored bytes were removed'
    throw notFound(`${why}, and the node has no confirmed transaction ${signature}`, { param: 'signature' })
  }
  const { message } = decodeWireTransaction(raw)
  return {
    signature,
    source: stored === null ? 'chain' : 'stored',
    transaction: row !== null && isBundlePending(row) ? null : raw.toString('base64'),
    version: `${message.version}`,
    fee_payer: message.keys[0] ?? '',
    signers: message.keys.slice(0, message.signers),
    recent_blockhash: message.recentBlockhash,
    nonce_account: lifetimeOf(message).nonceAccount,
    size: raw.length,
    fee: `${feeOfMessage(message)}`,
    plan: await planOf(context, signature, message),
  }
}

async function executedBytes({ chain }: Context, signature: string): Promise<Buffer | null> {
  const executed = await findExecuted(chain, signature)
  return executed && Buffer.from(executed.bytes, 'base64')
}

/** Whether it could still land with its bundle, and therefore must not be sent alone. */
const isBundlePending = ({ bundle_id, lifecycle, next_check_at }: Row<'transactions'>): boolean =>
  bundle_id !== null && next_check_at !== null && lifecycle !== 'confirmed' && lifecycle !== 'finalized'

async function planOf(context: Context, signature: string, message: DecodedMessage): Promise<string[]> {
  const signer = await trySigner(context)
  const names: AddressNames = new Map(signer === null ? [] : [[signer.address, 'the platform wallet']])
  const places = message.lookups.length === 0 ? undefined : await executedPlaces(context, signature, message)
  return instructionTexts(describeMessage(message, places), names).map(printable)
}

/** The addresses of its lookup tables; none before it is confirmed, or if the node cannot answer. */
async function executedPlaces(
  { chain, log }: Context,
  signature: string,
  message: DecodedMessage,
): Promise<PlaceAddresses | undefined> {
  const executed = await findExecuted(chain, signature).catch((error: unknown) => {
    log.warn({ err: error, signature }, 'could not read the addresses of lookup tables')
    return null
  })
  if (executed === null) return undefined
  const loaded = executed.message.keys.slice(message.keys.length)
  const writable = message.lookups.reduce((sum, lookup) => sum + lookup.writable.length, 0)
  return placeAddresses(message, { writable: loaded.slice(0, writable), readonly: loaded.slice(writable) })
}
