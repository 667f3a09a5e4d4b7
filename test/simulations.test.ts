/** Simulations through the app, on the embedded chain: what a transaction does, costs and moves. */
import * as spl from '@solana/spl-token'
import {
  AddressLookupTableAccount,
  ComputeBudgetProgram,
  Keypair,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { balanceChanges, decodeTokenAccount } from '../src/chain/sending/balance-changes.ts'
import { simulateDecoded } from '../src/chain/sending/simulations.ts'
import { decodeTransaction } from '../src/chain/sending/transactions.ts'
import { localFetch } from '../src/localnet/fetch.ts'
import { LOOKUP_TABLE_PROGRAM, RENT_SYSVAR, SYSTEM_PROGRAM } from '../src/solana/program-ids.ts'
import { rentRateIn } from '../src/solana/rent.ts'
import { mapped } from './support/mapped.ts'
import { testNode } from './support/node.ts'
import { type Service, sharedService } from './support/service.ts'
import { walletOn } from './support/wallets.ts'

const MEMO = new PublicKey('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr')
const OLD_BLOCKHASH = '11111111111111111111111111111111'
const memo = (text: string) => new TransactionInstruction({ programId: MEMO, keys: [], data: Buffer.from(text) })

const shared = sharedService()

async function start() {
  const service = await shared()
  const { chain, wallet: payer } = await walletOn(service.services, 1_000_000_000n)
  return { service, payer, chain }
}

function unsigned(payer: Keypair, instructions: TransactionInstruction[], recentBlockhash = OLD_BLOCKHASH) {
  const message = new TransactionMessage({ payerKey: payer.publicKey, recentBlockhash, instructions })
  return new VersionedTransaction(message.compileToV0Message())
}

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')
const simulate = ({ request }: Service, transaction: string) =>
  request('POST', '/v2/transaction-simulations', { body: { transaction } })

it('the simulation of an unsigned transaction of any age changes nothing', async () => {
  const { service, payer, chain } = await start()
  const to = Keypair.generate().publicKey
  const transfer = SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: to, lamports: 2_000_000 })
  const build = unsigned(payer, [transfer, memo('hello')])
  const { status, json } = await simulate(service, base64(build.serialize()))
  expect(status).toBe(200)
  expect(json.data).toMatchObject({ err: null, return_data: null })
  expect(json.data.slot).toBeGreaterThan(chain.slot() - 32)
  expect(json.data.logs).toContain('Program 11111111111111111111111111111111 success')
  expect(json.data.logs.join()).toContain('hello')
  expect(json.data.units_consumed).toBeGreaterThan(150)
  expect(chain.account(to.toBase58())).toBeNull()
})

it('the simulation of a signed transaction works, also of a legacy message', async () => {
  const { service, payer, chain } = await start()
  const { blockhash } = chain.latestBlockhash()
  const message = new TransactionMessage({
    payerKey: payer.publicKey,
    recentBlockhash: blockhash,
    instructions: [memo('a')],
  })
  for (const compiled of [message.compileToV0Message(), message.compileToLegacyMessage()]) {
    const transaction = new VersionedTransaction(compiled)
    transaction.sign([payer])
    const { status, json } = await simulate(service, base64(transaction.serialize()))
    expect([status, json.data.err]).toEqual([200, null])
  }
})

it('the simulation of a failing transaction answers with its error and logs', async () => {
  const { service, payer } = await start()
  const toPubkey = Keypair.generate().publicKey
  const transfer = SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey, lamports: 2_000_000_000 })
  const { status, json } = await simulate(service, base64(unsigned(payer, [transfer]).serialize()))
  expect([status, json.data.err]).toEqual([200, { InstructionError: [0, { Custom: 1 }] }])
  expect(json.data.logs.join('\n')).toMatch(/insufficient lamports 999995000, need 2000000000/)
  expect([json.data.fee, json.data.balance_changes]).toEqual(['5000', []])
  const stranger = unsigned(Keypair.generate(), [memo('a')])
  const poor = await simulate(service, base64(stranger.serialize()))
  expect([poor.status, poor.json.data]).toEqual([
    200,
    {
      err: 'AccountNotFound',
      logs: [],
      units_consumed: 0,
      return_data: null,
      slot: expect.any(Number),
      fee: '5000',
      rent: '0',
      balance_changes: [],
      control_changes: [],
    },
  ])
})

it('the simulation returns the return data with its program', async () => {
  const { service, payer } = await start()
  const programId = new PublicKey('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA')
  const mint = new PublicKey('So11111111111111111111111111111111111111112')
  // GetAccountDataSize of the token program: 165 bytes, as a u64.
  const ask = new TransactionInstruction({
    programId,
    keys: [{ pubkey: mint, isSigner: false, isWritable: false }],
    data: Buffer.of(21),
  })
  const { json } = await simulate(service, base64(unsigned(payer, [ask]).serialize()))
  expect(json.data.err).toBeNull()
  const { program_id, data } = json.data.return_data
  expect(program_id).toBe(programId.toBase58())
  expect(Buffer.from(data, 'base64').readBigUInt64LE()).toBe(165n)
})

it('the simulation of invalid bytes is refused by field', async () => {
  const { service, payer } = await start()
  const good = unsigned(payer, [memo('a')]).serialize()
  const big = Buffer.from(Array.from({ length: 1233 }, (_, n) => n))
  const v1 = Uint8Array.from(good)
  v1[65] = 0x81
  const wrongProgram = Uint8Array.from(good)
  wrongProgram[wrongProgram.length - 5] = 9
  for (const [bytes, why] of [
    [big, /at most 1,232 bytes, this one has 1,233/],
    [Uint8Array.of(1, 2, 3), /cannot be read: it ends before its signatures/],
    [good.subarray(0, good.length - 1), /cannot be read/],
    [Buffer.concat([good, Buffer.of(0)]), /1 bytes follow its end/],
    [v1, /its message of version 1 follows its signatures/],
    [wrongProgram, /program of instruction 0 is not one of its accounts/],
  ] as const) {
    const { status, json } = await simulate(service, base64(bytes))
    expect([status, json.error?.code, json.error?.param]).toEqual([400, 'bad_request', 'transaction'])
    expect(json.error.message).toMatch(why)
  }
  for (const text of ['', '***', 'AQI']) {
    const { status, json } = await simulate(service, text)
    expect([status, json.error.param]).toEqual([400, 'transaction'])
  }
})

type Started = Awaited<ReturnType<typeof start>>
interface Row {
  address: string
  mint: string | null
  before: string
  after: string
  change: string
}

const lamportsRow = (address: PublicKey, before: bigint, after: bigint, ends = {}) => ({
  address: address.toBase58(),
  mint: null,
  owner: null,
  decimals: null,
  before: `${before}`,
  after: `${after}`,
  change: `${after - before}`,
  created: false,
  closed: false,
  space: expect.any(Number),
  ...ends,
})

/** Lands it for real, and holds every row against the chain before and after. */
async function landsAsSaid({ chain }: Started, build: VersionedTransaction, signers: Keypair[], rows: Row[]) {
  const balance = ({ address, mint }: Row) => {
    const account = chain.account(address)
    return mint === null ? (account?.lamports ?? 0n) : ((account && decodeTokenAccount(account)?.amount) ?? 0n)
  }
  const before = rows.map(balance)
  build.message.recentBlockhash = chain.latestBlockhash().blockhash
  build.sign(signers)
  expect(chain.send(build.serialize()).err).toBeNull()
  const after = rows.map(balance)
  expect(rows.map((row) => [row.before, row.after, row.change])).toEqual(
    rows.map((_, i) => [`${before[i]}`, `${after[i]}`, `${after[i]! - before[i]!}`]),
  )
}

it('the simulation states the fee and every lamport that moves, as the chain then moves them', async () => {
  const started = await start()
  const { service, payer } = started
  const to = Keypair.generate().publicKey
  const build = unsigned(payer, [
    ComputeBudgetProgram.setComputeUnitLimit({ units: 100_001 }),
    ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 12_345 }),
    SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: to, lamports: 2_000_000 }),
  ])
  const { json } = await simulate(service, base64(build.serialize()))
  // 5,000 for the signature; 100,001 units at 12,345 micro-lamports, rounded up.
  expect(json.data.fee).toBe('6235')
  expect(json.data.balance_changes).toEqual([
    lamportsRow(payer.publicKey, 1_000_000_000n, 997_993_765n),
    lamportsRow(to, 0n, 2_000_000n, { created: true }),
  ])
  await landsAsSaid(started, build, [payer], json.data.balance_changes)
})

it('the simulation closes an emptied wallet, and lamports are exact beyond a JSON number', async () => {
  const started = await start()
  const { service, chain, payer } = started
  const lamports = 2n ** 60n + 1n
  chain.setAccount(payer.publicKey.toBase58(), {
    lamports,
    owner: SYSTEM_PROGRAM,
    data: new Uint8Array(),
    executable: false,
  })
  const to = Keypair.generate().publicKey
  const all = lamports - 5000n
  const build = unsigned(payer, [SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: to, lamports: all })])
  const { json } = await simulate(service, base64(build.serialize()))
  expect(json.data.balance_changes).toEqual([
    lamportsRow(payer.publicKey, lamports, 0n, { closed: true }),
    lamportsRow(to, 0n, all, { created: true }),
  ])
  await landsAsSaid(started, build, [payer], json.data.balance_changes)
})

const mintInstructions = ({ payer, chain }: Started, mint: PublicKey, program: PublicKey, amount: bigint) => {
  const account = spl.getAssociatedTokenAddressSync(mint, payer.publicKey, false, program)
  return [
    SystemProgram.createAccount({
      fromPubkey: payer.publicKey,
      newAccountPubkey: mint,
      space: spl.MINT_SIZE,
      lamports: Number(chain.minimumBalance(spl.MINT_SIZE)),
      programId: program,
    }),
    spl.createInitializeMint2Instruction(mint, 7, payer.publicKey, null, program),
    spl.createAssociatedTokenAccountInstruction(payer.publicKey, account, payer.publicKey, mint, program),
    spl.createMintToInstruction(mint, account, payer.publicKey, amount, [], program),
  ]
}

it('the simulation states the rent of new accounts of the cluster, without balances above it', async () => {
  const { service, payer, chain } = await start()
  const wrapped = spl.getAssociatedTokenAddressSync(spl.NATIVE_MINT, payer.publicKey)
  const build = unsigned(payer, [
    spl.createAssociatedTokenAccountInstruction(payer.publicKey, wrapped, payer.publicKey, spl.NATIVE_MINT),
    SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: wrapped, lamports: 7_000_000 }),
    spl.createSyncNativeInstruction(wrapped),
  ])
  const { json } = await simulate(service, base64(build.serialize()))
  expect([json.data.err, json.data.rent]).toEqual([null, String(chain.minimumBalance(spl.ACCOUNT_SIZE))])
  const rate = rentRateIn(chain.account(RENT_SYSVAR)!.data)
  for (const bytes of [0, 82, 165, 10_240]) expect(rate?.(bytes)).toBe(chain.minimumBalance(bytes))
  expect(rentRateIn(new Uint8Array(15))).toBeNull()
  expect(rentRateIn(new Uint8Array(17).fill(255))).toBeNull()
  for (const years of [1e6, 1e308, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
    const lie = Buffer.alloc(17)
    lie.writeBigUInt64LE(3_480n)
    lie.writeDoubleLE(years, 8)
    expect(rentRateIn(lie)).toBeNull()
  }
})

it.each([
  ['SPL Token', spl.TOKEN_PROGRAM_ID],
  ['Token-2022', spl.TOKEN_2022_PROGRAM_ID],
])('the simulation has rows for tokens of %s that are minted, moved and left behind', async (_, program) => {
  const started = await start()
  const { service, payer } = started
  const [mintKey, friend] = [Keypair.generate(), Keypair.generate().publicKey]
  const [mint, wallet] = [mintKey.publicKey, payer.publicKey]
  const amount = 2n ** 63n + 1n
  const from = spl.getAssociatedTokenAddressSync(mint, wallet, false, program)
  const to = spl.getAssociatedTokenAddressSync(mint, friend, false, program)
  const tokens = (address: PublicKey, owner: PublicKey, before: bigint, after: bigint, ends: object) => ({
    ...lamportsRow(address, before, after, ends),
    mint: mint.toBase58(),
    owner: owner.toBase58(),
    decimals: 7,
  })
  const onlyTokens = (rows: Row[]) => rows.filter((row) => row.mint !== null)

  const minting = unsigned(payer, mintInstructions(started, mint, program, amount))
  const minted = (await simulate(service, base64(minting.serialize()))).json.data
  expect(onlyTokens(minted.balance_changes)).toEqual([tokens(from, wallet, 0n, amount, { created: true })])
  await landsAsSaid(started, minting, [payer, mintKey], minted.balance_changes)

  // The mint is read-only here: its decimals are read apart.
  const leaving = unsigned(payer, [
    spl.createAssociatedTokenAccountInstruction(wallet, to, friend, mint, program),
    spl.createTransferInstruction(from, to, wallet, amount, [], program),
    spl.createCloseAccountInstruction(from, wallet, wallet, [], program),
  ])
  const left = (await simulate(service, base64(leaving.serialize()))).json.data
  expect(onlyTokens(left.balance_changes).sort((a) => (a.address === from.toBase58() ? -1 : 1))).toEqual([
    tokens(from, wallet, amount, 0n, { closed: true }),
    tokens(to, friend, 0n, amount, { created: true }),
  ])
  expect(left.balance_changes).toHaveLength(5)
  await landsAsSaid(started, leaving, [payer], left.balance_changes)
})

/** A table of the lookup table program that was filled long ago. */
function tableData(addresses: PublicKey[]): Uint8Array {
  const meta = Buffer.alloc(56)
  meta.writeUInt32LE(1)
  meta.writeBigUInt64LE(2n ** 64n - 1n, 4)
  return Buffer.concat([meta, ...addresses.map((address) => address.toBuffer())])
}

it('the simulation includes accounts of lookup tables, and refuses an unusable table', async () => {
  const started = await start()
  const { service, chain, payer } = started
  const [key, idle, to] = mapped([Keypair, Keypair, Keypair], (kind) => kind.generate().publicKey)
  const table = new AddressLookupTableAccount({
    key,
    state: {
      deactivationSlot: 2n ** 64n - 1n,
      lastExtendedSlot: 0,
      lastExtendedSlotStartIndex: 0,
      addresses: [idle, to],
    },
  })
  const message = new TransactionMessage({
    payerKey: payer.publicKey,
    recentBlockhash: OLD_BLOCKHASH,
    instructions: [SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: to, lamports: 3_000_000 })],
  }).compileToV0Message([table])
  expect(message.addressTableLookups).toHaveLength(1)
  const build = new VersionedTransaction(message)
  const absent = await simulate(service, base64(build.serialize()))
  expect(absent.status).toBe(400)
  expect(absent.json.error).toMatchObject({ code: 'bad_request', param: 'transaction' })
  expect(absent.json.error.message).toContain("Transaction loads an address table account that doesn't exist")

  const data = tableData([idle, to])
  chain.setAccount(key.toBase58(), { lamports: 10n ** 9n, owner: LOOKUP_TABLE_PROGRAM, data, executable: false })
  const { json } = await simulate(service, base64(build.serialize()))
  expect(json.data.err).toBeNull()
  expect(json.data.balance_changes).toEqual([
    lamportsRow(payer.publicKey, 1_000_000_000n, 996_995_000n),
    lamportsRow(to, 0n, 3_000_000n, { created: true }),
  ])
  await landsAsSaid(started, build, [payer], json.data.balance_changes)
})

/** The chain's own JSON-RPC, with the answers to one method changed. */
async function connectionWhere(service: Service, method: string, change: (answer: string) => string) {
  const send = localFetch(await service.services.chain.rpc())
  const altered = async (input: string | URL | Request, init?: RequestInit) => {
    const response = await send(input, init)
    return String(init?.body).includes(`"${method}"`) ? new Response(change(await response.text())) : response
  }
  return testNode('http://embedded.test', { fetch: altered as typeof fetch, commitment: 'confirmed' })
}

it('the simulation has a null fee if the node cannot tell it, and fails if the node hides changes', async () => {
  const { service, payer } = await start()
  const decoded = decodeTransaction(base64(unsigned(payer, [memo('a')]).serialize()))
  const unwilling = await connectionWhere(
    service,
    'getFeeForMessage',
    () => '{"jsonrpc":"2.0","id":"1","error":{"code":-32601,"message":"Method not found"}}',
  )
  expect(await simulateDecoded(unwilling, decoded)).toMatchObject({
    err: null,
    fee: null,
    balance_changes: [{ change: '-5000' }],
  })
  const hiding = await connectionWhere(service, 'simulateTransaction', (text) => {
    const answer = JSON.parse(text)
    answer.result.value.accounts = null
    return JSON.stringify(answer)
  })
  await expect(simulateDecoded(hiding, decoded)).rejects.toMatchObject({ code: 'internal_error' })
})

const key = (byte: number) => new PublicKey(Buffer.alloc(32, byte))

function tokenAccount(mint: PublicKey, amount: bigint, { delegate = 0, closeAuthority = 0 } = {}) {
  const data = Buffer.alloc(spl.ACCOUNT_SIZE)
  spl.AccountLayout.encode(
    {
      mint,
      owner: key(9),
      amount,
      delegateOption: delegate === 0 ? 0 : 1,
      delegate: key(delegate),
      state: 1,
      isNativeOption: 0,
      isNative: 0n,
      delegatedAmount: 0n,
      closeAuthorityOption: closeAuthority === 0 ? 0 : 1,
      closeAuthority: key(closeAuthority),
    },
    data,
  )
  return { lamports: 7n, owner: spl.TOKEN_PROGRAM_ID.toBase58(), data, executable: false }
}

it('the simulation names who may move the tokens and the lamports of a token account', () => {
  expect(decodeTokenAccount(tokenAccount(key(1), 5n, { delegate: 2, closeAuthority: 3 }))).toMatchObject({
    mint: key(1).toBase58(),
    owner: key(9).toBase58(),
    amount: 5n,
    delegate: key(2).toBase58(),
    closeAuthority: key(3).toBase58(),
  })
  expect(decodeTokenAccount(tokenAccount(key(1), 5n))).toMatchObject({ delegate: null, closeAuthority: null })
  expect(decodeTokenAccount({ ...tokenAccount(key(1), 5n), owner: SYSTEM_PROGRAM })).toBeNull()
})

it('the simulation shows a token account that changes its mint as a loss and a gain', () => {
  const rows = balanceChanges(['a'], [tokenAccount(key(1), 5n)], [tokenAccount(key(2), 6n)])
  expect(rows).toMatchObject([
    { mint: key(1).toBase58(), before: '5', after: '0', change: '-5', created: false, closed: true },
    { mint: key(2).toBase58(), before: '0', after: '6', change: '6', created: true, closed: false },
  ])
})

it('the simulation has a row for exactly the changed balances, whatever the accounts contain', () => {
  const account = fc.option(
    fc.record({
      lamports: fc.bigInt(0n, 3n).map((n) => n * 2n ** 62n),
      owner: fc.constantFrom(SYSTEM_PROGRAM, spl.TOKEN_PROGRAM_ID.toBase58(), spl.TOKEN_2022_PROGRAM_ID.toBase58()),
      data: fc.oneof(
        fc.uint8Array({ maxLength: 400 }),
        fc.uint8Array({ minLength: 165, maxLength: 165 }),
        fc.bigInt(0n, 2n).map((amount) => tokenAccount(key(1), amount).data as Uint8Array),
      ),
      executable: fc.boolean(),
    }),
  )
  fc.assert(
    fc.property(fc.array(fc.tuple(account, account), { maxLength: 5 }), (pairs) => {
      const addresses = pairs.map((_, i) => `${i}`)
      const [before, after] = [pairs.map(([a]) => a), pairs.map(([, b]) => b)]
      const rows = balanceChanges(addresses, before, after)
      const moved = addresses.filter((_, i) => (before[i]?.lamports ?? 0n) !== (after[i]?.lamports ?? 0n))
      expect(rows.filter(({ mint }) => mint === null).map(({ address }) => address)).toEqual(moved)
      for (const row of rows) {
        expect(BigInt(row.after) - BigInt(row.before)).toBe(BigInt(row.change))
        expect(row.change).not.toBe('0')
        expect(row.created && row.closed).toBe(false)
      }
      expect(balanceChanges(addresses, before, before)).toEqual([])
    }),
  )
})
