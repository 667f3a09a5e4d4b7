/** An embedded chain in a temporary folder with a clock of the test's own, and transactions signed for it. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type AddressLookupTableAccount,
  Keypair,
  type PublicKey,
  type Signer,
  SystemProgram,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import { onTestFinished } from 'vitest'
import { EmbeddedChain } from '../../src/chain/localnet/local-chain.ts'
import { openParts } from '../../src/chain/localnet/opening.ts'
import type { LocalChain } from '../../src/chain/localnet/types.ts'

export const SOL = 1_000_000_000n
/** 2027-01-15T08:00:00Z, in Unix milliseconds. */
export const START_MS = 1_800_000_000_000

/** Folder with the public programs; nothing in the repository comes from there. */
export const PROGRAMS_DIR =
  process.env.SVC_PROGRAMS_DIR ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'svc', 'programs')

export const hasProgram = (id: string): boolean => existsSync(join(PROGRAMS_DIR, `${id}.so`))

export type TestChain = Awaited<ReturnType<typeof openTestChain>>

/** Opens a chain that ends with the test. `wall.ms` is its wall clock. */
export async function openTestChain({ programsDir = '/nonexistent', dataDir = '' } = {}) {
  const folder = dataDir || mkdtempSync(join(tmpdir(), 'svc-chain-'))
  const wall = { ms: START_MS }
  const open = async () => {
    const parts = await openParts({ dataDir: folder, programsDir, now: () => wall.ms })
    return { parts, chain: new EmbeddedChain(parts) as LocalChain }
  }
  const test = {
    ...(await open()),
    dataDir: folder,
    wall,
    /** As after a stop and a start. */
    async reopen() {
      test.chain.close()
      Object.assign(test, await open())
    },
    /** A wallet with lamports. */
    wallet(lamports = 100n * SOL): Keypair {
      const keypair = Keypair.generate()
      test.chain.airdrop(keypair.publicKey.toBase58(), lamports)
      return keypair
    },
    sign(instructions: TransactionInstruction[], signers: Signer[], options: SignOptions = {}): Uint8Array {
      return signed(instructions, signers, { blockhash: test.chain.latestBlockhash().blockhash, ...options })
    },
    send(instructions: TransactionInstruction[], signers: Signer[], options: SignOptions = {}) {
      return test.chain.send(test.sign(instructions, signers, options))
    },
  }
  onTestFinished(() => {
    test.chain.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return test
}

export interface SignOptions {
  blockhash?: string
  tables?: AddressLookupTableAccount[]
  legacy?: boolean
}

/** The first signer pays. */
export function signed(instructions: TransactionInstruction[], signers: Signer[], options: SignOptions): Uint8Array {
  const { blockhash = '', tables, legacy = false } = options
  const message = new TransactionMessage({ payerKey: signers[0]!.publicKey, recentBlockhash: blockhash, instructions })
  const transaction = new VersionedTransaction(
    legacy ? message.compileToLegacyMessage() : message.compileToV0Message(tables),
  )
  transaction.sign(signers)
  return transaction.serialize()
}

export function transfer(from: Keypair, to: PublicKey, lamports: number | bigint): TransactionInstruction {
  return SystemProgram.transfer({ fromPubkey: from.publicKey, toPubkey: to, lamports })
}

/** What a call threw; undefined when it did not. */
export function thrownBy(call: () => unknown): unknown {
  try {
    call()
    return undefined
  } catch (error) {
    return error
  }
}
