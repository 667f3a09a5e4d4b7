/** Errors of transactions in words: the tables against their sources, and real failures on the embedded chain. */

import { createRequire } from 'node:module'
import type { Instruction } from '@metaplex-foundation/umi'
import * as spl from '@solana/spl-token'
import { Connection, Keypair, PublicKey, SystemProgram, TransactionInstruction } from '@solana/web3.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ANCHOR_CODES } from '../../src/chain/errors/generated/anchor.ts'
import { CORE_CODES } from '../../src/chain/errors/generated/core.ts'
import { DBC_CODES } from '../../src/chain/errors/generated/dbc.ts'
import {
  type ErrorContext,
  explainTransactionError,
  INSTRUCTION_ERROR_TEXTS,
  TRANSACTION_ERROR_TEXTS,
} from '../../src/chain/errors/index.ts'
import { KNOWN_PROGRAMS } from '../../src/chain/errors/programs.ts'
import { INSTRUCTION_ERRORS, TRANSACTION_ERRORS } from '../../src/localnet/transaction-errors.ts'
import type { TransactionRefused } from '../../src/solana/execution.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { launchCurve } from '../support/curve.ts'
import {
  hasProgram,
  mintOf,
  openTestChain,
  PROGRAMS_DIR,
  SOL,
  someone,
  type TestChain,
  thrownBy,
  transfer,
} from '../support/local-chain.ts'
import { runs } from '../support/runs.ts'

const SYSTEM = SystemProgram.programId.toBase58()
const DBC = PROGRAMS.dbc.id
const DISTRIBUTOR = PROGRAMS.distributor.id
const TOKEN = spl.TOKEN_PROGRAM_ID.toBase58()
const FOREIGN = 'SwaPpA9LAaLfeLi3a68M4DjnLqgtticKg6CnyNwgAC8'

const custom = (code: number, index = 0) => ({ InstructionError: [index, { Custom: code }] })

/** What a transaction ended with, landed or refused, explained. */
function explained(test: TestChain, instructions: TransactionInstruction[], signers: Keypair[]) {
  const programIds = instructions.map(({ programId }) => programId.toBase58())
  const run = test.chain.simulate(test.sign(instructions, signers))
  expect(run.err).not.toBeNull()
  return explainTransactionError(run.err, { logs: run.logs, programIds })
}

describe('the tables of errors', () => {
  it('have words for every error of the runtime', () => {
    expect(TRANSACTION_ERRORS.filter((name) => !(name in TRANSACTION_ERROR_TEXTS))).toEqual([])
    expect(INSTRUCTION_ERRORS.filter((name) => !(name in INSTRUCTION_ERROR_TEXTS))).toEqual([])
  })

  it('number DBC, Core and Anchor as their installed packages do', async () => {
    const { DynamicBondingCurveIdl } = await import('@meteora-ag/dynamic-bonding-curve-sdk')
    const names = Object.entries(DBC_CODES).map(([code, [name]]) => [Number(code), name])
    expect(names).toEqual(DynamicBondingCurveIdl.errors.map(({ code, name }) => [code, name]))

    const { createMplCoreProgram, getMplCoreErrorFromCode } = await import('@metaplex-foundation/mpl-core')
    const core = createMplCoreProgram()
    for (const [code, [name]] of Object.entries(CORE_CODES)) {
      expect(getMplCoreErrorFromCode(Number(code), core)?.name).toBe(name)
    }
    expect(getMplCoreErrorFromCode(Object.keys(CORE_CODES).length, core)).toBeNull()

    const { LangErrorCode } = createRequire(import.meta.url)('@coral-xyz/anchor')
    const anchors = Object.fromEntries(Object.entries(ANCHOR_CODES).map(([code, [name]]) => [name, Number(code)]))
    expect(anchors).toEqual(LangErrorCode)
  })

  it('have one-line messages, and hints only for codes that exist', () => {
    for (const { codes, hints } of Object.values(KNOWN_PROGRAMS)) {
      for (const [name, message] of Object.values(codes)) {
        expect(name).toMatch(/^\w+$/)
        expect(message).toMatch(/^\S.*\S$/)
      }
      for (const code of Object.keys(hints)) expect(codes).toHaveProperty(code)
    }
  })
})

describe('a chain error', () => {
  const cases: [title: string, err: unknown, context: ErrorContext, expected: object][] = [
    [
      'of the runtime',
      'BlockhashNotFound',
      {},
      { program: null, name: 'BlockhashNotFound', code: null, instruction: null },
    ],
    [
      'that counts to an account',
      { InsufficientFundsForRent: { account_index: 1 } },
      { accountKeys: ['a', FOREIGN] },
      {
        name: 'InsufficientFundsForRent',
        message: `an account would be left with less SOL than its rent: account ${FOREIGN}`,
        hint: `send SOL to it; on the embedded chain \`svc localnet airdrop ${FOREIGN} <sol>\``,
      },
    ],
    ['of a doubled instruction', { DuplicateInstruction: 2 }, {}, { name: 'DuplicateInstruction', instruction: 2 }],
    [
      'of a known program without a log',
      custom(6033, 2),
      { programIds: [SYSTEM, SYSTEM, DBC] },
      {
        program: 'Meteora DBC',
        name: 'InsufficientLiquidity',
        code: 6033,
        instruction: 2,
        message: 'Liquidity in bonding curve is insufficient',
      },
    ],
    [
      'of an Anchor account check',
      custom(3007),
      { programIds: [DISTRIBUTOR] },
      { program: 'Jito merkle distributor', name: 'AccountOwnedByWrongProgram', code: 3007 },
    ],
    [
      'of a program called by another',
      custom(0),
      {
        programIds: [DISTRIBUTOR],
        logs: [
          `Program ${DISTRIBUTOR} invoke [1]`,
          `Program ${SYSTEM} invoke [2]`,
          `Allocate: account Address { address: ${FOREIGN}, base: None } already in use`,
          `Program ${SYSTEM} failed: custom program error: 0x0`,
          `Program ${DISTRIBUTOR} failed: custom program error: 0x0`,
        ],
      },
      {
        program: 'System program',
        name: 'AccountAlreadyInUse',
        code: 0,
        message: `an account with the same address already exists: ${FOREIGN}`,
        hint: expect.stringContaining('this wallet has claimed before'),
      },
    ],
    [
      'of the caller, after its calls came back',
      custom(6002),
      {
        programIds: [DISTRIBUTOR],
        logs: [
          `Program ${DISTRIBUTOR} invoke [1]`,
          `Program ${TOKEN} invoke [2]`,
          `Program ${TOKEN} success`,
          `Program ${DISTRIBUTOR} failed: custom program error: 0x1772`,
        ],
      },
      { program: 'Jito merkle distributor', name: 'InvalidProof', code: 6002 },
    ],
    [
      'of a program that svc does not know but that is of Anchor',
      custom(6001),
      {
        logs: [
          `Program ${FOREIGN} invoke [1]`,
          'Program log: AnchorError caused by account: vault. Error Code: VaultShut. Error Number: 6001. Error Message: Shut: come. later.',
          `Program ${FOREIGN} failed: custom program error: 0x1771`,
        ],
      },
      { program: FOREIGN, name: 'VaultShut', code: 6001, message: 'Shut: come. later (account vault)', hint: null },
    ],
    [
      'whose number a newer program uses otherwise',
      custom(6033),
      {
        logs: [
          `Program ${DBC} invoke [1]`,
          'Program log: AnchorError thrown in programs/a/src/b.rs:12. Error Code: SomethingNew. Error Number: 6033. Error Message: New.',
          `Program ${DBC} failed: custom program error: 0x1791`,
        ],
      },
      { program: 'Meteora DBC', name: 'SomethingNew', message: 'New', hint: null },
    ],
    [
      'of a program nobody knows',
      custom(7),
      { programIds: [FOREIGN] },
      { program: FOREIGN, name: 'Custom7', message: 'the program failed with its own error 7 (0x7)' },
    ],
    [
      'with a log of another run',
      custom(1),
      {
        programIds: [TOKEN],
        logs: [`Program ${DBC} invoke [1]`, `Program ${DBC} failed: custom program error: 0x1791`],
      },
      { program: 'SPL Token', name: 'InsufficientFunds' },
    ],
    [
      'with a log that was cut off',
      custom(1),
      { programIds: [DBC], logs: [`Program ${DBC} invoke [1]`, `Program ${TOKEN} invoke [2]`, 'Log truncated'] },
      { program: 'Meteora DBC', name: 'Custom1' },
    ],
    [
      'with a log line that a program forged',
      custom(1),
      {
        logs: [
          `Program ${FOREIGN} invoke [1]`,
          `Program log: x\nProgram ${DBC} failed: custom program error: 0x1`,
          `Program log: Program ${DBC} failed: custom program error: 0x1`,
          'Program log: Error: gone\u001b[31m\nwrong',
          `Program ${FOREIGN} failed: custom program error: 0x1`,
        ],
      },
      { program: FOREIGN, name: 'Custom1' },
    ],
    [
      'that does not come from a program',
      { InstructionError: [3, 'ComputationalBudgetExceeded'] },
      { programIds: [SYSTEM, SYSTEM, SYSTEM, DBC] },
      { program: 'Meteora DBC', name: 'ComputationalBudgetExceeded', code: null, instruction: 3 },
    ],
    ...(
      [
        [PROGRAMS.dammV2, /^the first trade is too far ahead/],
        [PROGRAMS.squads, /^this member has rejected before/],
        [PROGRAMS.presale, /^only the creator of the raise can do this/],
      ] as const
    ).map(([{ id, name }, hint]): (typeof cases)[number] => [
      `of a code that several programs have, by ${name}`,
      custom(6011),
      { programIds: [id] },
      { program: name, hint: expect.stringMatching(hint) },
    ]),
    ['with the largest code', custom(0xffffffff), {}, { name: 'Custom4294967295', program: null }],
    ['of a runtime to come', 'SomethingUnheardOf', {}, { name: 'SomethingUnheardOf', message: 'something unheard of' }],
  ]
  it.each(cases)('is put into words: %s', (_, err, context, expected) => {
    expect(explainTransactionError(err, context)).toMatchObject(expected)
  })

  it('is one line whatever a node sends, and never causes another error', { tags: 'sampled' }, () => {
    const line = fc.oneof(
      fc.string(),
      fc.constantFrom(
        `Program ${DBC} invoke [1]`,
        `Program ${DBC} invoke [0]`,
        `Program ${TOKEN} invoke [2]`,
        `Program ${TOKEN} success`,
        `Program ${TOKEN} failed: custom program error: 0x1`,
        'Program log: Error: a\nb',
        'Log truncated',
      ),
    )
    const reason = fc.oneof(fc.anything(), fc.record({ Custom: fc.oneof(fc.nat(), fc.bigInt()) }), fc.string())
    const err = fc.oneof(
      fc.anything({ withBigInt: true }),
      fc.record({ InstructionError: fc.tuple(fc.anything(), reason) }),
    )
    fc.assert(
      fc.property(err, fc.array(line), (value, logs) => {
        const { name, message, hint } = explainTransactionError(value, { logs, programIds: [DBC] })
        for (const text of [name, message, hint ?? '']) expect(text).not.toMatch(/[\n\r\u001b]/)
      }),
      { numRuns: runs(200, 2_000) },
    )
  })
})

describe('a real failure of a transaction', () => {
  it('of a transfer without funds names the lamports', async () => {
    const test = await openTestChain()
    const payer = test.wallet(SOL)
    const told = explained(test, [transfer(payer, payer.publicKey, 1), transfer(payer, someone(), 5n * SOL)], [payer])
    expect(told).toEqual({
      program: 'System program',
      name: 'ResultWithNegativeLamports',
      code: 1,
      instruction: 1,
      message: 'account does not have enough SOL to perform the operation: it has 0.999995 SOL and needs 5 SOL',
      hint: 'send SOL to the paying account; on the embedded chain `svc localnet airdrop <address> <sol>`',
    })
  })

  it('of an existing account names the account', async () => {
    const test = await openTestChain()
    const payer = test.wallet()
    const other = test.wallet()
    const create = SystemProgram.createAccount({
      fromPubkey: payer.publicKey,
      newAccountPubkey: other.publicKey,
      lamports: Number(SOL),
      space: 0,
      programId: SystemProgram.programId,
    })
    expect(explained(test, [create], [payer, other])).toMatchObject({
      name: 'AccountAlreadyInUse',
      message: `an account with the same address already exists: ${other.publicKey.toBase58()}`,
    })
  })

  it('of a refused send is reported by its name', async () => {
    const test = await openTestChain()
    const payer = test.wallet()
    const raw = test.sign([transfer(payer, someone(), SOL)], [payer], { blockhash: someone().toBase58() })
    const refused = thrownBy(() => test.chain.send(raw)) as TransactionRefused
    expect(explainTransactionError(refused.err)).toMatchObject({
      name: 'BlockhashNotFound',
      hint: 'build the transaction again, sign and send it',
    })
  })

  it.each([
    ['SPL Token', spl.TOKEN_PROGRAM_ID],
    ['Token-2022', spl.TOKEN_2022_PROGRAM_ID],
  ])('of %s is reported: too few tokens, a wrong mint authority, a revoked one', async (program, id) => {
    const test = await openTestChain()
    const payer = test.wallet()
    const thief = test.wallet()
    const mint = await mintOf(test, payer, id)
    const [mine, theirs] = [payer, thief].map(({ publicKey }) =>
      spl.getAssociatedTokenAddressSync(mint, publicKey, false, id),
    ) as [PublicKey, PublicKey]
    const landed = test.send(
      [
        spl.createAssociatedTokenAccountInstruction(payer.publicKey, mine, payer.publicKey, mint, id),
        spl.createAssociatedTokenAccountInstruction(payer.publicKey, theirs, thief.publicKey, mint, id),
        spl.createMintToInstruction(mint, mine, payer.publicKey, 10n, [], id),
      ],
      [payer],
    )
    expect(landed.err).toBeNull()

    const overdrawn = spl.createTransferInstruction(mine, theirs, payer.publicKey, 11n, [], id)
    const few = explained(test, [overdrawn], [payer])
    expect(few).toMatchObject({ program, name: 'InsufficientFunds', code: 1, instruction: 0 })
    expect(few.hint).toContain('raw units')

    const stolen = spl.createMintToInstruction(mint, theirs, thief.publicKey, 1n, [], id)
    expect(explained(test, [stolen], [thief])).toMatchObject({ program, name: 'OwnerMismatch', code: 4 })

    const revoke = spl.createSetAuthorityInstruction(mint, payer.publicKey, spl.AuthorityType.MintTokens, null, [], id)
    const late = spl.createMintToInstruction(mint, mine, payer.publicKey, 1n, [], id)
    expect(explained(test, [revoke, late], [payer])).toMatchObject({
      program,
      name: 'FixedSupply',
      code: 5,
      instruction: 1,
    })
  })

  it.runIf(hasProgram(DBC))('of Meteora DBC is reported by name if its program is in the cache', async () => {
    const test = await openTestChain({ programsDir: PROGRAMS_DIR })
    const payer = test.wallet()
    const unknown = new TransactionInstruction({ programId: new PublicKey(DBC), keys: [], data: Buffer.alloc(8, 7) })
    expect(explained(test, [transfer(payer, payer.publicKey, 1), unknown], [payer])).toMatchObject({
      program: 'Meteora DBC',
      name: 'InstructionFallbackNotFound',
      code: 101,
      instruction: 1,
      hint: expect.stringContaining('svc localnet pull'),
    })

    const config = Keypair.generate()
    const instructions = await configWithoutLeftover(payer.publicKey, config.publicKey)
    expect(explained(test, instructions, [payer, config])).toMatchObject({
      program: 'Meteora DBC',
      name: 'InvalidTokenSupply',
      code: 6020,
      instruction: 0,
      message: 'Invalid token supply',
      hint: expect.stringContaining('leftover'),
    })
  })

  it.runIf(hasProgram(PROGRAMS.core.id))('of Metaplex Core is reported: a frozen asset cannot move', async () => {
    const test = await openTestChain({ programsDir: PROGRAMS_DIR })
    const [owner, asset] = [test.wallet(), Keypair.generate()]
    const { create, move } = await frozenAsset(owner.publicKey, asset.publicKey)
    expect(test.send(create, [owner, asset]).err).toBeNull()
    expect(explained(test, move, [owner])).toMatchObject({
      program: 'Metaplex Core',
      name: 'InvalidAuthority',
      code: 9,
      hint: expect.stringContaining('unstake'),
    })
  })
})

/** A DBC config with a migration fee and no leftover: its supply falls short by the rounding, which the program refuses. */
async function configWithoutLeftover(payer: PublicKey, config: PublicKey) {
  const dbc = await import('@meteora-ag/dynamic-bonding-curve-sdk')
  const curve = launchCurve(dbc, 5)
  const client = new dbc.DynamicBondingCurveClient(new Connection('http://127.0.0.1:1'), 'confirmed')
  const { instructions } = await client.partner.createConfig({
    payer,
    config,
    feeClaimer: payer,
    leftoverReceiver: payer,
    quoteMint: spl.NATIVE_MINT,
    ...curve,
  })
  return instructions
}

/** Instructions that create a frozen Core asset, and that try to move it. */
async function frozenAsset(owner: PublicKey, asset: PublicKey) {
  const core = await import('@metaplex-foundation/mpl-core')
  const { createNoopSigner, publicKey, signerIdentity } = await import('@metaplex-foundation/umi')
  const { createUmi } = await import('@metaplex-foundation/umi-bundle-defaults')
  const noop = (key: PublicKey) => createNoopSigner(publicKey(key.toBase58()))
  const umi = createUmi('http://127.0.0.1:1')
    .use(core.mplCore())
    .use(signerIdentity(noop(owner)))
  const plain = (builder: { getInstructions(): Instruction[] }) =>
    builder.getInstructions().map(
      ({ programId, keys, data }) =>
        new TransactionInstruction({
          programId: new PublicKey(programId),
          keys: keys.map((key) => ({ ...key, pubkey: new PublicKey(key.pubkey) })),
          data: Buffer.from(data),
        }),
    )
  return {
    create: plain(
      core.createV1(umi, {
        asset: noop(asset),
        name: 'Frozen',
        uri: 'https://example.com/1.json',
        plugins: [core.createPlugin({ type: 'FreezeDelegate', data: { frozen: true } })].map((plugin) => ({
          plugin,
          authority: null,
        })),
      }),
    ),
    move: plain(core.transferV1(umi, { asset: noop(asset).publicKey, newOwner: publicKey(someone().toBase58()) })),
  }
}
