/** The ledger of real transactions: launches, trades, claims with splits, airdrops and failures, to the lamport. */
import { base58 } from '@scure/base'
import * as spl from '@solana/spl-token'
import { Keypair, PublicKey, SystemProgram } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import type { LedgerEntry } from '../../src/api/ledger.ts'
import { writeLedger } from '../../src/operations/ledger/write-ledger.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import {
  addressOf,
  airdropsOn,
  claimBody,
  createBody,
  DAY_S,
  entriesFor,
  lacksDistributor,
} from '../support/airdrops.ts'
import { assetsOn, lacksCore } from '../support/assets.ts'
import { IMAGE, keysIn } from '../support/launches.ts'
import { signed } from '../support/local-chain.ts'
import { startPlatform } from '../support/platform-wallet.ts'
import { hasProgram } from '../support/programs.ts'
import { CLAIM_STATUS_RENT, TOKEN_ACCOUNT_RENT } from '../support/rent.ts'
import { inSoak } from '../support/runs.ts'
import type { ServiceOptions } from '../support/service.ts'
import { SOL } from '../support/wallets.ts'

const lacksDbc = [PROGRAMS.dbc, PROGRAMS.tokenMetadata].some(({ id }) => !hasProgram(id))
const sumOf = (amounts: readonly string[]) => amounts.reduce((sum, amount) => sum + BigInt(amount), 0n)

async function opened(settings: ServiceOptions['settings'] = {}) {
  const limits = { lamports_per_transaction: String(50n * SOL), lamports_per_day: String(500n * SOL) }
  const service = await startPlatform(limits, { settings })
  const all = await airdropsOn(service)
  const entries = async (query = ''): Promise<LedgerEntry[]> => {
    const found: LedgerEntry[] = []
    for (let cursor = ''; ; ) {
      const { status, json, text } = await all.request('GET', `/v2/ledger?limit=100${query}${cursor}`)
      expect(status, text).toBe(200)
      found.push(...json.data)
      if (!json.meta.next_cursor) return found
      cursor = `&cursor=${json.meta.next_cursor}`
    }
  }
  return {
    ...all,
    platform: service.wallet,
    entries,
    /** Everything is final, and its entries are written. */
    async booked(signature: string): Promise<LedgerEntry[]> {
      await all.settle()
      all.pass(20)
      const own = await entries(`&signature=${signature}`)
      expect(own.length).toBeGreaterThan(0)
      const tokens = new Set(own.map(({ token }) => token))
      for (const token of tokens) {
        expect(sumOf(own.filter((each) => each.token === token).map(({ amount }) => amount)), token).toBe(0n)
      }
      return own
    },
    /** What the kinds of entries of an owner sum to, by kind and token. */
    kindsOf: (own: readonly LedgerEntry[], owner: Keypair | string) => {
      const address = typeof owner === 'string' ? owner : addressOf(owner)
      const sums: Record<string, bigint> = {}
      for (const { kind, token, amount } of own.filter((each) => each.owner === address)) {
        const key = token === 'SOL' ? kind : `${kind} tokens`
        sums[key] = (sums[key] ?? 0n) + BigInt(amount)
      }
      return sums
    },
    async verified() {
      const found = {
        faults: [] as object[],
        unread: [] as object[],
        accounts: [] as object[],
        transactions: 0,
        waiting: 0,
        not_final: 0,
      }
      for (let cursor: string | null = ''; cursor !== null; ) {
        const { status, json, text } = await all.request(
          'GET',
          `/v2/ledger/verification${cursor && `?cursor=${cursor}`}`,
        )
        expect(status, text).toBe(200)
        for (const name of ['faults', 'unread', 'accounts'] as const) found[name].push(...json.data[name])
        found.transactions += json.data.transactions
        found.waiting += json.data.waiting
        found.not_final += json.data.not_final
        cursor = json.data.next_cursor
      }
      return found
    },
  }
}
type Books = Awaited<ReturnType<typeof opened>>

async function launched(books: Books) {
  const { ok, request, wallet, submit } = books
  const creator = wallet(100n * SOL)
  const body = { creator: addressOf(creator), name: 'My Token', symbol: 'MTK', image: IMAGE }
  const { status, json, text } = await request('POST', '/v2/pools', { body })
  expect(status, text).toBe(201)
  const { data } = json
  const keys = keysIn(data.required_signers)
  const signatures: string[] = []
  for (const transaction of data.transactions) signatures.push(await submit({ transaction }, creator, ...keys))
  const pool: string = data.pool.address
  const trade = async (trader: Keypair, side: 'buy' | 'sell', amount: bigint) => {
    const swap = await ok('POST', `/v2/pools/${pool}/swaps`, { payer: addressOf(trader), side, amount: String(amount) })
    return submit(swap.tx, trader)
  }
  return { creator, pool, mint: data.pool.base_mint as string, signatures, trade }
}

describe.skipIf(lacksDbc)('the ledger of a launch (needs Meteora DBC)', () => {
  it('has every lamport and token of launch, trades and a claim with splits, and agrees with the chain', async () => {
    const books = await opened()
    const { chain, wallet, ok, booked, kindsOf, platform } = books
    const { creator, pool, mint, signatures, trade } = await launched(books)
    const trader = wallet(50n * SOL)
    const launch = await booked(signatures.at(-1)!)
    expect(
      launch
        .filter(({ token }) => token === mint)
        .map(({ kind }) => kind)
        .sort(),
    ).toEqual(['launch', 'mint'])
    expect(launch.find(({ token, kind }) => token === mint && kind === 'mint')).toMatchObject({
      party: 'mint',
      account: mint,
    })
    expect(new Set(launch.filter(({ kind }) => kind === 'rent_paid').map(({ owner }) => owner)).size).toBeGreaterThan(2)
    expect(launch.find(({ owner }) => owner === addressOf(creator))).toMatchObject({ party: 'creator' })

    const buying = await booked(await trade(trader, 'buy', 5n * SOL))
    expect(kindsOf(buying, trader)).toMatchObject({
      trade: -5n * SOL,
      network_fee: expect.any(BigInt),
      'trade tokens': expect.any(BigInt),
    })
    expect(
      buying.find(({ party, kind, token }) => party === 'pool' && kind === 'trade' && token === 'SOL'),
    ).toMatchObject({
      ...{ amount: String(5n * SOL), pool, counterparty: addressOf(trader) },
    })
    expect(buying.find(({ owner }) => owner === addressOf(trader))).toMatchObject({ party: 'trader' })

    const [first, second] = [wallet(SOL), wallet(SOL)]
    const splits = [first, second].map((key, i) => ({ recipient: addressOf(key), bps: i === 0 ? 3_333 : 6_667 }))
    const before = [first, second].map((key) => chain.account(addressOf(key))!.lamports)
    const body = { mode: 'signed', payer: addressOf(platform), splits }
    const claim = await ok('POST', `/v2/pools/${pool}/fee-claims`, body)
    const claimed = await booked(claim.tx.signature)
    const quote = BigInt(claim.estimated_quote)
    const got = [first, second].map((key, i) => chain.account(addressOf(key))!.lamports - before[i]!)
    expect(got[0]! + got[1]!).toBe(quote)
    expect(kindsOf(claimed, first)).toEqual({ split_share: got[0] })
    expect(kindsOf(claimed, second)).toEqual({ split_share: got[1] })
    expect(kindsOf(claimed, platform)).toMatchObject({ claim: quote, split_share: -quote })
    expect(claimed.find(({ kind }) => kind === 'split_share')).toMatchObject({ pool, detail: 'dbc' })
    expect(claimed.find(({ kind, party }) => kind === 'claim' && party === 'pool')).toMatchObject({
      amount: String(-quote),
    })
    expect(claimed.find(({ owner }) => owner === addressOf(platform))).toMatchObject({ party: 'partner' })

    const [record] = await ok('GET', '/v2/fee-claims')
    expect(record).toMatchObject({ quote: String(quote), base: '0', sol: String(quote) })
    expect(
      record.received.map(({ wallet: to, amount }: { wallet: string; amount: string }) => [to, amount]).sort(),
    ).toEqual(
      [
        [addressOf(first), String(got[0])],
        [addressOf(second), String(got[1])],
      ].sort(),
    )

    const { faults, unread, accounts, transactions } = await books.verified()
    expect([faults, unread]).toEqual([[], []])
    expect(transactions).toBe(4)
    const balance = String(chain.account(addressOf(platform))!.lamports)
    expect(accounts).toEqual([
      expect.objectContaining({ account: addressOf(platform), opening: '0', balance, change: balance }),
    ])
  })

  it('has the fee of a failed transaction, and the balances of each of its accounts', async () => {
    const books = await opened()
    const { chain, wallet, request, booked, settle } = books
    const payer = wallet(SOL)
    const poor = SystemProgram.transfer({
      fromPubkey: payer.publicKey,
      toPubkey: Keypair.generate().publicKey,
      lamports: Number(5n * SOL),
    })
    const raw = signed([poor], [payer], { blockhash: chain.latestBlockhash().blockhash })
    const body = { transaction: Buffer.from(raw).toString('base64'), skip_preflight: true }
    const { status, json, text } = await request('POST', '/v2/transactions', { body })
    expect(status, text).toBe(200)
    await settle()
    const entries = await booked(json.data.signature)
    expect(entries.map(({ kind, account, amount }) => [kind, account, amount]).sort()).toEqual(
      [
        ['network_fee', addressOf(payer), '-5000'],
        ['network_fee', 'network', '5000'],
      ].sort(),
    )
  })
})

describe.skipIf(lacksDistributor)('the ledger of an airdrop (needs the Jito merkle distributor)', () => {
  it('has funding, claims and the withdrawal of the vault', async () => {
    const books = await opened()
    const { ok, wallet, mintFor, storeTree, submit, pass, booked, kindsOf } = books
    const payer = wallet()
    const claimer = wallet()
    const mint = mintFor(payer, 10_000n)
    const tree = await storeTree(
      mint,
      entriesFor([claimer, wallet()], () => 1_000n),
    )
    const funded = await booked(
      await submit(await ok('POST', '/v2/airdrops', createBody(payer, mint, tree.root)), payer),
    )
    expect(kindsOf(funded, payer)['airdrop_funding tokens']).toBe(-2_000n)
    expect(funded.find(({ party, token }) => party === 'airdrop' && token === mint)).toMatchObject({
      amount: '2000',
      kind: 'airdrop_funding',
    })
    expect(kindsOf(funded, payer).rent_paid).toBeLessThan(0n)
    const proof = await ok('GET', `/v2/merkle-trees/${tree.id}/proofs/${addressOf(claimer)}`)
    const claim = await ok(
      'POST',
      `/v2/airdrops/${tree.id}/claims`,
      claimBody(claimer, { amount: '1000', platform_fee: 7_000_000, proof: proof.proof }),
    )
    const claimed = await booked(await submit(claim, claimer))
    expect(kindsOf(claimed, claimer)).toMatchObject({ 'airdrop_claim tokens': 1_000n, platform_fee: -7_000_000n })
    expect(kindsOf(claimed, books.platform)).toEqual({ platform_fee: 7_000_000n })
    pass(31 * DAY_S)
    const { signature } = await ok('POST', `/v2/airdrops/${tree.id}/vault-withdrawals`, { amount: '1000' })
    const withdrawn = await booked(signature)
    expect(kindsOf(withdrawn, payer)['withdrawal tokens']).toBe(1_000n)
    expect((await books.verified()).faults).toEqual([])
  })

  it.skipIf(!inSoak)(
    'has a platform fee that was paid past this service only beside a recorded claim',
    { tags: 'sampled' },
    async () => {
      const books = await opened()
      const { ok, wallet, mintFor, storeTree, submit, sign, chain, booked, kindsOf, platform } = books
      const payer = wallet()
      const [first, second, third] = [wallet(), wallet(), wallet()]
      const [ours, theirs] = [mintFor(payer, 10_000n), mintFor(payer, 10_000n)]
      const tree = await storeTree(
        ours,
        entriesFor([first, second, third], () => 1_000n),
      )
      const ids: Record<string, string> = {}
      for (const mint of [ours, theirs]) {
        const made = await ok('POST', '/v2/airdrops', createBody(payer, mint, tree.root, { fund_amount: '3000' }))
        await submit(made, payer)
        ids[mint] = made.tracked_resource.resource_id
      }
      await books.settle()
      const claim = async (mint: string, claimer: Keypair) => {
        const { proof } = await ok('GET', `/v2/merkle-trees/${tree.id}/proofs/${addressOf(claimer)}`)
        const body = claimBody(claimer, { amount: '1000', platform_fee: 7_000_000, proof })
        return ok('POST', `/v2/airdrops/${ids[mint]}/claims`, body)
      }
      const past = async (mint: string, claimer: Keypair) => {
        const raw = Buffer.from(sign((await claim(mint, claimer)).transaction, [claimer]), 'base64')
        expect(chain.send(raw).err).toBeNull()
        return base58.encode(raw.subarray(1, 65))
      }
      const of = async (signature: string) => {
        for (let round = 0; round < 4; round++) {
          await books.settle({ worker: true })
          books.pass(20)
          await books.entries()
        }
        return kindsOf(await booked(signature), platform)
      }
      expect(await of(await past(ours, first))).toEqual({ platform_fee: 7_000_000n })
      expect(await of(await past(theirs, second))).toEqual({ transfer: 7_000_000n })
      expect(await of(await submit(await claim(theirs, third), third))).toEqual({ platform_fee: 7_000_000n })
    },
  )
})

describe.skipIf(lacksDistributor)('the ledger of a sponsored claim (needs the Jito merkle distributor)', () => {
  it('has the tokens as the claimer’s, and fee and rent as the platform wallet’s', async () => {
    const books = await opened()
    const { ok, wallet, mintFor, storeTree, submit, booked, kindsOf, sign, platform } = books
    const [payer, claimer] = [wallet(), wallet(0n)]
    const mint = mintFor(payer, 10_000n)
    const tree = await storeTree(
      mint,
      entriesFor([claimer], () => 1_000n),
    )
    await submit(await ok('POST', '/v2/airdrops', createBody(payer, mint, tree.root)), payer)
    const at = `/v2/airdrops/${tree.id}`
    await ok('PATCH', `${at}/sponsorship`, { budget: '10000000' })
    const built = await ok('POST', `${at}/sponsored-claims`, { claimer: addressOf(claimer) })
    const body = { transaction: sign(built.transaction, [claimer]) }
    const { signature } = await ok('POST', `${at}/sponsored-claims/${built.id}/submissions`, body)
    const claimed = await booked(signature)
    expect(kindsOf(claimed, platform)).toEqual({
      network_fee: -10_000n,
      rent_paid: -(CLAIM_STATUS_RENT + TOKEN_ACCOUNT_RENT),
    })
    expect(kindsOf(claimed, claimer)).toMatchObject({ 'airdrop_claim tokens': 1_000n })
    expect(claimed.find(({ kind, owner }) => kind === 'airdrop_claim' && owner === addressOf(claimer))).toMatchObject({
      party: 'claimant',
    })
    expect((await books.verified()).faults).toEqual([])
  })
})

describe.skipIf(lacksCore)('the ledger of a stake (needs Metaplex Core)', () => {
  it('has its platform fee', async () => {
    const books = await opened()
    const assets = await assetsOn(books)
    const user = assets.funded()
    const collection = await assets.collection(user)
    const asset = await assets.minted(user, collection)
    const body = { user: addressOf(user), platform_id: 'acme', asset, collection, platform_fee: 7_000_000 }
    const own = await books.booked(await assets.submit(await assets.built('POST', '/v2/stakes', body), [user]))
    expect(books.kindsOf(own, books.platform)).toEqual({ platform_fee: 7_000_000n })
  })
})

describe('the ledger of transactions past this service', () => {
  it('keeps the balance of the platform wallet complete: incoming and outgoing payments, and failures', async () => {
    const books = await opened({ consensus: 'tower' })
    const { chain, wallet, platform, run, settle, pass, verified, entries } = books
    const stranger = wallet()
    const pay = (from: Keypair, to: Keypair, lamports: bigint) =>
      SystemProgram.transfer({ fromPubkey: from.publicKey, toPubkey: to.publicKey, lamports: Number(lamports) })
    run([pay(stranger, platform, SOL)], [stranger])
    run([pay(platform, stranger, 2n * SOL)], [platform])
    const failing = signed([pay(platform, stranger, 5_000n * SOL)], [platform], {
      blockhash: chain.latestBlockhash().blockhash,
    })
    expect(chain.send(failing).err).not.toBeNull()
    await books.submit(
      {
        transaction: Buffer.from(
          signed([pay(stranger, platform, 7n)], [stranger], { blockhash: chain.latestBlockhash().blockhash }),
        ).toString('base64'),
      },
      stranger,
    )
    const caughtUp = async () => {
      for (let round = 0; round < 4; round++) {
        await settle()
        pass(20)
        await entries()
      }
    }
    await caughtUp()
    const { faults, accounts } = await verified()
    expect(faults).toEqual([])
    const balance = String(chain.account(addressOf(platform))!.lamports)
    expect(accounts).toEqual([expect.objectContaining({ balance, expected: balance })])
    const fees = await entries(`&kind=network_fee&account=${addressOf(platform)}`)
    expect(fees.map(({ amount }) => amount)).toEqual(['-5000', '-5000'])

    // Nothing that is built here is beside these receipts, the faucet among them, so that they are no revenue.
    expect(books.kindsOf(await entries(), platform)).toEqual({ network_fee: -10_000n, transfer: 7n + 99n * SOL })

    // The embedded chain shows the newest balance as the final one.
    pass(180)
    run([pay(platform, stranger, SOL)], [platform])
    pass(1)
    const early = await books.ok('GET', '/v2/ledger/verification?cursor=accounts.0')
    expect(early).toMatchObject({ faults: [], waiting: 0, not_final: 1, accounts: [{ expected: balance }] })
    await caughtUp()
    expect(await verified()).toMatchObject({ faults: [], waiting: 0, not_final: 0 })
    const { store } = books.services
    await store.write((tx) =>
      tx
        .deleteFrom('ledger_entries')
        .where('amount', '=', String(-SOL))
        .where('account', '=', addressOf(platform))
        .execute(),
    )
    pass(180)
    run([pay(platform, stranger, SOL)], [platform])
    pass(1)
    expect(await books.ok('GET', '/v2/ledger/verification?cursor=accounts.0')).toMatchObject({
      faults: [{ reason: 'discontinuous' }, { reason: 'balance' }],
      not_final: 0,
    })
  })

  it.each([
    ['SPL Token', spl.TOKEN_PROGRAM_ID],
    ['Token-2022', spl.TOKEN_2022_PROGRAM_ID],
  ])("has payments of %s of the platform wallet's accounts that do not name a wallet", async (_, program) => {
    const books = await opened()
    const { chain, wallet, platform, run, settle, pass, verified, entries, mintFor } = books
    const stranger = wallet()
    const mint = new PublicKey(mintFor(stranger, 1_000_000_000n, program))
    const accountOf = (owner: Keypair, of = mint, by = program) =>
      spl.getAssociatedTokenAddressSync(of, owner.publicKey, true, by)
    const opening = (of: PublicKey, by: PublicKey) =>
      spl.createAssociatedTokenAccountInstruction(
        stranger.publicKey,
        accountOf(platform, of, by),
        platform.publicKey,
        of,
        by,
      )
    const pay = (from: Keypair, to: Keypair, amount: bigint, signer = from) =>
      spl.createTransferCheckedInstruction(
        accountOf(from),
        mint,
        accountOf(to),
        signer.publicKey,
        amount,
        6,
        [],
        program,
      )
    // Before the installation has anything to look after.
    run([opening(mint, program)], [stranger])
    run([pay(stranger, platform, 5_000_000n)], [stranger])
    await books.storeTree(mintFor(stranger, 1n), entriesFor([stranger]))
    run([pay(stranger, platform, 250_000_000n)], [stranger])
    const rounds = async (count: number) => {
      for (let round = 0; round < count; round++) {
        await settle()
        pass(20)
        await entries()
      }
    }
    await rounds(4)
    const received = (await entries(`&mint=${mint.toBase58()}&account=${addressOf(platform)}`)).map(
      ({ amount }) => amount,
    )
    expect(received.sort()).toEqual(['250000000', '5000000'])
    const [holding, delegate, owner] = [accountOf(platform), stranger.publicKey, platform.publicKey]
    const approving = spl.createApproveInstruction(holding, delegate, owner, 100_000_000n, [], program)
    run([approving], [platform])
    run([pay(platform, stranger, 100_000_000n, stranger)], [stranger])
    const native = accountOf(platform, spl.NATIVE_MINT, spl.TOKEN_PROGRAM_ID)
    run([opening(spl.NATIVE_MINT, spl.TOKEN_PROGRAM_ID)], [stranger])
    const wrapping = { fromPubkey: stranger.publicKey, toPubkey: native, lamports: 3_000_000 }
    run([SystemProgram.transfer(wrapping)], [stranger])
    await rounds(5)
    const { faults, accounts } = await verified()
    expect(faults).toEqual([])
    expect(accounts).toEqual([
      expect.objectContaining({ account: addressOf(platform), token: 'SOL' }),
      ...[
        { account: accountOf(platform).toBase58(), token: mint.toBase58(), opening: '0', balance: '155000000' },
        {
          account: native.toBase58(),
          token: 'SOL',
          opening: '0',
          balance: String(chain.account(native.toBase58())!.lamports),
        },
      ]
        .sort((one, other) => (one.account < other.account ? -1 : 1))
        .map((each) => expect.objectContaining(each)),
    ])
    // One that no round has found yet is on its way.
    run([pay(stranger, platform, 1n)], [stranger])
    pass(20)
    const step = async () => books.ok('GET', '/v2/ledger/verification?cursor=holdings.0')
    expect(await step()).toMatchObject({ faults: [], waiting: 1 })
    await rounds(2)
    expect((await verified()).faults).toEqual([])
    // The ledger reads what was submitted here before a delegate's earlier move is found.
    run([spl.createApproveInstruction(holding, delegate, owner, 5n, [], program)], [platform])
    run([pay(platform, stranger, 5n, stranger)], [stranger])
    pass(1)
    const { blockhash } = chain.latestBlockhash()
    const later = Buffer.from(signed([pay(stranger, platform, 2n)], [stranger], { blockhash })).toString('base64')
    await books.submit({ transaction: later }, stranger)
    await settle()
    pass(20)
    while ((await writeLedger(books.services)) > 0);
    expect(await step()).toMatchObject({ faults: [], waiting: 1 })
    await rounds(3)
    expect(await verified()).toMatchObject({ faults: [], waiting: 0 })
    // Without one of its payments, what follows begins with another balance.
    const paid = await entries(`&mint=${mint.toBase58()}&account=${addressOf(platform)}`)
    const lost = paid.find(({ amount }) => amount === '250000000')
    await books.services.store.write(async (tx) => {
      for (const table of ['ledger_entries', 'ledger_transactions'] as const)
        await tx.deleteFrom(table).where('signature', '=', lost!.signature).execute()
    })
    const place = { account: accountOf(platform).toBase58(), token: mint.toBase58() }
    expect((await step()).faults).toContainEqual(expect.objectContaining({ ...place, reason: 'discontinuous' }))
  })

  it.skipIf(!inSoak)(
    'excludes transactions that only name the platform wallet, and includes those that move its funds or have its signature',
    { tags: 'sampled' },
    async () => {
      const books = await opened()
      const { chain, wallet, platform, run, settle, pass, verified, entries } = books
      const stranger = wallet()
      const naming = (lamports: bigint) => {
        const paying = SystemProgram.transfer({
          ...{ fromPubkey: stranger.publicKey, toPubkey: Keypair.generate().publicKey },
          lamports: Number(lamports),
        })
        paying.keys.push({ pubkey: platform.publicKey, isSigner: false, isWritable: false })
        return paying
      }
      const pay = (from: Keypair, to: Keypair, lamports: bigint) =>
        SystemProgram.transfer({ fromPubkey: from.publicKey, toPubkey: to.publicKey, lamports: Number(lamports) })
      const paid = signed([pay(stranger, platform, 7n)], [stranger], { blockhash: chain.latestBlockhash().blockhash })
      await books.submit({ transaction: Buffer.from(paid).toString('base64') }, stranger)
      run([naming(SOL)], [stranger])
      const failing = signed([naming(5_000n * SOL)], [stranger], { blockhash: chain.latestBlockhash().blockhash })
      expect(chain.send(failing).err).not.toBeNull()
      run([pay(stranger, platform, SOL)], [stranger])
      run([pay(stranger, stranger, 1n), pay(platform, platform, 1n)], [stranger, platform])
      for (let round = 0; round < 4; round++) {
        await settle()
        pass(20)
        await entries()
      }
      const fees = await entries(`&kind=network_fee&account=${addressOf(stranger)}`)
      expect(fees.map(({ amount }) => amount).sort()).toEqual(['-10000', '-5000', '-5000'])
      expect((await verified()).faults).toEqual([])
      // What only named the wallet long ago is not missing while a payment is on its way into the ledger.
      pass(180)
      run([pay(stranger, platform, 5n)], [stranger])
      pass(20)
      const step = await books.ok('GET', '/v2/ledger/verification?cursor=accounts.0')
      expect(step).toMatchObject({ faults: [], waiting: 1, accounts: [{}] })
    },
  )
})
