/** An embedded chain in a temporary folder with a clock of the test's own, and transactions signed for it. */
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as spl from '@solana/spl-token'
import { Keypair, type PublicKey, type Signer, SystemProgram, type TransactionInstruction } from '@solana/web3.js'
import { afterAll, expect, onTestFinished } from 'vitest'
import { EmbeddedChain } from '../../src/localnet/local-chain.ts'
import { openParts } from '../../src/localnet/opening.ts'
import type { LocalChain } from '../../src/localnet/types.ts'
import type { ClusterSettings } from '../../src/solana/cluster-settings.ts'
import type { Consensus } from '../../src/solana/constants.ts'
import { TransactionRefused } from '../../src/solana/execution.ts'
import { type SignOptions, signed } from './local-chain-transactions.ts'
import { TEST_CONSENSUS } from './programs.ts'
import { SOL } from './wallets.ts'

export { SOL }

/** 2027-01-15T08:00:00Z, in Unix milliseconds. */
export const START_MS = 1_800_000_000_000

export * from './local-chain-transactions.ts'
export { hasProgram, PROGRAMS_DIR } from './programs.ts'

export type TestChain = Awaited<ReturnType<typeof openTestChain>>

export interface TestChainOptions {
  programsDir?: string
  dataDir?: string
  settings?: ClusterSettings
  /** Unless it is given, tests run on that of SVC_TEST_CONSENSUS, or on Alpenglow. */
  consensus?: Consensus
}

/** Opens a chain that ends with the test. `wall.ms` is its wall clock. */
export async function openTestChain(options: TestChainOptions = {}) {
  const { test, close } = await makeTestChain(options)
  onTestFinished(close)
  return test
}

/** One chain for tests whose wallets and mints are their own: its first caller opens it, and it ends after the last test. */
export function sharedTestChain(options: TestChainOptions = {}): () => Promise<TestChain> {
  let made: ReturnType<typeof makeTestChain> | undefined
  afterAll(async () => {
    const chain = await made
    made = undefined
    chain?.close()
  })
  return async () => {
    made ??= makeTestChain(options)
    return (await made).test
  }
}

async function makeTestChain({
  programsDir = '/nonexistent',
  dataDir = '',
  settings,
  consensus = settings?.consensus ?? TEST_CONSENSUS,
}: TestChainOptions) {
  const folder = dataDir || mkdtempSync(join(tmpdir(), 'svc-chain-'))
  const wall = { ms: START_MS }
  const open = async () => {
    const now = () => wall.ms
    const parts = await openParts({ dataDir: folder, programsDir, now, consensus, ...(settings && { settings }) })
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
  const close = () => {
    test.chain.close()
    rmSync(folder, { recursive: true, force: true })
  }
  return { test, close }
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

export const balance = ({ chain }: TestChain, key: PublicKey) => chain.account(key.toBase58())?.lamports ?? 0n

/** Name of the refusal a call ended with. */
export function refusal(call: () => unknown): unknown {
  const error = thrownBy(call)
  expect(error).toBeInstanceOf(TransactionRefused)
  return (error as TransactionRefused).err
}

/** Every account there is, by asking the runtime itself, its data as a hash. */
export function everything({ parts }: TestChain) {
  parts.runtime.loadAll()
  const accounts = [...parts.index.addresses()].map((address) => {
    const account = parts.runtime.get(address)
    const digest = account === null ? null : createHash('sha256').update(account.data).digest('hex')
    return [address, { lamports: 0n, ...account, data: digest }] as const
  })
  return new Map(accounts)
}

export function signs(instructions: TransactionInstruction[], key: PublicKey): boolean {
  return instructions.some(({ keys }) => keys.some(({ pubkey, isSigner }) => isSigner && pubkey.equals(key)))
}

export async function mintOf(test: TestChain, payer: Keypair, program: PublicKey): Promise<PublicKey> {
  const mint = Keypair.generate()
  const landed = test.send(
    [
      SystemProgram.createAccount({
        fromPubkey: payer.publicKey,
        newAccountPubkey: mint.publicKey,
        space: spl.MINT_SIZE,
        lamports: Number(test.chain.minimumBalance(spl.MINT_SIZE)),
        programId: program,
      }),
      spl.createInitializeMint2Instruction(mint.publicKey, 6, payer.publicKey, null, program),
    ],
    [payer, mint],
  )
  expect(landed.err).toBeNull()
  return mint.publicKey
}
