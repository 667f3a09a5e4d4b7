/** Token transfers over HTTP, executed by the real token programs: who gets what, what fits, and who is left out. */
import * as spl from '@solana/spl-token'
import { Keypair, PublicKey, SystemProgram, type TransactionInstruction } from '@solana/web3.js'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { MOST_GUARDED_RECIPIENTS, MOST_RECIPIENTS } from '../../src/chain/programs/tokens/index.ts'
import { addressOf, airdropsOn } from '../support/airdrops.ts'
import { createMint, type Extension, give } from '../support/gold.ts'
import { keypairFile } from '../support/platform-wallet.ts'
import { lacksGuards } from '../support/programs.ts'
import { TOKEN_ACCOUNT_RENT } from '../support/rent.ts'
import { runs } from '../support/runs.ts'
import { makeFolder, removeFolder, sharedService, startService } from '../support/service.ts'
import { signV1 } from '../support/version1.ts'
import { SOL } from '../support/wallets.ts'

const TOKEN_2022 = spl.TOKEN_2022_PROGRAM_ID
const CREATE = '/v2/token-transfers'
const PLAN = '/v2/token-transfer-plans'
const strangers = (count: number) => Array.from({ length: count }, () => addressOf(Keypair.generate()))
const of = (wallets: readonly string[], amount: (i: number) => number = (i) => i + 1) =>
  wallets.map((wallet, i) => ({ wallet, amount: String(amount(i)) }))

const shared = sharedService()

async function open(settings?: Record<string, string>) {
  const all = await airdropsOn(settings === undefined ? await shared() : await startService({ settings }))
  const payer = all.wallet(100n * SOL)
  const { chain } = all
  return {
    ...all,
    payer,
    /** A mint of either program with extensions, of which the payer has a million. */
    token(program: PublicKey, extensions: Extension[] = []) {
      const made = createMint(chain, payer, { program, ...(extensions.length > 0 ? { extensions } : {}) })
      give(chain, payer, made, payer.publicKey, 1_000_000n)
      return made.mint.toBase58()
    },
    held(mint: string, wallet: string, program: PublicKey): bigint | null {
      const at = spl.getAssociatedTokenAddressSync(new PublicKey(mint), new PublicKey(wallet), true, program)
      const account = chain.account(at.toBase58())
      return account === null || account.data.length === 0 ? null : Buffer.from(account.data).readBigUInt64LE(64)
    },
    landAny(transaction: string, version: 0 | 1, ...keys: Keypair[]) {
      if (version === 0) return all.land(transaction, ...keys)
      const landed = chain.send(signV1(Buffer.from(transaction, 'base64'), keys))
      expect(landed.err, landed.logs.join('\n')).toBeNull()
      return landed
    },
  }
}

const PROGRAMS = [
  ['SPL Token', spl.TOKEN_PROGRAM_ID],
  ['Token-2022', TOKEN_2022],
] as const

describe.each(PROGRAMS)('a transfer of %s', (_, program) => {
  it.for([
    [0, 'off'],
    [1, 'off'],
    [0, 'required'],
    [1, 'required'],
  ] as const)(
    'of version %d with guards %s pays as many as fit, to new and known wallets, and not one more',
    async ([version, guard], { skip }) => {
      skip(lacksGuards && guard === 'required', 'needs Lighthouse')
      const { ok, refused, payer, token, held, landAny, chain } = await open({ 'priority-fee': '1000' })
      const mint = token(program)
      const body = { payer: addressOf(payer), mint, tx_version: version, guard }
      const { ready, opened } = (guard === 'off' ? MOST_RECIPIENTS : MOST_GUARDED_RECIPIENTS)[version]
      const plan = await ok('POST', PLAN, { payer: addressOf(payer), mint, guard, recipients: of(strangers(1)) })
      expect(plan.fits[`v${version}`]).toEqual({ ready, to_open: opened })
      const wallets = strangers(opened + 1)
      const tooMany = await refused('POST', CREATE, { ...body, recipients: of(wallets) })
      expect([tooMany.status, tooMany.param, tooMany.details.fits]).toEqual([400, 'recipients', opened])
      const first = await ok('POST', CREATE, { ...body, recipients: of(wallets.slice(0, opened)) })
      const landed = landAny(first.transaction, version, payer)
      expect(landed.unitsConsumed).toBeLessThan(1_000_000)
      expect(wallets.map((wallet) => held(mint, wallet, program))).toEqual([
        ...wallets.slice(0, opened).map((_, i) => BigInt(i + 1)),
        null,
      ])
      expect(first.rent).toBe(String(chain.minimumBalance(program === TOKEN_2022 ? 170 : 165) * BigInt(opened)))
      expect(first.recipients.every(({ opens }: { opens: boolean }) => opens)).toBe(true)

      const known = strangers(ready + 1)
      for (let at = 0; at < known.length; at += opened) {
        const part = await ok('POST', CREATE, { ...body, recipients: of(known.slice(at, at + opened), () => 5) })
        landAny(part.transaction, version, payer)
      }
      const more = await refused('POST', CREATE, { ...body, recipients: of(known) })
      expect([more.status, more.details.fits]).toEqual([400, ready])
      expect(more.message).toContain(version === 0 ? 'tx_version 1' : 'send those, then the others')
      const second = await ok('POST', CREATE, { ...body, recipients: of(known.slice(0, ready)) })
      expect([second.rent, second.total]).toEqual(['0', String((ready * (ready + 1)) / 2)])
      landAny(second.transaction, version, payer)
      expect(known.map((wallet) => held(mint, wallet, program))).toEqual([
        ...known.slice(0, ready).map((_, i) => BigInt(i + 6)),
        5n,
      ])
    },
  )

  it('of any wallets and amounts moves exactly those', { tags: 'sampled' }, async () => {
    const { ok, payer, token, held, landAny, chain } = await open()
    const mint = token(program)
    let left = 1_000_000n
    const row = fc.record({ isNew: fc.boolean(), amount: fc.integer({ min: 1, max: 2_000 }) })
    const known: string[] = []
    const before = new Map<string, bigint>()
    await fc.assert(
      fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 7 }), async (rows) => {
        const wallets = rows.map(({ isNew }, i) => (isNew ? undefined : known[i]) ?? strangers(1)[0]!)
        const recipients = wallets.map((wallet, i) => ({ wallet, amount: String(rows[i]!.amount) }))
        const built = await ok('POST', CREATE, { payer: addressOf(payer), mint, recipients })
        landAny(built.transaction, 0, payer)
        chain.advance(1)
        for (const { wallet, amount } of recipients) {
          const expected = (before.get(wallet) ?? 0n) + BigInt(amount)
          expect(held(mint, wallet, program)).toBe(expected)
          before.set(wallet, expected)
          if (!known.includes(wallet)) known.push(wallet)
          left -= BigInt(amount)
        }
        expect(held(mint, addressOf(payer), program)).toBe(left)
      }),
      { numRuns: runs(4, 15), endOnFailure: true },
    )
  })

  it('skips wallets that cannot receive, and says why', async () => {
    const { ok, refused, payer, token, held, run, chain, landAny } = await open()
    const mint = token(program)
    const key = new PublicKey(mint)
    const [frozen, taken, fine] = [Keypair.generate(), Keypair.generate(), Keypair.generate()]
    const accountOf = (wallet: PublicKey) => spl.getAssociatedTokenAddressSync(key, wallet, true, program)
    const openAccount = (wallet: PublicKey) =>
      spl.createAssociatedTokenAccountInstruction(payer.publicKey, accountOf(wallet), wallet, key, program)
    chain.airdrop(addressOf(taken), SOL)
    run(
      [
        openAccount(frozen.publicKey),
        spl.createFreezeAccountInstruction(accountOf(frozen.publicKey), key, payer.publicKey, [], program),
      ],
      [payer],
    )
    // The owner of an associated account of Token-2022 cannot change.
    const canBeTaken = program !== TOKEN_2022
    if (canBeTaken) {
      const give = spl.createSetAuthorityInstruction(
        accountOf(taken.publicKey),
        taken.publicKey,
        spl.AuthorityType.AccountOwner,
        fine.publicKey,
      )
      run([openAccount(taken.publicKey), give], [payer, taken])
    }
    const pda = accountOf(fine.publicKey)
    const [vault] = PublicKey.findProgramAddressSync([Buffer.from('vault')], SystemProgram.programId)
    const faults: [string, string][] = [
      [addressOf(payer), 'sender'],
      [mint, 'token_account'],
      [accountOf(payer.publicKey).toBase58(), 'token_account'],
      [vault.toBase58(), 'off_curve'],
      [pda.toBase58(), 'off_curve'],
      [spl.TOKEN_PROGRAM_ID.toBase58(), 'program_owned'],
      [addressOf(frozen), 'account_frozen'],
      ...(canBeTaken ? ([[addressOf(taken), 'account_taken']] as [string, string][]) : []),
    ]
    const wallets = [...faults.map(([wallet]) => wallet), addressOf(fine)]
    const body = { payer: addressOf(payer), mint }
    const plan = await ok('POST', PLAN, { ...body, recipients: of(wallets) })
    const told = plan.recipients.map(({ wallet, reason }: Record<string, string>) => [wallet, reason])
    expect(told).toEqual([...faults, [addressOf(fine), null]])
    for (const { note, wallet, status } of plan.recipients.slice(0, -1)) {
      expect(note).toContain(wallet)
      expect(status).toBe('left_out')
    }
    expect([plan.total, plan.rent]).toEqual([String(wallets.length), plan.rent_per_account])
    for (const [wallet, reason] of faults) {
      const answer = await refused('POST', CREATE, { ...body, recipients: of([addressOf(fine), wallet]) })
      expect([answer.param, answer.details.reason]).toEqual(['recipients.1.wallet', reason])
    }
    // Addresses of programs where they are meant, but never a mint or a token account.
    const meant = await ok('POST', PLAN, { ...body, recipients: of(wallets), allow_programs: true })
    expect(meant.recipients.filter(({ reason }: { reason: string | null }) => reason === null).length).toBe(4)
    const sent = await ok('POST', CREATE, { ...body, recipients: of([vault.toBase58()]), allow_programs: true })
    landAny(sent.transaction, 0, payer)
    expect(held(mint, vault.toBase58(), program)).toBe(1n)
  })
})

describe('a transfer', () => {
  it('into addresses that have lamports already needs more calls, so fewer fit', async () => {
    const { ok, refused, payer, token, held, landAny, chain } = await open()
    const mint = token(TOKEN_2022)
    const wallets = strangers(9)
    for (const wallet of wallets) {
      const at = spl.getAssociatedTokenAddressSync(new PublicKey(mint), new PublicKey(wallet), true, TOKEN_2022)
      chain.airdrop(at.toBase58(), 1_000_000n)
    }
    const body = { payer: addressOf(payer), mint, guard: 'off' }
    for (const tx_version of [0, 1] as const) {
      const answer = await refused('POST', CREATE, { ...body, recipients: of(wallets), tx_version })
      expect(answer.details.fits).toBe(tx_version === 0 ? 7 : 8)
    }
    const built = await ok('POST', CREATE, { ...body, recipients: of(wallets.slice(0, 8)), tx_version: 1 })
    landAny(built.transaction, 1, payer)
    expect(held(mint, wallets[7]!, TOKEN_2022)).toBe(8n)
  })

  it('of more than the balance, of zero, to one wallet twice, or of an address that is not a mint is refused by its field', async () => {
    const { refused, payer, token } = await open()
    const mint = token(spl.TOKEN_PROGRAM_ID)
    const [one, other] = strangers(2) as [string, string]
    const body = { payer: addressOf(payer), mint }
    const more = await refused('POST', CREATE, { ...body, recipients: of([one], () => 1_000_001) })
    expect([more.param, more.details]).toMatchObject(['recipients', { have: '1000000', need: '1000001' }])
    const none = await refused('POST', CREATE, { ...body, recipients: [{ wallet: one, amount: '0' }] })
    expect(none.param).toBe('recipients.0.amount')
    const twice = await refused('POST', CREATE, { ...body, recipients: of([one, other, one]) })
    expect([twice.param, twice.message]).toEqual([
      'recipients.2.wallet',
      'recipients.2.wallet: is already at recipients.0',
    ])
    const nowhere = await refused('POST', CREATE, { ...body, mint: other, recipients: of([one]) })
    expect([nowhere.status, nowhere.param]).toEqual([404, 'mint'])
    const poor = await refused('POST', CREATE, { ...body, payer: one, recipients: of([other]) })
    expect([poor.param, poor.details.have]).toEqual(['recipients', '0'])
  })

  it('of a payer without SOL for the accounts is refused with their cost', async () => {
    const { refused, payer, chain, mintFor } = await open()
    const poor = Keypair.generate()
    chain.airdrop(addressOf(poor), 1_200_000n)
    const mint = mintFor(poor, 100n)
    const answer = await refused('POST', CREATE, { payer: addressOf(poor), mint, recipients: of([addressOf(payer)]) })
    expect([answer.param, answer.details]).toMatchObject([
      'payer',
      { have: '1200000', need: String(TOKEN_ACCOUNT_RENT) },
    ])
  })

  const extension = (
    type: spl.ExtensionType,
    initialize: (mint: PublicKey, owner: PublicKey) => TransactionInstruction,
  ): Extension => ({
    type,
    initialize: (mint, _, owner) => initialize(mint, owner),
  })
  const Type = spl.ExtensionType
  it.each<[string, Extension]>([
    [
      'transfer_hook',
      extension(Type.TransferHook, (mint, owner) =>
        spl.createInitializeTransferHookInstruction(mint, owner, spl.TOKEN_PROGRAM_ID, TOKEN_2022),
      ),
    ],
    [
      'transfer_fee',
      extension(Type.TransferFeeConfig, (mint, owner) =>
        spl.createInitializeTransferFeeConfigInstruction(mint, owner, owner, 100, 50n, TOKEN_2022),
      ),
    ],
  ])('of a token with %s is refused', async (reason, made) => {
    const { refused, payer, token } = await open()
    const mint = token(TOKEN_2022, [made])
    for (const path of [CREATE, PLAN]) {
      const answer = await refused('POST', path, { payer: addressOf(payer), mint, recipients: of(strangers(1)) })
      expect([answer.status, answer.param, answer.details.reason]).toEqual([400, 'mint', reason])
    }
  })

  it('of a token with a transfer fee is sent if the request accepts it; its accounts cost what the plan says', async () => {
    const { ok, payer, token, held, landAny, chain } = await open()
    const fee = extension(Type.TransferFeeConfig, (mint, owner) =>
      spl.createInitializeTransferFeeConfigInstruction(mint, owner, owner, 100, 50n, TOKEN_2022),
    )
    const mint = token(TOKEN_2022, [fee])
    const [wallet] = strangers(1) as [string]
    const body = { payer: addressOf(payer), mint, recipients: of([wallet], () => 1_000), accept_transfer_fee: true }
    const plan = await ok('POST', PLAN, body)
    expect(plan.transfer_fee).toEqual({ basis_points: 100, maximum_fee: '50' })
    const built = await ok('POST', CREATE, body)
    landAny(built.transaction, 0, payer)
    expect(held(mint, wallet, TOKEN_2022)).toBe(990n)
    const account = spl.getAssociatedTokenAddressSync(new PublicKey(mint), new PublicKey(wallet), true, TOKEN_2022)
    expect(built.rent).toBe(String(chain.account(account.toBase58())!.lamports))
    expect(plan.rent).toBe(built.rent)
  })

  it('into accounts that are frozen from the start, or need a memo, is skipped', async () => {
    const { ok, payer, token, run, chain } = await open()
    const frozen = extension(Type.DefaultAccountState, (mint) =>
      spl.createInitializeDefaultAccountStateInstruction(mint, spl.AccountState.Frozen, TOKEN_2022),
    )
    const mint = createMint(chain, payer, { program: TOKEN_2022, extensions: [frozen] }).mint.toBase58()
    const one = await ok('POST', PLAN, { payer: addressOf(payer), mint, recipients: of(strangers(1)) })
    expect(one.recipients[0].reason).toBe('new_accounts_frozen')

    const other = token(TOKEN_2022)
    const wallet = Keypair.generate()
    const account = spl.getAssociatedTokenAddressSync(new PublicKey(other), wallet.publicKey, true, TOKEN_2022)
    run(
      [
        spl.createAssociatedTokenAccountInstruction(
          payer.publicKey,
          account,
          wallet.publicKey,
          new PublicKey(other),
          TOKEN_2022,
        ),
        spl.createReallocateInstruction(
          account,
          payer.publicKey,
          [Type.MemoTransfer],
          wallet.publicKey,
          [],
          TOKEN_2022,
        ),
        spl.createEnableRequiredMemoTransfersInstruction(account, wallet.publicKey, [], TOKEN_2022),
      ],
      [payer, wallet],
    )
    const two = await ok('POST', PLAN, { payer: addressOf(payer), mint: other, recipients: of([addressOf(wallet)]) })
    expect(two.recipients[0].reason).toBe('memo_required')
  })

  it('is signed by the platform wallet within its policy, once per key', async () => {
    const wallet = Keypair.generate()
    const files = makeFolder()
    onTestFinished(() => removeFolder(files))
    const all = await open({ signer: 'keypair', 'signer.keypair': keypairFile(files, wallet) })
    const { ok, request, refused, chain, mintFor, tokensOf, key } = all
    chain.airdrop(addressOf(wallet), 10n * SOL)
    const mint = mintFor(wallet, 1_000n)
    const wallets = strangers(3)
    const body = { payer: addressOf(wallet), mint, recipients: of(wallets), mode: 'signed' }
    expect(await refused('POST', CREATE, body)).toMatchObject({
      status: 400,
      details: { rule: 'lamports_per_transaction' },
    })
    const limits = { lamports_per_transaction: String(SOL), lamports_per_day: String(SOL) }
    await request('PATCH', '/v2/signer/policy', {
      body: { ...limits, tokens: [{ mint, per_transaction: '10', per_day: '10' }] },
    })
    const scoped = await request('POST', CREATE, { body, key: await key({ scopes: ['fees:claim'] }) })
    expect(scoped.status).toBe(403)
    const headers = { 'idempotency-key': 'send-1' }
    const first = await ok('POST', CREATE, body, headers)
    expect(first).toMatchObject({ mode: 'signed', total: '6' })
    expect((await ok('POST', CREATE, body, headers)).signature).toBe(first.signature)
    expect(wallets.map((each) => tokensOf(mint, each))).toEqual([1n, 2n, 3n])
    const over = await refused('POST', CREATE, { ...body, recipients: of(wallets, () => 2) })
    expect(over.details).toMatchObject({ rule: 'tokens_per_day', left: '4' })
  })
})
