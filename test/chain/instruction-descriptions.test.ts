/** Instructions by name, with roles and amounts: of every program that is built for, and of bytes that nobody built. */
import { base58 } from '@scure/base'
import { ComputeBudgetProgram } from '@solana/web3.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createWallet } from '../../commands/machine/wallets/wallet.ts'
import { contentOutcome, withMints } from '../../commands/signing/content.ts'
import type { DescribedContent } from '../../commands/signing/wallet.ts'
import { describeInstruction } from '../../src/chain/instructions/describe.ts'
import { buildCollectionCreation, buildMint } from '../../src/chain/programs/metaplex-core/index.ts'
import { compileTransaction } from '../../src/solana/compiling.ts'
import {
  COMPUTE_BUDGET_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
} from '../../src/solana/program-ids.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { anyText } from '../support/any-text.ts'
import { someone } from '../support/local-chain.ts'
import { buildGoldLock, buildGoldUnlock } from '../support/lock-builds.ts'
import { runs } from '../support/runs.ts'

const address = () => someone().toBase58()
const [payer, mint, recentBlockhash] = [address(), address(), address()]
const envelope = { payer, recentBlockhash }
const wallet = createWallet()
const described = async ({ transaction }: { transaction: Uint8Array }) =>
  (await wallet.describe(Buffer.from(transaction).toString('base64'))).instructions
/** `name of the instruction: role role …`, without those whose accounts were checked elsewhere. */
const summary = (instructions: DescribedContent['instructions']) =>
  instructions.map(
    ({ instruction, accounts }) => `${instruction}: ${accounts.map(({ role }) => role ?? '?').join(' ')}`,
  )

describe('a built instruction', () => {
  const collection = {
    address: address(),
    updateAuthority: payer,
    updateDelegates: [],
    name: 'c',
    uri: 'u',
    numMinted: 0,
    currentSize: 0,
    isFrozen: false,
  }
  const texts = { name: 'N', uri: 'https://example.com' }

  it('of Metaplex Core is described with its name, its texts and its roles', async () => {
    const asset = address()
    const made = await described(
      await buildCollectionCreation({ ...envelope, collection: asset, updateAuthority: payer, ...texts }),
    )
    expect(summary(made)[0]).toMatch(/^create_collection_v2: collection update_authority payer system_program$/)
    expect(made[0]!.args).toMatchObject([
      { name: 'name', value: 'N' },
      { value: 'https://example.com' },
      { name: 'plugins', value: '[]' },
      { name: 'external_plugin_adapters', value: '[]' },
    ])
    const minted = await described(
      await buildMint({
        ...envelope,
        asset,
        collection: collection as never,
        authority: payer,
        owner: payer,
        ...texts,
      }),
    )
    expect(summary(minted)[0]).toMatch(
      /^create_v2: asset collection authority payer owner update_authority system_program/,
    )
  })

  it('of Jupiter Lock is described with amounts in the mint of the lock', async () => {
    const gold = { ...envelope, mint, tokenProgram: 'spl' as const, memo: 'm' }
    const locked = await described(await buildGoldLock({ ...gold, amount: 5n, startsAt: 1, unlocksAt: 2_000_000_000 }))
    const create = locked.find(({ instruction }) => instruction === 'create_vesting_escrow_v2')!
    expect(create.accounts.map(({ role }) => role)).not.toContain(null)
    expect(create.args.find(({ name }) => name === 'cliff_unlock_amount')).toMatchObject({ value: '5', of: mint })
    const unlocked = summary(await described(await buildGoldUnlock({ ...gold, amount: 5n } as never)))
    expect(unlocked.find((line) => line.startsWith('claim_v2'))).toMatch(/escrow token_mint escrow_token recipient/)
    expect(unlocked.find((line) => line.startsWith('close'))).toMatch(
      /creator token_program memo_program event_authority program$/,
    )
  })

  it('of the Compute Budget program is described with what it asks for', () => {
    const asked = [
      ComputeBudgetProgram.requestHeapFrame({ bytes: 262_144 }),
      ComputeBudgetProgram.setComputeUnitLimit({ units: 7 }),
      ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 8 }),
    ].map(({ data }) => describeInstruction(COMPUTE_BUDGET_PROGRAM, [], data))
    expect(
      asked.map(({ instruction, args }) => [instruction, ...args.map(({ name, value }) => [name, value])]),
    ).toEqual([
      ['requestHeapFrame', ['bytes', '262144']],
      ['setComputeUnitLimit', ['units', '7']],
      ['setComputeUnitPrice', ['microLamports', '8']],
    ])
  })

  it('that names the decimals of a mint, or opens an account of it, gives units to the amounts of others', async () => {
    const [from, to] = [address(), address()]
    const account = (pubkey: string, isSigner = false) => ({ pubkey: { pubkey }, isSigner, isWritable: true })
    const amount = Buffer.alloc(8)
    amount.writeBigUInt64LE(1_500_000n)
    const transaction = compileTransaction({
      payer: { pubkey: payer },
      recentBlockhash,
      instructions: [
        {
          programId: { pubkey: TOKEN_PROGRAM },
          keys: [account(mint)],
          data: Buffer.concat([Buffer.of(20, 6), Buffer.alloc(32), Buffer.of(0)]),
        },
        {
          programId: { pubkey: TOKEN_PROGRAM },
          keys: [account(mint), account(from), account(payer, true)],
          data: Buffer.concat([Buffer.of(7), amount]),
        },
        {
          programId: { pubkey: TOKEN_PROGRAM },
          keys: [account(from), account(to), account(payer, true)],
          data: Buffer.concat([Buffer.of(3), amount]),
        },
      ],
      bytesOf: ({ pubkey }) => new Uint8Array(base58.decode(pubkey)),
    }).transaction
    const [, minted, moved] = await described({ transaction })
    for (const one of [minted!, moved!]) expect(one.args).toMatchObject([{ name: 'amount', mint, decimals: 6 }])
  })
})

describe('an amount of an account', () => {
  const [one, other, holder, to] = [address(), address(), address(), address()]
  const account = (pubkey: string, isSigner = false) => ({ pubkey: { pubkey }, isSigner, isWritable: true })
  const of = (program: string, keys: string[], ...data: Buffer[]) => ({
    programId: { pubkey: program },
    keys: keys.map((key) => account(key)),
    data: Buffer.concat(data),
  })
  const units = Buffer.alloc(8)
  units.writeBigUInt64LE(1_000_000n)
  const [token, owner] = [TOKEN_PROGRAM, Buffer.alloc(32, 7)]
  const transfer = of(token, [holder, to, payer], Buffer.of(3), units)
  const checked = (mint: string, decimals: number) =>
    of(token, [holder, mint, to, payer], Buffer.of(12), units, Buffer.of(decimals))
  const opens = (mint: string) => of(token, [holder, mint], Buffer.of(18), owner)
  const closes = of(token, [holder, payer, payer], Buffer.of(9))
  const unknown = of(other, [holder], Buffer.of(1))
  const burn = (mint: string) => of(token, [to, mint, payer], Buffer.of(8), units)
  const opensMint = (mint: string, decimals: number) => of(token, [mint], Buffer.of(20, decimals), owner, Buffer.of(0))
  const closesMint = (mint: string) => of(token, [mint, payer, payer], Buffer.of(9))

  /** Mint and decimals of each amount that names no mint itself. */
  const shown = async (instructions: ReturnType<typeof of>[]) => {
    const { transaction } = compileTransaction({
      ...{ payer: { pubkey: payer }, recentBlockhash, instructions },
      bytesOf: ({ pubkey }: { pubkey: string }) => new Uint8Array(base58.decode(pubkey)),
    })
    const all = await described({ transaction })
    return all.flatMap(({ instruction, args }) =>
      instruction === 'transfer' || instruction === 'burn'
        ? args.map(({ of, mint = null, decimals }) => [of === null ? null : 'of', mint, decimals])
        : [],
    )
  }
  const unsure = [null, null, null]

  it.each<[title: string, instructions: ReturnType<typeof of>[], amounts: unknown[][]]>([
    ['is of the mint that another instruction names', [transfer, checked(one, 6)], [['of', one, 6]]],
    ['is of the mint with which it was opened', [opens(one), checked(one, 6), transfer, closes], [['of', one, 6]]],
    ['is left to a trial if it is closed only', [transfer, closes], [['of', null, null]]],
    [
      'is never of the mint for which it is opened later',
      [transfer, closes, opens(other), checked(other, 0), transfer],
      [unsure, ['of', other, 0]],
    ],
    [
      'is of the mint that it had before it is opened again',
      [checked(one, 6), transfer, closes, opens(other), checked(other, 0), transfer],
      [
        ['of', one, 6],
        ['of', other, 0],
      ],
    ],
    [
      'is not known after a program that is not known',
      [checked(one, 6), transfer, unknown, transfer],
      [['of', one, 6], unsure],
    ],
    ['is not known if two mints are named', [transfer, checked(one, 6), checked(other, 0)], [['of', null, null]]],
    [
      'has the decimals that its mint has then',
      [opensMint(one, 6), burn(one), closesMint(one), opensMint(one, 0), burn(one)],
      [
        ['of', one, 6],
        ['of', one, 0],
      ],
    ],
  ])('%s', async (_, instructions, amounts) => {
    expect(await shown(instructions)).toEqual(amounts)
  })

  it('is of no mint that a trial shows beside another one', () => {
    const arg = { name: 'amount', value: '1', unit: 'tokens' as const, of: holder, decimals: null }
    const content = { instructions: [{ args: [arg] }] } as unknown as DescribedContent
    const row = (mint: string) => ({ address: holder, mint, decimals: 6 }) as never
    const found = (...mints: string[]) =>
      withMints(content, { balance_changes: mints.map(row) }).instructions[0]?.args[0]
    expect([found(one), found(one, other)]).toMatchObject([
      { mint: one, decimals: 6 },
      { mint: null, decimals: null },
    ])
  })
})

describe('arbitrary bytes', () => {
  const programs = [...Object.values(PROGRAMS).map(({ id }) => id), SYSTEM_PROGRAM, TOKEN_PROGRAM, TOKEN_2022_PROGRAM]
  const accounts = fc.array(fc.constantFrom(...Array.from({ length: 5 }, address)), { maxLength: 12 })

  it('are described or not, without an error', { tags: 'sampled' }, () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...programs),
        accounts,
        fc.uint8Array({ maxLength: 80 }),
        (program, accounts, data) => {
          const { roles, args } = describeInstruction(program, accounts, data)
          expect(roles).toHaveLength(accounts.length)
          for (const { value, unit } of args) if (unit !== null) expect(value).toMatch(/^\d+$/)
        },
      ),
      { numRuns: runs(400, 2_000) },
    )
  })

  it('are shown without control characters, in 80 columns', async () => {
    const text = anyText({ maxLength: 120 })
    await fc.assert(
      fc.asyncProperty(text, text, async (name, uri) => {
        const strings = [name, uri].map((one) => {
          const length = Buffer.alloc(4)
          length.writeUInt32LE(Buffer.byteLength(one))
          return Buffer.concat([length, Buffer.from(one)])
        })
        const { transaction } = compileTransaction({
          payer: { pubkey: payer },
          recentBlockhash,
          instructions: [
            { programId: { pubkey: PROGRAMS.core.id }, keys: [], data: Buffer.concat([Buffer.of(1), ...strings]) },
          ],
          bytesOf: ({ pubkey }) => new Uint8Array(base58.decode(pubkey)),
        })
        const content = await wallet.describe(Buffer.from(transaction).toString('base64'))
        const shown = await contentOutcome(content, {
          trial: null,
          state: null,
          lastValid: undefined,
          untried: 'not asked for',
        })
        expect(shown.text).not.toMatch(
          /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/,
        )
        for (const line of shown.text!.split('\n')) expect([...line].length, line).toBeLessThanOrEqual(80)
      }),
      { numRuns: 30 },
    )
  })
})
