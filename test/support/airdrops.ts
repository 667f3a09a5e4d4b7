/** Airdrops over HTTP on the real distributor: mints with tokens in wallets, trees of wallets, and what a client signs. */
import * as spl from '@solana/spl-token'
import { Keypair, PublicKey, SystemProgram, type TransactionInstruction, VersionedTransaction } from '@solana/web3.js'
import { expect } from 'vitest'
import { distributorAddress, tokenAccountAddress } from '../../src/chain/programs/merkle-distributor/index.ts'
import { followAirdrops } from '../../src/operations/airdrops/follow-airdrops.ts'
import { followTransactions } from '../../src/operations/transactions/follow-transactions.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { addSignatures, signed } from './local-chain-transactions.ts'
import { hasProgram } from './programs.ts'
import type { Service } from './service.ts'
import { addressOf, SOL, walletOn } from './wallets.ts'

export { addressOf }

export const lacksDistributor = !hasProgram(PROGRAMS.distributor.id)
export const DAY_S = 86_400

export interface Entry {
  wallet: string
  amount: string
}

interface Built {
  transaction: string
  tracked_resource?: object
}

type Opened = Pick<Service, 'services' | 'request' | 'clock'>
export type Airdrops = Awaited<ReturnType<typeof airdropsOn<Opened>>>

/** Helpers over a service whose chain is the embedded one. */
export async function airdropsOn<S extends Opened>(service: S) {
  const { services, request, clock } = service
  const { chain, wallet: authority } = await walletOn(services)

  const run = (instructions: TransactionInstruction[], signers: Keypair[]) => {
    const landed = chain.send(signed(instructions, signers, { blockhash: chain.latestBlockhash().blockhash }))
    expect(landed.err, landed.logs?.join('\n')).toBeNull()
  }
  const wallet = (lamports = 10n * SOL): Keypair => {
    const key = Keypair.generate()
    if (lamports > 0n) chain.airdrop(addressOf(key), lamports)
    return key
  }
  /** Raw units in the associated token account; null where none is. */
  const tokensOf = (mint: string, owner: string | Keypair): bigint | null => {
    const key = typeof owner === 'string' ? new PublicKey(owner) : owner.publicKey
    const account = chain.account(spl.getAssociatedTokenAddressSync(new PublicKey(mint), key, true).toBase58())
    return account === null || account.data.length === 0 ? null : Buffer.from(account.data).readBigUInt64LE(64)
  }
  const ok = async (method: string, path: string, body?: object, headers: Record<string, string> = {}) => {
    const answer = await request(method, path, body === undefined ? { headers } : { body, headers })
    expect([answer.status === 201 ? 200 : answer.status, answer.json?.error], path).toEqual([200, undefined])
    return answer.json.data
  }
  const sign = (transaction: string, signers: Keypair[]) => {
    const decoded = VersionedTransaction.deserialize(Buffer.from(transaction, 'base64'))
    addSignatures(decoded, signers)
    return Buffer.from(decoded.serialize()).toString('base64')
  }
  return {
    ...service,
    chain,
    authority,
    run,
    wallet,
    tokensOf,
    ok,
    sign,
    /** What it failed with and its words. */
    async refused(method: string, path: string, body: object) {
      const { status, json } = await request(method, path, { body })
      return { status, param: json.error?.param, message: json.error?.message as string, details: json.error?.details }
    },
    /** A mint of SPL Token, or of another program, of which the owner has `amount`. */
    mintFor(owner: Keypair | string, amount: bigint, program = spl.TOKEN_PROGRAM_ID): string {
      const mint = Keypair.generate()
      const key = typeof owner === 'string' ? new PublicKey(owner) : owner.publicKey
      const account = spl.getAssociatedTokenAddressSync(mint.publicKey, key, true, program)
      run(
        [
          SystemProgram.createAccount({
            fromPubkey: authority.publicKey,
            newAccountPubkey: mint.publicKey,
            space: spl.MINT_SIZE,
            lamports: Number(chain.minimumBalance(spl.MINT_SIZE)),
            programId: program,
          }),
          spl.createInitializeMint2Instruction(mint.publicKey, 6, authority.publicKey, authority.publicKey, program),
          ...(amount === 0n
            ? []
            : [
                spl.createAssociatedTokenAccountInstruction(authority.publicKey, account, key, mint.publicKey, program),
                spl.createMintToInstruction(mint.publicKey, account, authority.publicKey, amount, [], program),
              ]),
        ],
        [authority, mint],
      )
      return addressOf(mint)
    },
    /** Sends tokens into a token account. */
    mintInto(mint: string, account: string, amount: bigint) {
      run(
        [spl.createMintToInstruction(new PublicKey(mint), new PublicKey(account), authority.publicKey, amount)],
        [authority],
      )
    },
    storeTree: (mint: string, entries: readonly Entry[], airdrop_count = 0, more: object = {}) =>
      ok('POST', '/v2/merkle-trees', { mint, airdrop_count, entries, ...more }),
    /** Lands it without the API. */
    land(transaction: string, ...signers: Keypair[]) {
      const landed = chain.send(Buffer.from(sign(transaction, signers), 'base64'))
      expect(landed.err, landed.logs?.join('\n')).toBeNull()
      return landed
    },
    /** Submits it as a client does; answers the signature. */
    async submit({ transaction, tracked_resource }: Built, ...signers: Keypair[]): Promise<string> {
      const body = { transaction: sign(transaction, signers), ...(tracked_resource && { tracked_resource }) }
      const { signature } = await ok('POST', '/v2/transactions', body)
      expect(chain.transaction(signature)?.err ?? null).toBeNull()
      return signature
    },
    /** Time goes on, and the watcher looks; with `worker` the airdrops are looked at too. */
    async settle({ worker = false } = {}) {
      chain.advance(20)
      clock.advance(20_000)
      await followTransactions(services)
      if (worker) await followAirdrops(services)
    },
    /** The chain's clock and the services' go on together. */
    pass(seconds: number) {
      chain.advance(seconds)
      clock.advance(seconds * 1000)
    },
    async vaultOf(mint: string, airdropCount = 0): Promise<{ distributor: string; vault: string }> {
      const distributor = await distributorAddress({ mint, airdropCount })
      return { distributor, vault: await tokenAccountAddress(mint, distributor) }
    },
    /** Types of the events about an airdrop, in order. */
    async eventsOf(id: string): Promise<string[]> {
      const events = await ok('GET', `/v2/events?order=asc&limit=100&resource_type=airdrop&resource_id=${id}`)
      return events.map(({ type }: { type: string }) => type)
    },
  }
}

/** Entries for wallets, with amounts of their own. */
export const entriesFor = (wallets: readonly Keypair[], amount = (n: number) => BigInt(n + 1) * 1_000n): Entry[] =>
  wallets.map((key, n) => ({ wallet: addressOf(key), amount: String(amount(n)) }))

export const createBody = (payer: string | Keypair, mint: string, merkle_root: string, more: object = {}) => ({
  payer: typeof payer === 'string' ? payer : addressOf(payer),
  platform_id: 'acme',
  mint,
  airdrop_count: 0,
  merkle_root,
  ...more,
})

export const claimBody = (claimer: string | Keypair, more: object = {}) => ({
  claimer: typeof claimer === 'string' ? claimer : addressOf(claimer),
  platform_id: 'acme',
  amount: '0',
  ...more,
})
