/** Gold tokens for tests: mints of either program in the hands of wallets, and what they and the chain hold. */
import * as spl from '@solana/spl-token'
import {
  Keypair,
  type PublicKey,
  SystemProgram,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import { expect } from 'vitest'
import type { LandedTransaction, LocalChain } from '../../src/localnet/types.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { hasProgram } from './programs.ts'
import { addressOf } from './wallets.ts'

export { addressOf }

/** Part of titles: what is lacking to run Jupiter Lock. */
export const lacksLock = hasProgram(PROGRAMS.lock.id) ? '' : 'needs Jupiter Lock in the program cache'

export const DAY = 86_400

/** The instructions of a transaction of version 0. */
export const instructionsIn = (transaction: Uint8Array): TransactionInstruction[] =>
  TransactionMessage.decompile(VersionedTransaction.deserialize(transaction).message).instructions

/** Lands instructions signed by all of `signers`, the first of which pays; answers what came of it. */
export function run(chain: LocalChain, instructions: TransactionInstruction[], signers: Keypair[]): LandedTransaction {
  const message = new TransactionMessage({
    payerKey: signers[0]!.publicKey,
    recentBlockhash: chain.latestBlockhash().blockhash,
    instructions,
  })
  const transaction = new VersionedTransaction(message.compileToV0Message())
  transaction.sign(signers)
  return chain.send(transaction.serialize())
}

export interface Mint {
  mint: PublicKey
  program: PublicKey
}

/** Instructions between the account's creation and its initialization, with the space that they need. */
export interface Extension {
  type: spl.ExtensionType
  initialize(mint: PublicKey, program: PublicKey, authority: PublicKey): TransactionInstruction
}

/** A mint of nine decimals, whose authority is `authority`; with `isFreezable` false, nobody ever freezes it. */
export function createMint(
  chain: LocalChain,
  authority: Keypair,
  { extensions, program = spl.TOKEN_PROGRAM_ID, key = Keypair.generate(), isFreezable = true }: MintOptions = {},
): Mint {
  const freezer = isFreezable ? authority.publicKey : null
  const space = extensions ? spl.getMintLen(extensions.map(({ type }) => type)) : spl.MINT_SIZE
  const landed = run(
    chain,
    [
      SystemProgram.createAccount({
        fromPubkey: authority.publicKey,
        newAccountPubkey: key.publicKey,
        space,
        lamports: Number(chain.minimumBalance(space)),
        programId: program,
      }),
      ...(extensions ?? []).map((each) => each.initialize(key.publicKey, program, authority.publicKey)),
      spl.createInitializeMint2Instruction(key.publicKey, 9, authority.publicKey, freezer, program),
    ],
    [authority, key],
  )
  expect(landed.err, landed.logs.join('\n')).toBeNull()
  return { mint: key.publicKey, program }
}
export interface MintOptions {
  program?: PublicKey
  extensions?: Extension[]
  key?: Keypair
  isFreezable?: boolean
}

export const tokenAccountOf = ({ mint, program }: Mint, owner: PublicKey): PublicKey =>
  spl.getAssociatedTokenAddressSync(mint, owner, true, program)

/** Mints raw units into the wallet's associated account, which the authority opens. */
export function give(chain: LocalChain, authority: Keypair, gold: Mint, owner: PublicKey, amount: bigint): PublicKey {
  const account = tokenAccountOf(gold, owner)
  const { mint, program } = gold
  const landed = run(
    chain,
    [
      spl.createAssociatedTokenAccountIdempotentInstruction(authority.publicKey, account, owner, mint, program),
      spl.createMintToInstruction(mint, account, authority.publicKey, amount, [], program),
    ],
    [authority],
  )
  expect(landed.err, landed.logs.join('\n')).toBeNull()
  return account
}

/** Raw units in a token account; null where there is none. */
export function unitsIn(chain: LocalChain, account: PublicKey): bigint | null {
  const found = chain.account(account.toBase58())
  return found === null || found.data.length < 72 ? null : Buffer.from(found.data).readBigUInt64LE(64)
}
export const lamportsOf = (chain: LocalChain, key: PublicKey): bigint => chain.account(key.toBase58())?.lamports ?? 0n
