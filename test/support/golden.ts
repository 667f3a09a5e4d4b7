/** Golden transactions: a builder's message, byte for byte, as the real programs once took it. */
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { base58 } from '@scure/base'
import { Keypair } from '@solana/web3.js'
import { expect } from 'vitest'
import { MAX_COMPUTE_UNITS } from '../../src/solana/constants.ts'
import { decodeWireTransaction, maxBytesOf } from '../../src/solana/messages.ts'
import { LOADER, PROGRAM_DATA_HEADER } from '../../src/solana/programs/upgradeable-loader.ts'
import type { TransactionConfig } from '../../src/solana/transaction-config.ts'
import type { TestChain } from './local-chain.ts'

const FOLDER = resolve(import.meta.dirname, '../chain/golden')
const NATIVE_LOADER = 'NativeLoader1111111111111111111111111111111'

/** True while `SVC_RECORD_GOLDEN=1` runs the real programs and writes the files anew. */
export const RECORDING = process.env.SVC_RECORD_GOLDEN === '1'
export const GOLDEN_BLOCKHASH = base58.encode(new Uint8Array(32).fill(7))

/** Limits and priority fee of golden transactions of version 1. */
export const GOLDEN_CONFIG: TransactionConfig = {
  priorityFeeLamports: 1_000n,
  computeUnitLimit: MAX_COMPUTE_UNITS,
  loadedAccountsDataSizeLimit: 4 * 1_048_576,
  heapSize: null,
}

export interface Golden {
  /** Base64. */
  message: string
  /** SHA-256 of the code of each program that took part, by address. */
  programs: Record<string, string>
  unitsConsumed: number
  err: null
}

/** Files of golden transactions, by their paths in the folder. */
export const GOLDEN_FILES = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((name) =>
  name.endsWith('.json'),
)

/** A golden message as a transaction without signatures; one of version 1 has them at its end. */
export function goldenTransaction(file: string): Uint8Array {
  const { message: text } = JSON.parse(readFileSync(join(FOLDER, file), 'utf8')) as Golden
  const message = Buffer.from(text, 'base64')
  const signers = message[0] === 0x81 || message[0] === 0x80 ? message[1]! : message[0]!
  const blank = Buffer.alloc(64 * signers)
  return Buffer.concat(message[0] === 0x81 ? [message, blank] : [Buffer.of(signers), blank, message])
}

/** The same key every time; `seed` from 0 to 255. */
export const goldenKey = (seed: number): Keypair => Keypair.fromSeed(new Uint8Array(32).fill(seed))

/**
 * Compares an unsigned transaction with `test/chain/golden/<name>.json` and answers its size in bytes.
 * Recording runs it on the chain that `arrange` opens with all that it needs, and refuses one that fails.
 */
export async function expectGolden(
  name: string,
  transaction: Uint8Array,
  arrange: () => Promise<TestChain>,
): Promise<number> {
  const file = join(FOLDER, `${name}.json`)
  if (RECORDING) {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, `${JSON.stringify(record(await arrange(), transaction), null, 2)}\n`)
  }
  const golden = JSON.parse(readFileSync(file, 'utf8')) as Golden
  expect(golden).toEqual({
    message: messageOf(transaction),
    programs: expect.any(Object),
    unitsConsumed: expect.any(Number),
    err: null,
  })
  expect(Object.keys(golden.programs).length).toBeGreaterThan(0)
  expect(transaction.length).toBeLessThanOrEqual(maxBytesOf(transaction))
  return transaction.length
}

function record({ chain }: TestChain, transaction: Uint8Array): Golden {
  const { err, logs, unitsConsumed } = chain.simulate(transaction, { sigVerify: false, replaceRecentBlockhash: true })
  expect(err, logs.join('\n')).toBeNull()
  const { keys } = decodeWireTransaction(transaction).message
  const programs = keys
    .toSorted()
    .map((key) => [key, codeHash(chain, key)] as const)
    .filter((entry): entry is [string, string] => entry[1] !== null)
  return { message: messageOf(transaction), programs: Object.fromEntries(programs), unitsConsumed, err: null }
}

const messageOf = (transaction: Uint8Array): string =>
  Buffer.from(decodeWireTransaction(transaction).messageBytes).toString('base64')

/** Null if the address is not a program, or is part of the runtime itself. */
function codeHash(chain: TestChain['chain'], program: string): string | null {
  const account = chain.account(program)
  if (!account?.executable || account.owner === NATIVE_LOADER) return null
  const address = LOADER.decode('program', account)?.program_data
  const code = address === undefined ? account.data : chain.account(address)!.data.subarray(PROGRAM_DATA_HEADER)
  return createHash('sha256').update(code).digest('hex')
}
