/** What a message says of claims: for whom, what was passed on, and that nothing was paid where the program's event says so. */

import * as spl from '@solana/spl-token'
import { PublicKey, type TransactionInstruction } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { dbcChangesIn } from '../../src/chain/programs/dbc/index.ts'
import { vestingClaimsIn } from '../../src/chain/programs/jupiter-lock/index.ts'
import { compileUnsigned } from '../../src/chain/sending/unsigned.ts'
import type { DecodedMessage } from '../../src/solana/decoded-message.ts'
import { decodeWireTransaction } from '../../src/solana/messages.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { GOLDEN_BLOCKHASH, goldenKey } from '../support/golden.ts'

const [DBC, LOCK] = [PROGRAMS.dbc.id, PROGRAMS.lock.id].map((id) => new PublicKey(id)) as [PublicKey, PublicKey]
const key = (seed: number) => goldenKey(seed).publicKey
const text = (seed: number) => key(seed).toBase58()

/** An instruction with accounts of the keys from 100 on. */
const instruction = (programId: PublicKey, data: string | Buffer, accounts = 13): TransactionInstruction => ({
  programId,
  keys: Array.from({ length: accounts }, (_, i) => ({ pubkey: key(100 + i), isSigner: i === 8, isWritable: true })),
  data: typeof data === 'string' ? Buffer.from(data, 'hex') : data,
})

async function message(instructions: TransactionInstruction[]): Promise<DecodedMessage> {
  const common = { payer: text(100), recentBlockhash: GOLDEN_BLOCKHASH }
  return decodeWireTransaction((await compileUnsigned(common, instructions)).transaction).message
}

const amount = (units: bigint) => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(units)
  return bytes
}
const CREATOR_CLAIM = Buffer.concat([Buffer.from('52dcfabd03556b2d', 'hex'), amount(0n), amount(7n)])
const event = (name: string, pool: PublicKey, base: bigint, quote: bigint) =>
  instruction(
    DBC,
    Buffer.concat([Buffer.from(`e445a52e51cb9a1d${name}`, 'hex'), pool.toBuffer(), amount(base), amount(quote)]),
    1,
  )
const CREATOR_EVENT = '9ae4d7ca859bd68a'
const creators = { kind: 'claim', pool: text(101), beneficiary: 'creator', claimer: text(108), lamports: 7n }

describe('a claim of a launch curve', () => {
  it('is one unless its own event says that nothing was paid', async () => {
    const read = async (...events: TransactionInstruction[]) =>
      dbcChangesIn(await message([instruction(DBC, CREATOR_CLAIM), ...events]))
    const told = [{ ...creators, recipients: [] }]
    expect(await read()).toEqual(told)
    expect(await read(event(CREATOR_EVENT, key(101), 0n, 0n))).toEqual([])
    expect(await read(event(CREATOR_EVENT, key(101), 0n, 1n))).toEqual(told)
    expect(await read(event(CREATOR_EVENT, key(101), 1n, 0n))).toEqual(told)
    // Events of another pool, and of the partner's claim.
    expect(await read(event(CREATOR_EVENT, key(99), 0n, 0n))).toEqual(told)
    expect(await read(event('1a5375f05cca70fe', key(101), 0n, 0n))).toEqual(told)
  })

  it('has the owners of the token accounts that it opens as recipients', async () => {
    const [claimer, mint, friend] = [key(108), key(90), key(91)]
    const account = (owner: PublicKey) => spl.getAssociatedTokenAddressSync(mint, owner)
    const open = (owner: PublicKey) =>
      spl.createAssociatedTokenAccountIdempotentInstruction(key(100), account(owner), owner, mint)
    const pay = (to: PublicKey, units: bigint) =>
      spl.createTransferCheckedInstruction(account(claimer), mint, account(to), claimer, units, 6)
    const claim = instruction(DBC, CREATOR_CLAIM)
    // What goes back to the claimer asserts an amount, and what goes to an account of unknown owner names nobody.
    const [change] = dbcChangesIn(
      await message([open(claimer), open(friend), claim, pay(claimer, 7n), pay(friend, 3n), pay(key(92), 1n)]),
    )
    expect(change).toEqual({ ...creators, recipients: [{ recipient: text(91), mint: text(90), amount: 3n }] })
  })

  it('of a migration fee is for the party that its data names', async () => {
    for (const [flag, beneficiary] of [
      ['00', 'partner'],
      ['01', 'creator'],
    ]) {
      const claim = instruction(DBC, `ed8e2d178106dea2${flag}`)
      expect(dbcChangesIn(await message([claim]))).toEqual([
        { kind: 'migration_fee', pool: text(102), beneficiary, claimer: text(106) },
      ])
    }
  })
})

describe('a claim of vested tokens', () => {
  const claimed = (units: bigint) =>
    instruction(LOCK, Buffer.concat([Buffer.from('e445a52e51cb9a1dab9001bd78c8260b', 'hex'), amount(units)]), 1)

  it('is read from both instructions, with the mint if it is named', async () => {
    const [v2, v1] = [instruction(LOCK, 'e5572ea2159de772'), instruction(LOCK, '3ec6d6c1d59f6cd2')]
    expect(vestingClaimsIn(await message([v2, v1]))).toEqual([
      { kind: 'vesting', escrow: text(100), claimer: text(103), mint: text(101) },
      { kind: 'vesting', escrow: text(100), claimer: text(102), mint: null },
    ])
  })

  it('is not one if nothing was vested, or if accounts are missing', async () => {
    const v2 = instruction(LOCK, 'e5572ea2159de772')
    expect(vestingClaimsIn(await message([v2, claimed(0n)]))).toEqual([])
    expect(vestingClaimsIn(await message([v2, claimed(1n)]))).toHaveLength(1)
    expect(vestingClaimsIn(await message([instruction(LOCK, 'e5572ea2159de772', 3)]))).toEqual([])
  })
})
