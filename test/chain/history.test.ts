/** Histories as nodes answer them: calls inside transactions and lookup tables are read, and answers that do not fit are refused. */
import { base58 } from '@scure/base'
import { AddressLookupTableAccount, Keypair, PublicKey, TransactionInstruction } from '@solana/web3.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { goldLockChangesIn } from '../../src/chain/programs/jupiter-lock/index.ts'
import {
  executionOrder,
  listSignatures,
  ownFirst,
  readExecuted,
  UnreadableTransaction,
} from '../../src/chain/reads/history.ts'
import { decodeWireTransaction } from '../../src/solana/messages.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { signed } from '../support/local-chain.ts'
import { runs } from '../support/runs.ts'

const [payer, wrapper, escrow, user] = Array.from({ length: 4 }, () => Keypair.generate())
const addressOf = (key: Keypair | undefined) => key!.publicKey.toBase58()
const BLOCKHASH = addressOf(Keypair.generate())
const CLOSE = Buffer.from('ddb95f878843fc57', 'hex')

/** A transaction of an unknown program that names accounts by a lookup table. */
const bytes = signed(
  [
    new TransactionInstruction({
      programId: wrapper!.publicKey,
      keys: [escrow!, user!].map(({ publicKey }) => ({ pubkey: publicKey, isSigner: false, isWritable: true })),
      data: Buffer.of(7),
    }),
  ],
  [payer!],
  {
    blockhash: BLOCKHASH,
    tables: [
      new AddressLookupTableAccount({
        key: Keypair.generate().publicKey,
        state: {
          addresses: [escrow!.publicKey, user!.publicKey, new PublicKey(PROGRAMS.lock.id)],
          deactivationSlot: 2n ** 64n - 1n,
          lastExtendedSlot: 0,
          lastExtendedSlotStartIndex: 0,
        },
      }),
    ],
  },
)
const { signature } = decodeWireTransaction(bytes)

/** Keys: payer, the unknown program, escrow, user, and the lock's program behind them. */
const answer = (meta: object = {}) => ({
  slot: 5,
  version: 0,
  transaction: [Buffer.from(bytes).toString('base64'), 'base64'],
  meta: {
    err: null,
    loadedAddresses: { writable: [addressOf(escrow), addressOf(user)], readonly: [PROGRAMS.lock.id] },
    innerInstructions: [
      {
        index: 0,
        instructions: [{ programIdIndex: 4, accounts: [2, 2, 2, 2, 2, 3], data: base58.encode(CLOSE), stackHeight: 2 }],
      },
    ],
    ...meta,
  },
})
const node = (result: unknown) => ({ call: async <T>() => result as T })

describe('a transaction read from the chain', () => {
  it('shows the calls that its programs made, with the accounts of its lookup tables', async () => {
    const executed = (await readExecuted(node(answer()), signature))!
    const unlocked = [{ kind: 'closed', escrow: addressOf(escrow), creator: addressOf(user) }]
    for (const order of [executionOrder, ownFirst])
      expect(goldLockChangesIn(order(executed), undefined)).toEqual(unlocked)
    expect(goldLockChangesIn(executed.message, undefined)).toEqual([])
    expect([executed.slot, executed.isFailed]).toEqual([5, false])
    expect((await readExecuted(node(answer({ err: 'AccountNotFound' })), signature))?.isFailed).toBe(true)
    expect(await readExecuted(node(null), signature)).toBeNull()
  })

  it('is refused if the node answers with another transaction, or with inconsistent parts', async () => {
    const inner = (instruction: object) => ({ innerInstructions: [{ index: 0, instructions: [instruction] }] })
    const fitting = { programIdIndex: 4, accounts: [2], data: '' }
    const unfit = [
      {},
      { ...answer(), slot: 'x' },
      { ...answer(), transaction: ['AAAA', 'base64'] },
      answer({ loadedAddresses: { writable: ['x'], readonly: [] } }),
      answer({ innerInstructions: 'x' }),
      ...[{ programIdIndex: 5 }, { accounts: [9] }, { accounts: [-1] }, { data: 7 }, { data: '0' }].map((part) =>
        answer(inner({ ...fitting, ...part })),
      ),
      answer({ innerInstructions: [{ index: 0, instructions: Array.from({ length: 300 }, () => fitting) }] }),
    ]
    for (const each of unfit) {
      await expect(readExecuted(node(each), signature), JSON.stringify(each)).rejects.toThrow(UnreadableTransaction)
    }
    const other = base58.encode(new Uint8Array(64).fill(1))
    await expect(readExecuted(node(answer()), other)).rejects.toThrow(UnreadableTransaction)
  })

  it('is read or refused, whatever a node answers', { tags: 'sampled' }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.anything(), async (anything) => {
        const failure = await readExecuted(node(answer({ innerInstructions: anything })), signature).catch(
          (error) => error,
        )
        expect(failure?.code ?? 'internal_error').toBe('internal_error')
        const listed = await listSignatures(node(anything), signature).catch((error) => error)
        expect(Array.isArray(listed) || listed.code === 'internal_error').toBe(true)
      }),
      { numRuns: runs(60, 300) },
    )
  })
})

describe('a listing of signatures', () => {
  it('asks for the slot that the node must have reached, and reads time, finality and failure of each', async () => {
    const asked: unknown[] = []
    const rows = [
      { signature, slot: 9, err: null, blockTime: 100, confirmationStatus: 'confirmed' },
      { signature, slot: 8, err: { InstructionError: [0, 'x'] }, blockTime: null, confirmationStatus: 'finalized' },
    ]
    const listing = {
      async call<T>(method: string, params: readonly unknown[]) {
        asked.push([method, ...params])
        return rows as T
      },
    }
    const listed = await listSignatures(listing, addressOf(user), { until: signature, minSlot: 7, limit: 2 })
    expect(listed).toEqual([
      { signature, slot: 9, at: 100_000, isFinal: false, isFailed: false, err: null },
      { signature, slot: 8, at: null, isFinal: true, isFailed: true, err: { InstructionError: [0, 'x'] } },
    ])
    const options = { limit: 2, commitment: 'confirmed', until: signature, minContextSlot: 7 }
    expect(asked).toEqual([['getSignaturesForAddress', addressOf(user), { ...options, before: undefined }]])
    await expect(listSignatures(node([...rows, ...rows]), addressOf(user), { limit: 2 })).rejects.toMatchObject({
      code: 'internal_error',
    })
  })
})
