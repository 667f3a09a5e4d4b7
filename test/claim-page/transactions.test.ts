/** What the claim page builds without libraries is what web3.js and SPL Token build, byte for byte. */
import { ComputeBudgetProgram, PublicKey, TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { claimInstructions } from '../../src/chain/programs/merkle-distributor/building.ts'
import { claimStatusAddress, tokenAccountAddress } from '../../src/chain/programs/merkle-distributor/index.ts'
import {
  claimOpening,
  firstClaimInstruction,
  vestedClaimInstruction,
} from '../../src/claim-page/browser/claim-instructions.ts'
import { planClaims } from '../../src/claim-page/browser/claim-plan.ts'
import type { RowState, WalletState } from '../../src/claim-page/browser/claim-state.ts'
import {
  budgetInstructions,
  type PlannedTransaction,
  transactionOf,
  unsignedTransaction,
} from '../../src/claim-page/browser/planned-transaction.ts'
import {
  associatedAccountOf,
  claimRecordOf,
  findProgramAddress,
} from '../../src/claim-page/browser/program-addresses.ts'
import { settingsOf, subjectOf } from '../../src/claim-page/browser/site-files.ts'
import { requireHonest } from '../../src/claim-page/browser/sponsored-message.ts'
import { visitorTexts } from '../../src/claim-page/browser/texts.ts'
import { isEd25519Point } from '../../src/solana/curve.ts'
import { guardInstructions } from '../../src/solana/guards.ts'
import { messageBytesOf } from '../../src/solana/messages.ts'
import { MAX_U64 } from '../../src/solana/u64.ts'
import { vestedAt } from '../../src/solana/unlock-schedule.ts'
import { rentOf } from '../support/rent.ts'
import { runs } from '../support/runs.ts'
import { someAddress } from '../support/wallets.ts'

const key = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => new PublicKey(bytes).toBase58())
const u64 = fc.bigInt({ min: 0n, max: MAX_U64 })
const hash = fc.uint8Array({ minLength: 32, maxLength: 32 })

async function accountsFor(wallet: string, mint = someAddress(), distributor = someAddress()) {
  return {
    wallet,
    mint,
    distributor,
    claimRecord: await claimRecordOf(distributor, wallet),
    vault: await associatedAccountOf(mint, distributor),
    tokenAccount: await associatedAccountOf(mint, wallet),
  }
}

describe('addresses on the claim page', () => {
  it('are on the curve if web3.js says so', { tags: 'sampled' }, () => {
    fc.assert(
      fc.property(hash, (bytes) => {
        expect(isEd25519Point(bytes)).toBe(PublicKey.isOnCurve(bytes))
      }),
      { numRuns: runs(12, 60) },
    )
    for (const byte of [0, 1]) {
      const bytes = new Uint8Array(32).fill(byte)
      expect(isEd25519Point(bytes)).toBe(PublicKey.isOnCurve(bytes))
    }
  })

  it('are derived as web3.js derives them', async () => {
    await fc.assert(
      fc.asyncProperty(key, key, fc.uint8Array({ maxLength: 32 }), async (one, other, seed) => {
        const [found] = PublicKey.findProgramAddressSync([seed], new PublicKey(one))
        expect(await findProgramAddress(one, seed)).toBe(found.toBase58())
        expect(await associatedAccountOf(one, other)).toBe(await tokenAccountAddress(one, other))
        expect(await claimRecordOf(one, other)).toBe(await claimStatusAddress(one, other))
      }),
      { numRuns: 15 },
    )
  })
})

describe('a transaction of the claim page', () => {
  it('has the bytes that web3.js compiles, of version 0 and legacy', { tags: 'sampled' }, async () => {
    await fc.assert(
      fc.asyncProperty(
        u64,
        u64,
        fc.array(hash, { maxLength: 18 }),
        fc.boolean(),
        fc.boolean(),
        async (amount, locked, proof, opensAccount, takesVested) => {
          const [wallet, blockhash] = [someAddress(), someAddress()]
          const accounts = await accountsFor(wallet)
          const leaf = { amount, locked, proof }
          const theirs = [
            ComputeBudgetProgram.setComputeUnitLimit({ units: 123_456 }),
            ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 77_777 }),
            ...(await claimInstructions({ ...accounts, payer: wallet, leaf, takesVested, opensAccount }, wallet)),
          ]
          const instructions = [
            ...(opensAccount ? [claimOpening(accounts)] : []),
            firstClaimInstruction(accounts, leaf),
            ...(takesVested ? [vestedClaimInstruction(accounts)] : []),
          ]
          const message = new TransactionMessage({
            payerKey: new PublicKey(wallet),
            recentBlockhash: blockhash,
            instructions: theirs,
          })
          const compiled = message.compileToV0Message()
          const planned = { instructions, units: 123_456 } as unknown as PlannedTransaction
          const [wire, legacy] = ([0, 'legacy'] as const).map((version) =>
            Buffer.from(transactionOf(wallet, planned, 77_777n, blockhash, version)),
          )
          expect(wire).toEqual(Buffer.concat([Buffer.from([1]), Buffer.alloc(64), compiled.serialize()]))
          expect(legacy!.subarray(65)).toEqual(message.compileToLegacyMessage().serialize())
          if (wire!.length < 1_100) expect(wire).toEqual(Buffer.from(new VersionedTransaction(compiled).serialize()))
        },
      ),
      { numRuns: runs(5, 25) },
    )
  })

  const stateOf = async (wallet: string, proofs: number, more: Partial<RowState> = {}): Promise<RowState> => {
    const accounts = await accountsFor(wallet)
    const proof = Array.from({ length: proofs }, () => new Uint8Array(32))
    return {
      row: { airdrop: { mint: accounts.mint } as never, leaf: 0, amount: 5n, locked: 0n, proof },
      accounts,
      fault: null,
      hasClaimed: false,
      paid: 0n,
      claimable: 5n,
      takesFirst: true,
      takesVested: false,
      startsAt: 0n,
      endsAt: 0n,
      clawbackAt: 0n,
      hasTokenAccount: false,
      ...more,
    }
  }
  const walletOf = (wallet: string, rows: RowState[]): WalletState => ({
    wallet,
    lamports: 0n,
    now: 0n,
    rows,
    rentOf,
  })

  it('has as many airdrops as fit into 1,232 bytes, each exactly once', async () => {
    const wallet = someAddress()
    for (const [proofs, airdrops, transactions] of [
      [16, 1, 1],
      [20, 1, 1],
      [3, 3, 1],
      [16, 3, 3],
      [6, 4, 2],
    ] as const) {
      const rows = await Promise.all(Array.from({ length: airdrops }, () => stateOf(wallet, proofs)))
      const planned = planClaims(walletOf(wallet, rows))
      expect([proofs, airdrops, planned.length]).toEqual([proofs, airdrops, transactions])
      expect(planned.flatMap(({ pays }) => pays.map(({ state }) => state))).toEqual(rows)
      for (const { instructions, units } of planned) {
        const wire = unsignedTransaction(wallet, [...budgetInstructions(units, 1n), ...instructions], wallet)
        expect(wire.length).toBeLessThanOrEqual(1_232)
      }
    }
    const tooLarge = walletOf(wallet, [await stateOf(wallet, 26)])
    expect(() => planClaims(tooLarge)).toThrow(expect.objectContaining({ key: 'tooLarge' }))
  })

  it('of a sponsor is signed only if it claims this leaf at the sponsor’s cost and does nothing else', async () => {
    const [wallet, sponsor, stranger] = [someAddress(), someAddress(), someAddress()]
    const state = await stateOf(wallet, 10)
    const { accounts, row } = state
    const loan = (from: string, to: string) => ({
      program: '11111111111111111111111111111111',
      accounts: [
        { address: from, isSigner: true, isWritable: true },
        { address: to, isSigner: from !== sponsor, isWritable: true },
      ],
      data: Buffer.from('020000000065cd1d00000000', 'hex').subarray(0, 12),
    })
    const opening = claimOpening(accounts)
    const sponsored = {
      ...opening,
      accounts: [{ address: sponsor, isSigner: true, isWritable: true }, ...opening.accounts.slice(1)],
    }
    const claim = firstClaimInstruction(accounts, row)
    const judge = (instructions: Parameters<typeof unsignedTransaction>[1], payer = sponsor) =>
      requireHonest(messageBytesOf(unsignedTransaction(payer, instructions, someAddress())), wallet, state)
    const budget = budgetInstructions(1_000, 5n)
    judge([...budget, loan(sponsor, wallet), sponsored, claim])
    judge([claim])
    const guardsOf = (of: string) => guardInstructions(of, [{ kind: 'wallet', address: of, change: 0n }])
    const guarded = guardsOf(sponsor)
    judge([...guarded.first, claim, ...guarded.last])
    const lending = guardsOf(wallet)
    const wrong = [
      [...lending.first, claim],
      [claim, ...lending.last],
      [],
      [loan(sponsor, wallet)],
      [claim, claim],
      [loan(wallet, sponsor), claim],
      [loan(sponsor, stranger), claim],
      [opening, claim],
      [firstClaimInstruction(accounts, { ...row, amount: 4n })],
      [firstClaimInstruction({ ...accounts, tokenAccount: stranger }, row)],
      [claim, { program: stranger, accounts: [], data: new Uint8Array() }],
      // A third signer, in an instruction that may stand there.
      [
        ...budget.map((each) => ({ ...each, accounts: [{ address: stranger, isSigner: true, isWritable: false }] })),
        claim,
      ],
    ]
    for (const instructions of wrong) expect(() => judge(instructions)).toThrow()
    expect(() => judge([claim], wallet)).toThrow()
  })
})

describe('amounts of the claim page', () => {
  it('never vest above the locked amount, never decrease, and vest completely at the end', () => {
    const second = fc.bigInt({ min: 0n, max: 4_000_000_000n })
    fc.assert(
      fc.property(u64, second, second, second, second, (locked, start, span, one, other) => {
        const end = start + span + 1n
        const [early, late] = one < other ? [one, other] : [other, one]
        const vested = (now: bigint) => vestedAt({ startsAt: start, endsAt: end }, locked, now)
        const [before, after] = [vested(early), vested(late)]
        expect(before <= after && after <= locked).toBe(true)
        expect(vested(end)).toBe(locked)
        expect(vested(start)).toBe(0n)
      }),
    )
  })

  it('are written exactly, with any decimals', () => {
    const texts = visitorTexts('en')
    fc.assert(
      fc.property(u64, fc.integer({ min: 0, max: 20 }), (amount, decimals) => {
        const [integer, fraction = ''] = texts.tokens(amount, decimals).replaceAll(',', '').split('.')
        expect(BigInt(`${integer}${fraction.padEnd(decimals, '0')}`)).toBe(amount)
      }),
    )
    expect(visitorTexts('de').tokens(1_234_560_000n, 6)).toBe('1.234,56')
  })
})

describe('files of the claim page', () => {
  it('that violate the format are refused by name, and settings never fail', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (json) => {
        expect(() => subjectOf(json, 'airdrops.json')).toThrowError(expect.objectContaining({ key: 'fileDamaged' }))
        settingsOf(json)
      }),
    )
    const settings = settingsOf({
      name: 'A\u202ecme',
      logo: '../secret.png',
      rpc: ['javascript:alert(1)', 'http://example.com', 'https://rpc.example.com', 'https://a:b@example.com'],
      explorers: [
        { name: 'X', transaction: 'https://x.example/{signature}' },
        { name: 'Y', transaction: 'data:,x{signature}' },
      ],
      links: [{ text: 'Terms', url: 'javascript:alert(1)' }],
      colours: { light: { accent: '#12345g', text: '#123456' } },
    })
    expect(settings).toMatchObject({
      name: 'A\\u202ecme',
      logo: null,
      rpc: ['https://rpc.example.com'],
      explorers: [{ name: 'X', transaction: 'https://x.example/{signature}' }],
      links: [],
      light: { text: '#123456' },
    })
    expect(settings.light.accent).toBeUndefined()
  })
})
