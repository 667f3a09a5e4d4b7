/** Writes of every kind that a mixed load sends, each told apart by its number. */
import type { Keypair } from '@solana/web3.js'
import { Keypair as Keys, SystemProgram } from '@solana/web3.js'
import { signed } from '../support/local-chain.ts'
import { entries, wallet } from '../support/trees.ts'

export const WRITE_KINDS = ['key', 'hook', 'tree', 'transaction', 'memo'] as const
export type WriteKind = (typeof WRITE_KINDS)[number]

export interface Write {
  kind: WriteKind
  n: number
  /** Its Idempotency-Key. */
  key: string
  path: string
  body: object
}

/** Where a transfer goes, which is paid nothing else. */
export function recipientOf(n: number) {
  const seed = new Uint8Array(32)
  new DataView(seed.buffer).setUint32(0, n + 1)
  return Keys.fromSeed(seed).publicKey
}

export const lamportsOf = (n: number) => 1_000_000 + n

/** Status of the answer to a write that took effect. */
export const STATUS_OF: Readonly<Record<WriteKind, number>> = {
  key: 201,
  hook: 201,
  tree: 201,
  transaction: 200,
  memo: 200,
}

/** The n-th write; its name, URL, list or signature is its own, so that a second effect would be seen. */
export function writeOf(
  kind: WriteKind,
  n: number,
  { payer, blockhash }: { payer: Keypair; blockhash: string },
): Write {
  const key = `write-${n}`
  const of = (path: string, body: object): Write => ({ kind, n, key, path, body })
  if (kind === 'key') return of('/v2/api-keys', { name: key })
  if (kind === 'memo') return of('/v2/signer/tests', { submit: true, memo: `memo ${n}.` })
  if (kind === 'hook') {
    // Of a type that never happens: it has a row, and nothing to deliver.
    const body = { url: `https://8.8.8.8/${key}`, enabled_events: ['gold.locked'] }
    return of('/v2/webhook-subscriptions', body)
  }
  if (kind === 'tree') {
    const list = entries(1 + (n % 40), () => String(n))
    return of('/v2/merkle-trees', { mint: wallet(n % 7), airdrop_count: n, entries: list, externalUid: key })
  }
  const instructions = [
    SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: recipientOf(n), lamports: lamportsOf(n) }),
  ]
  const transaction = Buffer.from(signed(instructions, [payer], { blockhash })).toString('base64')
  return of('/v2/transactions', { transaction, externalUid: key })
}
