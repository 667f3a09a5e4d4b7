/** Reclaiming rent on the embedded chain: what returns to the lamport, what stays and why, within the policy, in the ledger. */
import { PublicKey, TransactionInstruction, TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import { describe, expect, it, onTestFinished } from 'vitest'
import { MOST_RECLAIMED } from '../src/chain/programs/tokens/index.ts'
import { followTransactions } from '../src/operations/transactions/follow-transactions.ts'
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM, WRAPPED_SOL } from '../src/solana/program-ids.ts'
import { addressOf, airdropsOn } from './support/airdrops.ts'
import { serveFaultyRpc } from './support/faulty-rpc.ts'
import { bytesOf, EXCESS, type OldAccount, oldAccounts } from './support/old-accounts.ts'
import { sharedPlatform, startPlatform } from './support/platform-wallet.ts'
import { lacksGuards } from './support/programs.ts'
import { TOKEN_ACCOUNT_RENT } from './support/rent.ts'
import { sharedService, startService } from './support/service.ts'
import type { TokenExtensions } from './support/token-accounts.ts'
import { signV1 } from './support/version1.ts'
import { keypairOf, someAddress } from './support/wallets.ts'

const RECLAIMS = '/v2/rent-reclaims'
const [NATIVE_AT, CLOSE_AUTHORITY_AT, DELEGATE_AT] = [109, 129, 72]
const PROGRAMS = [
  ['SPL Token', TOKEN_PROGRAM],
  ['Token-2022', TOKEN_2022_PROGRAM],
] as const

/** Lamports of the entries of one answer. */
const sumOf = (rows: readonly { lamports: string }[]) => rows.reduce((sum, { lamports }) => sum + BigInt(lamports), 0n)

/** The account's data as a test changes it. */
const native = (data: Buffer) => {
  data.writeUInt32LE(1, NATIVE_AT)
  data.writeBigUInt64LE(TOKEN_ACCOUNT_RENT, NATIVE_AT + 4)
}
const authorityAt = (offset: number) => (data: Buffer) => {
  data.writeUInt32LE(1, offset)
  bytesOf(someAddress()).copy(data, offset + 4)
}

const shared = sharedService({ settings: { 'priority-fee': 'none' } })

async function open() {
  const all = await airdropsOn(await shared())
  const owner = all.wallet()
  const payer = addressOf(owner)
  const lamportsOf = (at: string) => all.chain.account(at)?.lamports ?? 0n
  return {
    ...all,
    owner,
    payer,
    lamportsOf,
    old: oldAccounts(all.chain, payer),
    build: (more: object = {}) => all.ok('POST', RECLAIMS, { payer, ...more }),
    nothing: async (more: object = {}) => {
      const { status, details } = await all.refused('POST', RECLAIMS, { payer, ...more })
      expect([status, details.reason]).toEqual([400, 'nothing_to_reclaim'])
      return details
    },
    /** Signs what was built, runs it, and returns what the wallet gained. */
    gain(transaction: string, version = 0): bigint {
      const before = lamportsOf(payer)
      const raw = Buffer.from(transaction, 'base64')
      const sent = version === 1 ? signV1(raw, [owner]) : Buffer.from(all.sign(transaction, [owner]), 'base64')
      const landed = all.chain.send(sent)
      expect(landed.err, landed.logs.join('\n')).toBeNull()
      all.chain.advance(1)
      return lamportsOf(payer) - before
    },
  }
}

describe.each(PROGRAMS)('the excess rent of %s', (name, program) => {
  it.each([0, 1])('returns to the lamport from token accounts and mints, by version %d', async (tx_version) => {
    const it = await open()
    const accounts = [{ amount: 7n }, {}, { frozen: true, amount: 1n }, { change: authorityAt(DELEGATE_AT) }].map(
      (more) => it.old.token({ program, ...more }),
    )
    const mint = it.old.ownMint(program, 40_000n)
    it.old.ownMint(program, EXCESS, someAddress())
    it.old.token({ program, excess: 0n })
    const built = await it.build({ tx_version })
    expect(built).toMatchObject({
      mode: 'unsigned',
      requiredSigners: [it.payer],
      lamports: String(4n * EXCESS + 40_000n),
      remaining: { accounts: 0, lamports: '0', transactions: 0 },
      ...{ left_out: [], mints_listed: true, truncated: false },
    })
    expect(built.accounts.map(({ address }: { address: string }) => address)).toEqual([...accounts.toSorted(), mint])
    const token_program = name === 'SPL Token' ? 'spl' : 'token2022'
    const minimum = String(it.chain.minimumBalance(82))
    expect(built.accounts.at(-1)).toEqual({
      ...{ address: mint, token_program, kind: 'mint', mint, action: 'withdraw', lamports: '40000', minimum },
    })
    expect(it.gain(built.transaction, tx_version)).toBe(BigInt(built.lamports) - BigInt(built.fee))
    expect(accounts.map(it.lamportsOf)).toEqual(accounts.map(() => it.chain.minimumBalance(165)))
    await it.nothing({ tx_version })
  })

  it.each([0, 1] as const)(
    'of many accounts takes as many transactions of version %d as needed',
    async (tx_version) => {
      const it = await open()
      const most = MOST_RECLAIMED[tx_version]
      // Both programs take part, so that a transaction names both.
      const others = PROGRAMS.map(([, each]) => each).filter((each) => each !== program)
      for (let n = 0; n < most + 2; n++) {
        it.old.token({ program: n % 2 === 0 ? program : others[0]!, excess: EXCESS + BigInt(n), isAssociated: false })
      }
      const guard = 'off'
      const first = await it.build({ tx_version, guard })
      expect(first.accounts).toHaveLength(most)
      expect(sumOf(first.accounts)).toBe(BigInt(first.lamports))
      expect(first.remaining).toEqual({ accounts: 2, lamports: String(2n * EXCESS + 1n), transactions: 1 })
      expect(it.gain(first.transaction, tx_version)).toBe(BigInt(first.lamports) - BigInt(first.fee))
      const second = await it.build({ tx_version, guard })
      expect(second.lamports).toBe(first.remaining.lamports)
      expect(it.gain(second.transaction, tx_version)).toBe(BigInt(second.lamports) - BigInt(second.fee))
      await it.nothing({ tx_version })
    },
  )

  it.skipIf(lacksGuards).each([
    [0, true, 8],
    [0, false, 4],
    [1, true, 13],
    [1, false, 13],
  ] as const)(
    'of many accounts takes fewer at once in version %d, so that each is guarded (associated: %s)',
    async (tx_version, isAssociated, most) => {
      const it = await open()
      const other = PROGRAMS.map(([, each]) => each).find((each) => each !== program)!
      for (let n = 0; n < 30; n++) it.old.token({ program: n % 2 === 0 ? program : other, amount: 1n, isAssociated })
      let left = 30
      for (const guard of ['when_it_fits', 'required']) {
        const built = await it.build({ tx_version, guard })
        left -= most
        expect(built.guard).toMatchObject({ state: 'whole', reason: null })
        expect([built.accounts.length, built.guard.token_accounts.length]).toEqual([most, most])
        expect(built.remaining).toMatchObject({ accounts: left, transactions: Math.ceil(left / most) })
        expect(it.gain(built.transaction, tx_version)).toBe(BigInt(built.lamports) - BigInt(built.fee))
      }
    },
  )

  it('returns whole from empty accounts, which are closed only if the request says so', async () => {
    const it = await open()
    const empty = it.old.token({ program, excess: 0n })
    const full = it.old.token({ program, excess: 0n, amount: 1n })
    await it.nothing()
    const held = it.lamportsOf(empty)
    const built = await it.build({ close_empty: true })
    expect(built.accounts).toMatchObject([{ address: empty, action: 'close', lamports: String(held) }])
    expect(it.gain(built.transaction)).toBe(held - BigInt(built.fee))
    expect([it.lamportsOf(empty), it.lamportsOf(full)]).toEqual([0n, it.chain.minimumBalance(165)])
    expect((await it.nothing({ close_empty: true })).left_out).toEqual([])
  })

  it.each<[string, OldAccount, { left: bigint } | null]>([
    ['close_authority', { change: authorityAt(CLOSE_AUTHORITY_AT) }, { left: EXCESS }],
    ['frozen', { frozen: true }, { left: EXCESS }],
    ['not_associated', { isAssociated: false }, { left: EXCESS }],
  ])('returns without the minimum if an empty account has the reason %s to stay', async (reason, account) => {
    const it = await open()
    const kept = it.old.token({ program, ...account })
    const built = await it.build({ close_empty: true })
    const minimum = it.chain.minimumBalance(165)
    expect(built.accounts).toMatchObject([{ address: kept, action: 'withdraw', lamports: String(EXCESS) }])
    expect(built.left_out).toEqual([{ reason, accounts: 1, lamports: String(minimum) }])
    it.gain(built.transaction)
    expect(it.lamportsOf(kept)).toBe(minimum)
    expect((await it.nothing({ close_empty: true })).left_out).toEqual(built.left_out)
  })

  it('stays in wrapped SOL accounts, of which an empty one is closed wherever it is', async () => {
    const it = await open()
    const mint = WRAPPED_SOL
    it.old.token({ program, mint, change: native, amount: 5n, excess: 5n + EXCESS })
    expect((await it.nothing()).left_out).toEqual([{ reason: 'wrapped_sol', accounts: 1, lamports: String(EXCESS) }])
    const empty = it.old.token({ program, mint, change: native, isAssociated: false })
    const held = it.lamportsOf(empty)
    const built = await it.build({ close_empty: true })
    expect(built.accounts).toMatchObject([{ address: empty, action: 'close', lamports: String(held) }])
    expect(it.gain(built.transaction)).toBe(held - BigInt(built.fee))
  })
})

describe('a reclaim', () => {
  it.each<[string, TokenExtensions]>([
    ['withheld_fees', [[2, Buffer.of(7, 0, 0, 0, 0, 0, 0, 0)]]],
    ['confidential', [[5, Buffer.alloc(295)]]],
    ['confidential', [[17, Buffer.alloc(64)]]],
  ])('does not close an empty account of Token-2022 with %s', async (reason, extensions) => {
    const it = await open()
    const kept = it.old.token({ program: TOKEN_2022_PROGRAM, extensions })
    const built = await it.build({ close_empty: true })
    expect(built.accounts).toMatchObject([{ address: kept, action: 'withdraw', lamports: String(EXCESS) }])
    expect(built.left_out).toMatchObject([{ reason, accounts: 1 }])
    expect(it.gain(built.transaction)).toBe(EXCESS - BigInt(built.fee))
  })

  it('leaves out an account that the program refuses, and takes the others', async () => {
    const it = await open()
    // A fee that the program withholds behind more than is read of an account.
    const hidden: TokenExtensions = [
      [7, Buffer.alloc(1_000)],
      [2, Buffer.of(7, 0, 0, 0, 0, 0, 0, 0)],
    ]
    const bad = it.old.token({ program: TOKEN_2022_PROGRAM, extensions: hidden })
    const good = it.old.token()
    const built = await it.build({ close_empty: true })
    expect(built.accounts).toMatchObject([{ address: good, action: 'close' }])
    expect(built.left_out).toEqual([{ reason: 'refused', accounts: 1, lamports: String(it.lamportsOf(bad)) }])
    it.gain(built.transaction)
  })

  it('does not take an account twice while its transaction may still land', async () => {
    const it = await open()
    for (let n = 0; n < MOST_RECLAIMED[0] + 1; n++) it.old.token({ amount: 1n })
    const first = await it.build({ guard: 'off' })
    const addresses: string[] = first.accounts.map(({ address }: { address: string }) => address)
    const before = addresses.map((address) => [address, it.chain.account(address)!] as const)
    await it.submit(first, it.owner)
    // A node that is behind shows them as they were.
    for (const [address, account] of before) it.chain.setAccount(address, account)
    const second = await it.build()
    expect(second.accounts).toHaveLength(1)
    expect(second.left_out).toMatchObject([{ reason: 'pending', accounts: MOST_RECLAIMED[0] }])
    expect(second.remaining.accounts).toBe(0)
    await it.settle()
    expect((await it.build()).left_out).toEqual([])
  })

  it('is not delayed by a transaction that the wallet has not signed', async () => {
    const it = await open()
    const account = it.old.token({ amount: 1n })
    const stranger = it.wallet()
    const [source, wallet] = [new PublicKey(account), it.owner.publicKey]
    const withdraw = new TransactionInstruction({
      programId: new PublicKey(TOKEN_PROGRAM),
      keys: [
        { pubkey: source, isSigner: false, isWritable: true },
        { pubkey: wallet, isSigner: false, isWritable: true },
        { pubkey: stranger.publicKey, isSigner: true, isWritable: false },
      ],
      data: Buffer.of(38),
    })
    const { blockhash } = it.chain.latestBlockhash()
    const message = new TransactionMessage({
      payerKey: stranger.publicKey,
      recentBlockhash: blockhash,
      instructions: [withdraw],
    })
    const transaction = new VersionedTransaction(message.compileToV0Message())
    transaction.sign([stranger])
    const raw = Buffer.from(transaction.serialize()).toString('base64')
    await it.ok('POST', '/v2/transactions', { transaction: raw, skip_preflight: true })
    expect(await it.build()).toMatchObject({ accounts: [{ address: account }], left_out: [] })
  })

  it('is refused if it would return no more than its fee', async () => {
    const it = await open()
    it.old.token({ amount: 1n, excess: 5_000n })
    const { status, details } = await it.refused('POST', RECLAIMS, { payer: it.payer })
    expect([status, details]).toEqual([400, { reason: 'below_cost', lamports: '5000', fee: '5000' }])
    it.old.token({ amount: 1n, excess: 1n })
    const built = await it.build()
    expect(it.gain(built.transaction)).toBe(1n)
  })

  it('looks at recorded mints only if the node does not list mints', async () => {
    const it = await open()
    const node = await serveFaultyRpc(it.chain)
    onTestFinished(() => node.close())
    node.answer = (method) => (method === 'getProgramAccounts' ? 'lost' : undefined)
    const elsewhere = await startService({ settings: { url: node.url, 'priority-fee': 'none' } })
    const ask = () => elsewhere.request('POST', RECLAIMS, { body: { payer: it.payer } })
    const texts = { name: 'Own', symbol: 'OWN', uri: 'https://example.com/own.json', initial_supply: '0' }
    const token = { ...texts, payer: it.payer, token_program: 'token2022' }
    const made = await elsewhere.request('POST', '/v2/tokens', { body: token })
    expect(made.status, made.text).toBe(200)
    const key = keypairOf(made.json.data.required_signers.mint_secret_key)
    const transaction = it.sign(made.json.data.transaction, [it.owner, key])
    const submitted = await elsewhere.request('POST', '/v2/transactions', { body: { transaction } })
    expect(submitted.status, submitted.text).toBe(200)
    const account = it.chain.account(made.json.data.mint)!
    it.chain.setAccount(made.json.data.mint, { ...account, lamports: account.lamports + EXCESS })
    expect((await ask()).json.error.details).toMatchObject({ reason: 'nothing_to_reclaim', mints_listed: false })
    it.chain.advance(20)
    await followTransactions(elsewhere.services)
    expect((await ask()).json.data).toMatchObject({
      accounts: [{ address: made.json.data.mint, kind: 'mint', lamports: String(EXCESS) }],
      mints_listed: false,
    })
    node.answer = () => undefined
    expect((await ask()).json.data).toMatchObject({ accounts: [{ kind: 'mint' }], mints_listed: true })
  })
})

describe('the platform wallet', () => {
  const platform = sharedPlatform({ lamports_per_transaction: '5000', lamports_per_day: '20000' })

  it('reclaims its own within its policy, which counts only the fee, once per key', async () => {
    const service = await platform()
    const all = await airdropsOn(service)
    const wallet = addressOf(service.wallet)
    const old = oldAccounts(all.chain, wallet)
    const lamportsOf = () => all.chain.account(wallet)!.lamports
    for (let n = 0; n < 30; n++) old.token({ amount: n % 2 === 0 ? 1n : 0n, program: PROGRAMS[n % 2]![1] })
    const mint = old.ownMint(TOKEN_2022_PROGRAM)
    const body = { payer: someAddress(), close_empty: true, mode: 'signed', guard: 'off' }
    const scoped = await service.key({ scopes: ['fees:claim', 'airdrop:admin'] })
    expect((await all.request('POST', RECLAIMS, { body, key: scoped })).status).toBe(403)
    const before = lamportsOf()
    const headers = { 'idempotency-key': 'reclaim-1' }
    const first = await all.ok('POST', RECLAIMS, body, headers)
    expect(first).toMatchObject({ mode: 'signed', signature: expect.any(String), remaining: { accounts: 6 } })
    expect(lamportsOf() - before).toBe(BigInt(first.lamports) - 5_000n)
    expect(await all.ok('POST', RECLAIMS, body, headers)).toEqual(first)
    await all.settle()
    const second = await all.ok('POST', RECLAIMS, body)
    expect(lamportsOf() - before).toBe(BigInt(first.lamports) + BigInt(second.lamports) - 10_000n)
    expect([...first.accounts, ...second.accounts].map(({ address }) => address)).toContain(mint)
    const { json } = await all.request('GET', '/v2/signer')
    expect(json.data.spent.lamports).toBe('10000')
    const { json: audit } = await all.request('GET', '/v2/audit-entries?limit=100')
    const operations = audit.data.map(({ details }: { details: { operation?: string } }) => details.operation)
    expect(operations).toContain('rent_reclaim.create')

    await all.settle()
    all.pass(20)
    const { json: ledger } = await all.request('GET', `/v2/ledger?limit=100&signature=${first.signature}`)
    const own = ledger.data.filter(({ account }: { account: string }) => account === wallet)
    const returned = own.filter(({ kind }: { kind: string }) => kind === 'rent_returned')
    expect(returned.reduce((sum: bigint, { amount }: { amount: string }) => sum + BigInt(amount), 0n)).toBe(
      BigInt(first.lamports),
    )
    expect(new Set(own.map(({ kind }: { kind: string }) => kind))).toEqual(new Set(['rent_returned', 'network_fee']))
    expect(ledger.data.every(({ amount }: { amount: string }) => amount !== '0')).toBe(true)
  })

  it('stops at the limits of its policy', async () => {
    const service = await startPlatform({ lamports_per_transaction: '5000', lamports_per_day: '12000' })
    const all = await airdropsOn(service)
    const old = oldAccounts(all.chain, addressOf(service.wallet))
    for (let n = 0; n < 60; n++) old.token({ amount: 1n })
    const body = { payer: someAddress(), mode: 'signed' }
    for (let n = 0; n < 2; n++) {
      await all.ok('POST', RECLAIMS, body)
      await all.settle()
    }
    expect(await all.refused('POST', RECLAIMS, body)).toMatchObject({
      status: 400,
      details: { rule: 'lamports_per_day' },
    })
  })
})
