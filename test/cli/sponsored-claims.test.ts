/** `svc airdrops sponsor` and `claim --sponsor`: a wallet that never held SOL claims, and what the API builds is checked first. */
import * as spl from '@solana/spl-token'
import { ComputeBudgetProgram, Keypair, PublicKey, SystemProgram, TransactionInstruction } from '@solana/web3.js'
import { beforeAll, describe, expect, it } from 'vitest'
import { claimSponsored } from '../../commands/airdrops/claim.ts'
import { solOf } from '../../commands/cli/amounts.ts'
import type { Session } from '../../commands/cli/session.ts'
import { createWallet } from '../../commands/machine/wallets/wallet.ts'
import { claimInstructions } from '../../src/chain/programs/merkle-distributor/building.ts'
import {
  claimStatusAddress,
  distributorAddress,
  tokenAccountAddress,
} from '../../src/chain/programs/merkle-distributor/index.ts'
import { compileUnsigned } from '../../src/chain/sending/unsigned.ts'
import { encodeTreeId } from '../../src/merkle/tree-id.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { GOLDEN_BLOCKHASH, goldenKey } from '../support/golden.ts'
import { mapped } from '../support/mapped.ts'
import { hasProgram, quickProgramsDir } from '../support/programs.ts'
import { SPONSORED_COST } from '../support/sponsored-airdrop.ts'
import { commandLine } from './command-line.ts'

const cli = commandLine()
const lacksPrograms = [PROGRAMS.distributor, PROGRAMS.tokenMetadata].some(({ id }) => !hasProgram(id))
const ID = 'A'.repeat(46)

describe('svc airdrops sponsor', () => {
  it.each([
    [['sponsor', ID, '--on', '--off'], '--off cannot be used with --on'],
    [['sponsor', ID, '--budget', '1,5'], '--budget must be an amount like 1.5'],
    [['sponsor', ID, '--budget', '0.0000000001'], '--budget has more than 9 fractional digits'],
    [['claim', ID, '--sponsor', '--swap-to-sol'], '--swap-to-sol cannot be used with --sponsor'],
    [['claim', ID, '--sponsor', '--build-only'], '--build-only cannot be used with --sponsor'],
    [['claim', ID, '--sponsor', '--proof', 'x.json'], '--proof cannot be used with --sponsor'],
    [['claim', ID, '--sponsor', '--platform-fee', '5'], '--platform-fee cannot be used with --sponsor'],
  ])('refuses %j', async (args, message) => {
    await cli.refused(['airdrops', ...args], message)
  })
})

describe('svc airdrops claim --sponsor with an API that builds another transaction', async () => {
  const [claimer, sponsor, mint, stranger] = mapped([71, 72, 73, 74], (seed) => goldenKey(seed).publicKey)
  const text = (key: PublicKey) => key.toBase58()
  const id = encodeTreeId(mint.toBytes(), 3)
  const distributor = await distributorAddress({ mint: text(mint), airdropCount: 3 })
  const leaf = { amount: 5n, locked: 7n, proof: [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)] }
  const claimsOf = (airdropCount: number, by = claimer) =>
    claimInstructions(
      {
        ...{ payer: text(sponsor), mint: text(mint), leaf, takesVested: true, opensAccount: true },
        distributor: distributorAddress({ mint: text(mint), airdropCount }),
      },
      text(by),
    )
  const [opening, first, vested] = (await claimsOf(3)) as [
    TransactionInstruction,
    TransactionInstruction,
    TransactionInstruction,
  ]
  const lends = (from: PublicKey, to: PublicKey, lamports = 1_000_003n) =>
    SystemProgram.transfer({ fromPubkey: from, toPubkey: to, lamports })
  const loan = lends(sponsor, claimer)
  const honest = [ComputeBudgetProgram.setComputeUnitLimit({ units: 90_000 }), loan, opening, first, vested]
  /** The claim with another account at a place. */
  const withAccount = ({ programId, keys, data }: TransactionInstruction, place: number, pubkey: PublicKey) =>
    new TransactionInstruction({
      programId,
      data,
      keys: keys.map((key, i) => (i === place ? { ...key, pubkey } : key)),
    })
  const withData = ({ programId, keys }: TransactionInstruction, data: Buffer) =>
    new TransactionInstruction({ programId, keys, data })
  /** The instruction with signatures of all its accounts. */
  const signedBy = ({ programId, keys, data }: TransactionInstruction) =>
    new TransactionInstruction({ programId, data, keys: keys.map((key) => ({ ...key, isSigner: true })) })
  const account = (owner: PublicKey) => spl.getAssociatedTokenAddressSync(mint, owner, true)
  const adminCall = (discriminator: string, others: PublicKey[]) =>
    new TransactionInstruction({
      programId: new PublicKey(PROGRAMS.distributor.id),
      keys: [
        { pubkey: new PublicKey(distributor), isSigner: false, isWritable: true },
        { pubkey: claimer, isSigner: true, isWritable: true },
        ...others.map((pubkey) => ({ pubkey, isSigner: false, isWritable: true })),
      ],
      data: Buffer.from(discriminator, 'hex'),
    })
  const [setAdmin, clawback] = [
    adminCall('fba300345bc2bb5c', [stranger]),
    adminCall('6f5c8e4f21ea521b', [
      new PublicKey(await tokenAccountAddress(text(mint), distributor)),
      account(stranger),
    ]),
  ]

  /** Claims from an API that answers with these builds in turn; resolves with how often the keypair signed. */
  async function claimed(builds: TransactionInstruction[][], { change = '0', fails = false } = {}) {
    const signed: string[] = []
    let asked = 0
    let tries = 0
    const session = {
      cluster: async () => (builds.length > 1 ? 'mainnet-beta' : 'embedded'),
      unchosenCluster: async () => null,
      ui: { confirmable: true, preview: async () => undefined, confirm: async () => ++asked > 0 },
      wallet: {
        ...createWallet(),
        address: async () => text(claimer),
        explain: async () => ({ program: null, name: 'x', message: 'it failed', hint: null }),
        async sign(transaction: string) {
          signed.push(transaction)
          return { transaction, signature: null, signed: [], missing: [text(sponsor)] }
        },
      },
      client: {
        sponsorships: {
          async build() {
            const envelope = { payer: text(sponsor), recentBlockhash: GOLDEN_BLOCKHASH }
            const { transaction } = await compileUnsigned(envelope, builds[Math.min(tries++, builds.length - 1)]!)
            const wire = Buffer.from(transaction).toString('base64')
            return { data: { id: 'claim', transaction: wire, fee_payer: text(sponsor), lamports: '3000003' } }
          },
          submit: async () => ({ data: { signature: 'signature', lamports: '3000003' } }),
        },
        transactions: {
          async simulate() {
            const row = { address: text(claimer), mint: null, owner: null, decimals: 9, before: '0', after: '0' }
            const changes = [{ ...row, change, created: false, space: 0 }]
            const err = fails && tries === builds.length ? 'AccountInUse' : null
            return { data: { err, logs: [], fee: '10000', rent: '0', balance_changes: changes } }
          },
        },
      },
    } as unknown as Session
    const outcome = claimSponsored(session, id, { wait: 'none' } as Parameters<typeof claimSponsored>[2])
    return outcome.then(
      () => ({ signed: signed.length, asked, error: '' }),
      (error: Error) => ({ signed: signed.length, asked, error: error.message }),
    )
  }

  it.each([
    ['both parts', honest],
    ['the first part', honest.slice(0, 4)],
    ['what has vested alone, without a loan', [vested]],
  ])('signs the claim of %s', async (_, build) => {
    expect(await claimed([build])).toEqual({ signed: 1, asked: 0, error: '' })
  })

  const otherKey = new PublicKey(await claimStatusAddress(distributor, text(stranger)))
  it.each<[string, TransactionInstruction[], string]>([
    ['set_admin', [...honest, setAdmin], 'calls set_admin of .*, which was not requested'],
    ['set_admin alone', [setAdmin], 'calls set_admin of .*, which was not requested'],
    ['clawback', [...honest, clawback], 'calls clawback'],
    ['another airdrop', (await claimsOf(4)).slice(1), 'new_claim has another distributor'],
    ['a further airdrop', [...honest, (await claimsOf(4))[2]!], 'claim_locked has another distributor'],
    ['another token account', [loan, withAccount(first, 3, account(stranger))], 'new_claim has another to,'],
    [
      'another token account for what has vested',
      [withAccount(vested, 3, account(stranger))],
      'claim_locked has another to,',
    ],
    ['another claim record', [loan, withAccount(first, 1, otherKey)], 'another claim status'],
    ['another vault', [loan, withAccount(first, 2, account(stranger))], 'another from,'],
    ['another token program', [loan, withAccount(first, 5, spl.TOKEN_2022_PROGRAM_ID)], 'another token program'],
    [
      'a claimant who is the sponsor',
      [loan, withAccount(first, 4, sponsor), lends(claimer, claimer, 0n)],
      'another claimant',
    ],
    ['the same claim twice', [loan, first, first], 'more than one new_claim'],
    ['no claim', [signedBy(loan), opening], 'lacks the new_claim'],
    ['bytes after a claim', [loan, withData(vested, Buffer.concat([vested.data, Buffer.alloc(1)]))], 'another content'],
    ['a claim cut off', [loan, withData(first, first.data.subarray(0, -1))], 'another content'],
    ['a transfer of the claimer', [...honest, lends(claimer, stranger)], 'transfer has another source'],
    ['a loan to another wallet', [lends(sponsor, stranger), opening, first], 'transfer has another destination'],
    [
      'a token account of another wallet',
      [loan, spl.createAssociatedTokenAccountIdempotentInstruction(sponsor, account(stranger), stranger, mint), first],
      'createIdempotent has another wallet',
    ],
    [
      "a token account at the claimer's cost",
      [loan, spl.createAssociatedTokenAccountIdempotentInstruction(claimer, account(claimer), claimer, mint), first],
      'createIdempotent has another source',
    ],
    [
      'a token account of another mint',
      [
        loan,
        spl.createAssociatedTokenAccountIdempotentInstruction(
          sponsor,
          spl.getAssociatedTokenAddressSync(stranger, claimer),
          claimer,
          stranger,
        ),
        first,
      ],
      'createIdempotent has another mint',
    ],
  ])('does not sign %s', async (_, build, reason) => {
    const { signed, error } = await claimed([build])
    expect([signed, error]).toEqual([0, expect.stringMatching(`${reason}.*nothing was signed`)])
  })

  it('does not sign a transaction that takes lamports of the claimer', async () => {
    const { signed, error } = await claimed([[opening, first]], { change: '-1000003' })
    expect([signed, error]).toEqual([0, expect.stringContaining('would pay 0.001000003 SOL')])
  })

  it('checks the build after the yes like the one that was shown', async () => {
    expect(await claimed([honest, honest])).toEqual({ signed: 1, asked: 1, error: '' })
    const other = await claimed([honest, [...honest, setAdmin]])
    expect(other).toEqual({ signed: 0, asked: 1, error: expect.stringContaining('nothing was signed') })
    const failing = await claimed([honest, honest], { fails: true })
    expect(failing).toEqual({ signed: 0, asked: 1, error: expect.stringContaining('it would fail') })
  })
})

describe.skipIf(lacksPrograms)('svc airdrops sponsor', () => {
  const [payer, platform, poor, second] = mapped([1, 2, 3, 4], () => Keypair.generate())
  const file = (name: string, { secretKey }: Keypair) => cli.file(name, JSON.stringify([...secretKey]), 0o600)
  const files = { payer: '', platform: '', poor: '', second: '' }
  const env = () => ({
    SVC_PROGRAMS_DIR: quickProgramsDir(),
    SVC_SIGNER: 'keypair',
    SVC_SIGNER_KEYPAIR: files.platform,
    SVC_PRIORITY_FEE: 'none',
  })
  const run = (args: string[]) => cli.svc(args, { env: env() })
  const ok = (args: string[]) => cli.json(args, { env: env() })
  let id = ''

  beforeAll(async () => {
    for (const [name, key] of Object.entries({ payer, platform, poor, second })) {
      files[name as keyof typeof files] = file(`${name}.json`, key)
    }
    for (const key of [payer, platform]) await ok(['localnet', 'airdrop', key.publicKey.toBase58(), '10'])
    await ok(['signer', 'policy', '--per-transaction', '0.1', '--per-day', '1', '--yes'])
    const token = ['--name', 'Drop', '--symbol', 'DRP', '--uri', 'https://example.com/d.json', '--supply', '1000000']
    const { mint } = await ok(['tokens', 'create', ...token, '-k', files.payer, '--yes'])
    const rows = [poor, second].map(({ publicKey }, i) => `${publicKey.toBase58()},${i + 1}`)
    const list = cli.file('drop.csv', ['wallet,amount', ...rows, ''].join('\n'))
    const launch = ['airdrops', 'launch', list, '--mint', mint, '--decimals', '6', '-k', files.payer, '--yes']
    id = (await ok(launch))[0].id
  })

  it('sets, shows and stops a sponsorship, and a wallet without SOL claims once', async () => {
    const claim = ['airdrops', 'claim', id, '--sponsor', '-k', files.poor, '--yes']
    // Enough for one claim and a half.
    const [budget, left] = [(SPONSORED_COST * 3n) / 2n, SPONSORED_COST / 2n]
    await cli.refused(claim, 'svc airdrops sponsor', 3, { env: env() })
    expect(await ok(['airdrops', 'sponsor', id, '--budget', solOf(budget)])).toMatchObject({
      budget: String(budget),
      used: '0',
    })
    const tried = await run([...claim, '--dry-run'])
    expect([tried.exitCode, tried.stdout]).toEqual([0, expect.stringContaining('sponsored')])
    const guarded = await run([...claim, '--guard', 'required', '--dry-run'])
    expect(guarded.exitCode, guarded.stderr).toBe(0)
    expect(await ok(['airdrops', 'sponsor', id])).toMatchObject({ used: '0', pending: 0 })
    const claimed = await ok(claim)
    expect(claimed).toMatchObject({
      airdrop: id,
      fee_payer: platform.publicKey.toBase58(),
      sponsored_lamports: String(SPONSORED_COST),
      lifecycle: expect.stringMatching(/confirmed|finalized/),
    })
    const shown = await run(['airdrops', 'sponsor', id])
    const figures = [budget, SPONSORED_COST, left].map((lamports) => solOf(lamports).replace('.', '\\.'))
    expect(shown.stdout).toMatch(
      new RegExp(`budget\\s+${figures[0]}\\n[\\s\\S]*used\\s+${figures[1]}\\n[\\s\\S]*left\\s+${figures[2]}`, 'i'),
    )
    const again = await run(claim)
    expect([again.exitCode, again.stderr]).toEqual([2, expect.stringContaining(claimed.signature)])
    const over = await run(['airdrops', 'claim', id, '--sponsor', '-k', files.second, '--yes'])
    expect([over.exitCode, over.stderr]).toEqual([2, expect.stringContaining(`${solOf(left)} SOL left`)])
    expect(await ok(['airdrops', 'sponsor', id, '--off'])).toMatchObject({ enabled: false, budget: String(budget) })
    const off = await run(['airdrops', 'claim', id, '--sponsor', '-k', files.second, '--yes'])
    expect([off.exitCode, off.stderr]).toEqual([3, expect.stringContaining('--on')])
    const much = await run(['airdrops', 'sponsor', id, '--on', '--budget', '50'])
    expect([much.exitCode, much.stderr]).toEqual([
      0,
      expect.stringMatching(/the platform wallet has 9\.\d+ SOL, and 4/),
    ])
    await ok(['airdrops', 'sponsor', id, '--on', '--budget', '1'])
    expect(
      await ok(['airdrops', 'claim', id, '--sponsor', '-k', files.second, '--yes', '--wait', 'none']),
    ).toMatchObject({
      lifecycle: 'submitted',
    })
  })
})
