/** Transactions of several lifecycles, a token and a refusal, for the pages of the console. */
import { Keypair, SystemProgram, TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import { expect } from 'vitest'
import { writeLedger } from '../../src/operations/ledger/write-ledger.ts'
import { followTransactions } from '../../src/operations/transactions/follow-transactions.ts'
import { HOSTILE } from './console.ts'
import { type PlatformService, submitMemo } from './platform-wallet.ts'
import { keypairOf, SOL, signWith, walletOn } from './wallets.ts'

/** Symbol of the token: text of a stranger. */
export const SYMBOL = '<script>=1'

export interface ConsoleTransactions {
  /** Signatures by what became of the transaction. */
  memo: string
  failed: string
  waiting: string
  mint: string
}

/** A memo of the platform wallet, a token, a payment that fails on chain, and one that waits; then a refusal. */
export async function consoleTransactions(service: PlatformService): Promise<ConsoleTransactions> {
  const { request, services, clock } = service
  const { chain, wallet: payer, address } = await walletOn(services)
  const settle = async () => {
    chain.advance(40)
    clock.advance(20_000)
    await followTransactions(services)
  }
  const send = async (transaction: string, tracked_resource?: object) => {
    const body = { transaction, tracked_resource, skip_preflight: true }
    const { json, text } = await request('POST', '/v2/transactions', { body })
    expect(json.data?.signature, text).toBeDefined()
    return json.data.signature as string
  }
  const payment = (lamports: bigint, recentBlockhash = chain.latestBlockhash().blockhash) => {
    const to = Keypair.generate().publicKey
    const instructions = [SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: to, lamports })]
    const message = new TransactionMessage({ payerKey: payer.publicKey, recentBlockhash, instructions })
    const transaction = new VersionedTransaction(message.compileToV0Message())
    transaction.sign([payer])
    return Buffer.from(transaction.serialize()).toString('base64')
  }
  const memo = (await submitMemo(service, HOSTILE)).json.data.signature
  const body = { payer: address, name: 'My Token', symbol: SYMBOL, uri: 'https://example.com/t', initial_supply: '5' }
  const built = await request('POST', '/v2/tokens', { body: { ...body, token_program: 'token2022' } })
  const { mint, required_signers, transaction, tracked_resource } = built.json.data
  await send(signWith(transaction, [payer, keypairOf(required_signers.mint_secret_key)]), tracked_resource)
  const failed = await send(payment(1_000n * SOL))
  await settle()
  await settle()
  await writeLedger(services)
  const waiting = await send(payment(SOL, address))
  const limit = { lamports_per_transaction: '1' }
  await request('PATCH', '/v2/signer/policy', { body: limit })
  expect((await submitMemo(service)).status).toBe(400)
  return { memo, failed, waiting, mint }
}
