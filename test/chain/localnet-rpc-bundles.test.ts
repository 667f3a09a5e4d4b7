/** The block engine's methods over the embedded chain. */
import { createHash } from 'node:crypto'
import { base58 } from '@scure/base'
import { Keypair, type PublicKey, SystemProgram, TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createRpc } from '../../src/localnet/rpc/index.ts'
import { SOL } from '../support/wallets.ts'
import { openRpc } from './serving.ts'

let opened: Awaited<ReturnType<typeof openRpc>>
let payer: Keypair
beforeEach(async () => {
  opened = await openRpc()
  payer = Keypair.generate()
  opened.chain.airdrop(payer.publicKey.toBase58(), 10_000_000_000n)
})
afterEach(() => opened.close())

function transfer(
  lamports: bigint,
  to = Keypair.generate().publicKey,
): { text: string; base58: string; signature: string; to: PublicKey } {
  const message = new TransactionMessage({
    payerKey: payer.publicKey,
    recentBlockhash: opened.chain.latestBlockhash().blockhash,
    instructions: [SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: to, lamports })],
  }).compileToV0Message()
  const transaction = new VersionedTransaction(message)
  transaction.sign([payer])
  const bytes = transaction.serialize()
  const signature = base58.encode(transaction.signatures[0]!)
  return { text: Buffer.from(bytes).toString('base64'), base58: base58.encode(bytes), signature, to }
}
const inFlight = async (...ids: string[]) => (await opened.ask('getInflightBundleStatuses', ids)).value
const statuses = async (...ids: string[]) => (await opened.ask('getBundleStatuses', ids)).value

describe('sendBundle', () => {
  it('lands all transactions in one slot, in order, under the SHA-256 of their signatures', async () => {
    const bundle = [transfer(SOL), transfer(2n * SOL), transfer(3n * SOL)]
    const signatures = bundle.map(({ signature }) => signature)
    const id = await opened.ask(
      'sendBundle',
      bundle.map(({ text }) => text),
      { encoding: 'base64' },
    )
    expect(id).toBe(createHash('sha256').update(signatures.join(',')).digest('hex'))
    const slot = opened.chain.slot()
    expect(await inFlight(id)).toEqual([{ bundle_id: id, status: 'Landed', landed_slot: slot }])
    const landed = { bundle_id: id, transactions: signatures, slot, err: { Ok: null } }
    expect(await statuses(id)).toEqual([{ ...landed, confirmation_status: 'processed' }])
    opened.chain.advance(20)
    expect(await statuses(id)).toEqual([{ ...landed, confirmation_status: 'finalized' }])
    const inSlot = opened.chain.transactionsInSlot(slot).map(({ signature }) => signature)
    expect(inSlot.slice(-3)).toEqual(signatures)
  })

  it('uses base58 if no encoding is named', async () => {
    const one = transfer(SOL)
    const id = await opened.ask('sendBundle', [one.base58])
    expect((await inFlight(id))[0].status).toBe('Landed')
  })

  it('has no effect if one transaction fails, and reports Failed', async () => {
    const good = transfer(SOL)
    const bad = transfer(50n * SOL)
    const before = opened.chain.account(payer.publicKey.toBase58())!.lamports
    const id = await opened.ask('sendBundle', [good.text, bad.text], { encoding: 'base64' })
    expect(await inFlight(id)).toEqual([{ bundle_id: id, status: 'Failed', landed_slot: null }])
    expect(await statuses(id)).toEqual([])
    expect(opened.chain.account(good.to.toBase58())).toBeNull()
    expect(opened.chain.account(payer.publicKey.toBase58())!.lamports).toBe(before)
    expect((await opened.ask('getSignatureStatuses', [good.signature])).value).toEqual([null])
  })

  it('stays Landed if the same bundle is sent again', async () => {
    const bundle = [transfer(SOL).text, transfer(2n * SOL).text]
    const id = await opened.ask('sendBundle', bundle, { encoding: 'base64' })
    expect(await opened.ask('sendBundle', bundle, { encoding: 'base64' })).toBe(id)
    expect((await inFlight(id))[0].status).toBe('Landed')
    expect(opened.chain.transactionCount()).toBe(3)
  })

  it('refuses an empty bundle, more than five, duplicates and non-transactions', async () => {
    const message = async (...params: unknown[]) => (await opened.call('sendBundle', ...params)).error?.message
    const one = transfer(SOL).base58
    expect(await message([])).toBe('A bundle has 1 to 5 transactions, got 0')
    expect(await message(Array(6).fill(one))).toBe('A bundle has 1 to 5 transactions, got 6')
    expect(await message([one, one])).toBe('A bundle cannot hold the same transaction twice')
    expect(await message(['3yZe7d'])).toMatch(/^failed to deserialize/)
    expect(await message()).toBe('`params` should have at least 1 argument(s)')
  })
})

describe('bundle statuses', () => {
  it('of an unknown bundle and of one landed five minutes ago are Invalid in flight', async () => {
    const id = await opened.ask('sendBundle', [transfer(SOL).base58])
    opened.chain.advance(301)
    const unknown = 'ab'.repeat(32)
    expect((await inFlight(id, unknown)).map(({ status }: { status: string }) => status)).toEqual([
      'Invalid',
      'Invalid',
    ])
    expect((await statuses(id, unknown)).map(({ bundle_id }: { bundle_id: string }) => bundle_id)).toEqual([id])
    expect((await opened.call('getBundleStatuses', Array(6).fill(id))).error?.message).toBe(
      'Too many bundle ids provided; max 5',
    )
  })

  it('of landed bundles survive a restart: history shows them', async () => {
    opened.chain.advance(1)
    const bundle = [transfer(SOL), transfer(2n * SOL)]
    const id = await opened.ask(
      'sendBundle',
      bundle.map(({ text }) => text),
      { encoding: 'base64' },
    )
    const slot = opened.chain.slot()
    const rpc = createRpc(await opened.reopen())
    const body = { jsonrpc: '2.0', id: 1, method: 'getBundleStatuses', params: [[id]] }
    const { result } = JSON.parse((await rpc.handle(JSON.stringify(body)))!)
    expect(result.value).toEqual([
      {
        bundle_id: id,
        transactions: bundle.map(({ signature }) => signature),
        slot,
        confirmation_status: 'processed',
        err: { Ok: null },
      },
    ])
  })

  it('come with eight tip accounts that are addresses', async () => {
    const accounts: string[] = await opened.ask('getTipAccounts')
    expect(new Set(accounts).size).toBe(8)
    for (const account of accounts) expect(base58.decode(account)).toHaveLength(32)
  })
})
