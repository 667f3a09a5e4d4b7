/** What transactions do to DAMM v2 pools, told from their instructions: held against the program's own IDL. */
import { CP_AMM_PROGRAM_ID, CpAmmIdl } from '@meteora-ag/cp-amm-sdk'
import { PublicKey, TransactionInstruction, TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type DammV2Change, dammV2ChangesIn } from '../../src/chain/programs/damm-v2/index.ts'
import { decodeWireTransaction } from '../../src/solana/messages.ts'
import { GOLDEN_BLOCKHASH } from '../support/golden.ts'
import { someone } from '../support/local-chain.ts'
import { runs } from '../support/runs.ts'

interface IdlInstruction {
  name: string
  discriminator: number[]
  accounts: { name: string; signer?: boolean }[]
}

const IDL = (CpAmmIdl as unknown as { instructions: IdlInstruction[] }).instructions
const PAYER = someone()

/** The kind of each instruction that is reported, and its fields by the IDL's names of their accounts. */
const TOLD: Record<string, { kind: DammV2Change['kind']; fields: Record<string, string> }> = {
  ...Object.fromEntries(
    ['initialize_pool', 'initialize_customizable_pool', 'initialize_pool_with_dynamic_config'].map((name) => [
      name,
      {
        kind: 'pool_created' as const,
        fields: {
          pool: 'pool',
          creator: 'creator',
          position: 'position',
          tokenAMint: 'token_a_mint',
          tokenBMint: 'token_b_mint',
        },
      },
    ]),
  ),
  swap: { kind: 'swap', fields: { pool: 'pool', trader: 'payer' } },
  swap2: { kind: 'swap', fields: { pool: 'pool', trader: 'payer' } },
  claim_position_fee: {
    kind: 'claim',
    fields: { pool: 'pool', position: 'position', nftAccount: 'position_nft_account', owner: 'signer' },
  },
}

function changesOf(...instructions: TransactionInstruction[]) {
  const message = new TransactionMessage({ payerKey: PAYER, recentBlockhash: GOLDEN_BLOCKHASH, instructions })
  const transaction = new VersionedTransaction(message.compileToV0Message()).serialize()
  return dammV2ChangesIn(decodeWireTransaction(transaction).message)
}

/** One instruction of the IDL with an address of its own for each account, by the account's name. */
function strangersCall(
  { discriminator, accounts }: IdlInstruction,
  rest: Uint8Array = new Uint8Array(),
  programId = CP_AMM_PROGRAM_ID,
) {
  const addresses = new Map(accounts.map(({ name }) => [name, someone()]))
  const keys = accounts.map(({ name }) => ({ pubkey: addresses.get(name)!, isSigner: false, isWritable: false }))
  const data = Buffer.concat([Buffer.from(discriminator), rest])
  return { addresses, instruction: new TransactionInstruction({ programId, keys, data }) }
}

/** Two amounts, and the mode that swap2 has behind them. */
function amounts(first: bigint, second: bigint, ...mode: number[]): Uint8Array {
  const data = Buffer.alloc(16)
  data.writeBigUInt64LE(first)
  data.writeBigUInt64LE(second, 8)
  return Buffer.concat([data, Buffer.from(mode)])
}

describe('an instruction of cp_amm', () => {
  it.each(IDL.map((each) => [each.name, each] as const))('%s is read as in the IDL, or not at all', (name, idl) => {
    const { addresses, instruction } = strangersCall(idl, amounts(7n, 9n, 0))
    const told = TOLD[name]
    const fields = Object.entries(told?.fields ?? {}).map(([field, account]) => [
      field,
      addresses.get(account)!.toBase58(),
    ])
    const amount = told?.kind === 'swap' ? { amountIn: 7n } : {}
    const expected = told === undefined ? [] : [{ kind: told.kind, ...Object.fromEntries(fields), ...amount }]
    expect(changesOf(instruction)).toEqual(expected)
    expect(changesOf(strangersCall(idl, amounts(7n, 9n), someone()).instruction)).toEqual([])
  })

  it('is searched under every reported name', () => {
    expect(IDL.map(({ name }) => name)).toEqual(expect.arrayContaining(Object.keys(TOLD)))
  })

  it('says what a swap pays, unless the order names the output', () => {
    const amountOf = (name: string, data: Uint8Array) => {
      const [change] = changesOf(strangersCall(IDL.find((each) => each.name === name)!, data).instruction)
      return change?.kind === 'swap' ? change.amountIn : undefined
    }
    expect(amountOf('swap', amounts(2n ** 64n - 1n, 0n))).toBe(2n ** 64n - 1n)
    expect([0, 1, 2].map((mode) => amountOf('swap2', amounts(5n, 6n, mode)))).toEqual([5n, 5n, null])
    expect(amountOf('swap', Buffer.alloc(7))).toBeNull()
  })

  it('that is cut short, or has accounts from a table, causes no exception and no invented address', {
    tags: 'sampled',
  }, () => {
    const keys = [PAYER, someone(), someone(), CP_AMM_PROGRAM_ID, PublicKey.default].map((key) => key.toBase58())
    const instruction = fc.record({
      programIdIndex: fc.constantFrom(3, 3, 4, 9),
      accounts: fc.uint8Array({ max: 5, minLength: 2, maxLength: 14, size: 'max' }),
      data: fc
        .tuple(
          fc.constantFrom(...IDL.filter(({ name }) => name in TOLD).map(({ discriminator }) => discriminator)),
          fc.uint8Array({ maxLength: 20 }),
          fc.integer({ min: 6, max: 28 }),
        )
        .map(([discriminator, rest, length]) => Uint8Array.from([...discriminator, ...rest].slice(0, length))),
    })
    let told = 0
    fc.assert(
      fc.property(fc.array(instruction, { maxLength: 30, size: 'max' }), (instructions) => {
        const changes = dammV2ChangesIn({
          version: 0,
          signers: 1,
          readonlySigners: 0,
          readonlyOthers: 0,
          keys,
          recentBlockhash: GOLDEN_BLOCKHASH,
          blockhashOffset: 0,
          instructions,
          lookups: [],
          config: null,
        })
        for (const { kind, ...change } of changes) {
          const named = Object.entries(change).filter(([field]) => field !== 'amountIn')
          for (const [, address] of named) expect(keys).toContain(address)
          expect(['pool_created', 'swap', 'claim']).toContain(kind)
        }
        told += changes.length
      }),
      { numRuns: runs(60, 300) },
    )
    expect(told).toBeGreaterThan(runs(10, 100))
  })
})
