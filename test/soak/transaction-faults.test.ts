/** Submitted transactions over a node that fails in every way: each has one effect and one true end, or a clear error. */
import { createHash } from 'node:crypto'
import { base58 } from '@scure/base'
import {
  ComputeBudgetProgram,
  Keypair,
  NONCE_ACCOUNT_LENGTH,
  type PublicKey,
  SystemProgram,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { followTransactions } from '../../src/operations/transactions/follow-transactions.ts'
import { TransactionRefused } from '../../src/solana/execution.ts'
import { count, FAULTS, type Fault, type FaultyService, faultsOf, startFaultyService } from '../support/faulty-node.ts'
import { SOL } from '../support/local-chain.ts'
import { randomOf } from '../support/random.ts'
import type { Answer } from '../support/request.ts'
import { soakRuns } from '../support/runs.ts'

const SCHEDULES = soakRuns(40, 120)
const FIRST_SEED = 20_260_601
const STEPS = 40

type Random = ReturnType<typeof randomOf>

interface Nonce {
  account: PublicKey
  owner: Keypair
}

interface Transfer {
  raw: Uint8Array
  text: string
  signature: string
  to: string
  lamports: bigint
  /** Resource of the hint. */
  order: string
  body: Record<string, unknown>
  headers: Record<string, string>
  /** Set for one on a durable nonce. */
  nonce?: Nonce
  answers: Answer[]
}

const keyOf = (text: string) => Keypair.fromSeed(createHash('sha256').update(text).digest())
const signatureOf = ({ signatures }: VersionedTransaction) => base58.encode(signatures[0]!)

function signed(instructions: TransactionInstruction[], signers: Keypair[], recentBlockhash: string) {
  const message = new TransactionMessage({ payerKey: signers[0]!.publicKey, recentBlockhash, instructions })
  const transaction = new VersionedTransaction(message.compileToV0Message())
  transaction.sign(signers)
  return transaction
}

/** Makes a nonce account on the chain, past the node. */
function makeNonce({ chain }: FaultyService, payer: Keypair, name: string): Nonce {
  const account = keyOf(name)
  const lamports = Number(chain.minimumBalance(NONCE_ACCOUNT_LENGTH))
  const { instructions } = SystemProgram.createNonceAccount({
    fromPubkey: payer.publicKey,
    noncePubkey: account.publicKey,
    authorizedPubkey: payer.publicKey,
    lamports,
  })
  const { blockhash } = chain.latestBlockhash()
  expect(chain.send(signed(instructions, [payer, account], blockhash).serialize()).err).toBeNull()
  return { account: account.publicKey, owner: payer }
}

const nonceValue = ({ chain }: FaultyService, { account }: Nonce) =>
  base58.encode(chain.account(account.toBase58())!.data.subarray(40, 72))

const advancing = ({ account, owner }: Nonce) =>
  SystemProgram.nonceAdvance({ noncePubkey: account, authorizedPubkey: owner.publicKey })

/** A nonce moves once in a slot. */
function moveNonce({ chain, clock }: FaultyService, nonce: Nonce): void {
  clock.advance(chain.slotMs())
  const { blockhash } = chain.latestBlockhash()
  expect(chain.send(signed([advancing(nonce)], [nonce.owner], blockhash).serialize()).err).toBeNull()
}

/** A later transaction of the payer, past the node: its history then shows what was in no block before. */
function actLater({ chain }: FaultyService, payer: Keypair): void {
  const { blockhash } = chain.latestBlockhash()
  const nothing = ComputeBudgetProgram.setComputeUnitLimit({ units: 1_000 })
  expect(chain.send(signed([nothing], [payer], blockhash).serialize()).err).toBeNull()
}

interface TransferOptions {
  payer: Keypair
  name: string
  lamports?: bigint
  blockhash?: string
  nonce?: Nonce
  body?: Record<string, unknown>
  key?: string
}

function makeTransfer(service: FaultyService, options: TransferOptions): Transfer {
  const { payer, name, lamports = SOL / 100n, nonce, body = {}, key } = options
  const to = keyOf(`${name} to`).publicKey
  const move = SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: to, lamports })
  const blockhash = nonce
    ? nonceValue(service, nonce)
    : (options.blockhash ?? service.chain.latestBlockhash().blockhash)
  const transaction = signed(nonce ? [advancing(nonce), move] : [move], [payer], blockhash)
  const raw = transaction.serialize()
  const text = Buffer.from(raw).toString('base64')
  const order = `order of ${name}`
  const tracked_resource = { resource_type: 'order', resource_id: order, related_events: ['token.created'] }
  return {
    raw,
    text,
    signature: signatureOf(transaction),
    to: to.toBase58(),
    lamports,
    order,
    body: { transaction: text, tracked_resource, ...body },
    headers: key === undefined ? {} : { 'idempotency-key': key },
    ...(nonce ? { nonce } : {}),
    answers: [],
  }
}

async function submit({ request }: FaultyService, transfer: Transfer, headers = transfer.headers): Promise<Answer> {
  const answer = await request('POST', '/v2/transactions', { body: transfer.body, headers })
  transfer.answers.push(answer)
  return answer
}

const read = async ({ request }: FaultyService, { signature }: Pick<Transfer, 'signature'>) =>
  (await request('GET', `/v2/transactions/${signature}`)).json.data

const UNCLEAR =
  /undefined|\[object |\bat .+:\d+|TypeError|destructure|Cannot read|is not iterable|TOPSECRET|api-key|<html|Something went wrong/i

/** What people read of an error: one sentence that says what went wrong, and neither code nor credentials. */
function expectClear(message: unknown): void {
  expect(message).toEqual(expect.any(String))
  expect(String(message).length).toBeGreaterThan(10)
  expect(message).not.toMatch(UNCLEAR)
}

function expectClearAnswer({ status, json, text }: Answer, signature: string): void {
  if (status === 200) {
    expect(json.data.signature).toBe(signature)
    return
  }
  expect([400, 409, 500]).toContain(status)
  expect(json.error.code).toBe({ 400: 'bad_request', 409: 'conflict', 500: 'internal_error' }[status])
  expectClear(json.error.message)
  expect(text).not.toContain('TOPSECRET')
}

interface Followed {
  signature: string
  lifecycle: string
  err_json: string | null
  next_check_at: number | null
  next_send_at: number | null
}

const rowsOf = ({ services }: FaultyService): Promise<Followed[]> =>
  services.store.db
    .selectFrom('transactions')
    .select(['signature', 'lifecycle', 'err_json', 'next_check_at', 'next_send_at'])
    .execute()

const eventsOf = async ({ services }: FaultyService) =>
  services.store.db.selectFrom('events').select(['type', 'resource_id']).orderBy('sequence').execute()

/** A round as the worker runs it: a fault of the node ends it, and the next one starts over. */
async function round({ services }: FaultyService): Promise<void> {
  await followTransactions(services).catch((error) => expectClear((error as Error).message))
}

const ORDER = ['submitted', 'processing', 'confirmed', 'finalized']
const EXPIRIES = ['"BlockhashExpired"', '"NonceAdvanced"']

/** Compares every record with the chain the moment that it says something new. */
function watcherOf(service: FaultyService) {
  const { chain } = service
  const last = new Map<string, string>()
  const dead = new Set<string>()
  chain.subscribe({
    landed({ signature }) {
      if (dead.has(signature)) late.push(signature)
    },
  })
  const late: string[] = []
  return {
    /** Those that landed after they had been called expired. */
    late,
    async check(): Promise<void> {
      for (const { signature, lifecycle, err_json } of await rowsOf(service)) {
        const said = `${lifecycle} ${err_json}`
        if (last.get(signature) === said) continue
        // Only what was merely processed can be dropped here: a lagging node must not take anything further back.
        const [before = 'submitted'] = (last.get(signature) ?? '').split(' ')
        if (ORDER.indexOf(before) >= 2) expect(ORDER.indexOf(lifecycle)).toBeGreaterThanOrEqual(ORDER.indexOf(before))
        last.set(signature, said)
        const landed = chain.transaction(signature)
        if (EXPIRIES.includes(String(err_json))) {
          expect([lifecycle, landed]).toEqual(['failed', null])
          dead.add(signature)
        } else if (lifecycle === 'failed') {
          expect(JSON.stringify(landed?.err)).toBe(err_json)
        } else if (lifecycle === 'confirmed' || lifecycle === 'finalized') {
          expect(landed?.err).toBeNull()
          expect(landed!.slot).toBeLessThanOrEqual(chain.slot(lifecycle))
        }
      }
    },
  }
}

/**
 * Lets a node without faults settle everything. Alone it cannot prove that a transaction is in no block, so the payer acts
 * once every blockhash has expired. Nonces that nothing moves are moved after a while.
 */
async function settle(
  service: FaultyService,
  { payer, nonces, check }: { payer: Keypair; nonces: Nonce[]; check: () => Promise<void> },
): Promise<void> {
  for (let i = 0; i < 60; i++) {
    if ((await rowsOf(service)).every(({ next_check_at }) => next_check_at === null)) return
    if (i === 15) actLater(service, payer)
    if (i === 30) for (const nonce of nonces) moveNonce(service, nonce)
    service.clock.advance(10_000)
    await followTransactions(service.services)
    await check()
  }
  expect((await rowsOf(service)).filter(({ next_check_at }) => next_check_at !== null)).toEqual([])
}

async function expectTrueEnds(service: FaultyService, transfers: readonly Transfer[]): Promise<void> {
  const { chain, node } = service
  const rows = new Map((await rowsOf(service)).map((row) => [row.signature, row]))
  const events = await eventsOf(service)
  const typesOf = (id: string) => events.filter(({ resource_id }) => resource_id === id).map(({ type }) => type)
  for (const transfer of transfers) {
    const { signature, to, lamports, order, answers, raw } = transfer
    const landed = chain.transaction(signature)
    const works = landed !== null && landed.err === null
    const row = rows.get(signature)
    expect(chain.account(to)?.lamports ?? 0n).toBe(works ? lamports : 0n)
    if (answers.some(({ status }) => status === 200)) expect(row).toBeDefined()
    if (row === undefined) {
      expect([landed, typesOf(signature), typesOf(order)]).toEqual([null, [], []])
      expect((await read(service, transfer)).lifecycle).toBe('unknown')
      continue
    }
    expect([row.next_check_at, row.next_send_at]).toEqual([null, null])
    const record = await read(service, transfer)
    const types = typesOf(signature)
    expect(typesOf(order)).toEqual(works ? ['token.created'] : [])
    if (landed === null) {
      expect(record).toMatchObject({ lifecycle: 'failed', err: transfer.nonce ? 'NonceAdvanced' : 'BlockhashExpired' })
      expect(types).toEqual(['transaction.submitted', 'transaction.failed'])
      // Nobody can make it land any more, whoever kept its bytes.
      expect(() => chain.send(raw)).toThrow(TransactionRefused)
    } else if (works) {
      expect(record).toMatchObject({ lifecycle: 'finalized', err: null, slot: landed.slot })
      expect(types).toEqual(['transaction.submitted', 'transaction.confirmed', 'transaction.finalized'])
    } else {
      expect(record).toMatchObject({ lifecycle: 'failed', err: landed.err, slot: landed.slot })
      expect(types).toEqual(['transaction.submitted', 'transaction.failed'])
    }
  }
  const texts = new Set(transfers.map(({ text }) => text))
  expect([...node.sent.keys()].filter((text) => !texts.has(text))).toEqual([])
  const known = new Set(transfers.map(({ signature }) => signature))
  expect([...rows.keys()].filter((signature) => !known.has(signature))).toEqual([])
}

const DROPPED = 'a fork dropped a transaction'

function expectQuietLog({ chain, logged }: FaultyService): void {
  for (const { fields, message } of logged) {
    if (message === DROPPED) expect(chain.transaction(String(fields.signature))?.slot).not.toBe(fields.slot)
    expectClear(message)
    const { err } = fields as { err?: Error }
    expect(`${err?.message ?? ''} ${JSON.stringify({ ...fields, err: undefined })}`).not.toMatch(UNCLEAR)
  }
}

const totals = {
  faults: new Map<Fault, number>(),
  ends: new Map<string, number>(),
  answers: new Map<string, number>(),
}

/** Each schedule meets some of the faults, from seldom to nearly always. */
function faultsBy(random: Random): (method: string) => Fault | undefined {
  const rate = random.pick([0.05, 0.2, 0.4, 0.6, 0.9])
  const share = random.pick([0.2, 0.5, 1])
  const chosen = new Map<Fault, boolean>()
  const isChosen = (fault: Fault) => {
    if (!chosen.has(fault)) chosen.set(fault, random.chance(share))
    return chosen.get(fault)!
  }
  return (method) => {
    if (!random.chance(rate)) return undefined
    const faults = faultsOf(method).filter(isChosen)
    return faults.length === 0 ? undefined : random.pick(faults)
  }
}

async function run(seed: number): Promise<void> {
  const random = randomOf(seed)
  const service = await startFaultyService()
  const { chain, clock, node } = service
  const payer = keyOf(`payer ${seed}`)
  chain.airdrop(payer.publicKey.toBase58(), 10n * SOL)
  const nonces = [0, 1].map((i) => makeNonce(service, payer, `nonce ${i} of ${seed}`))
  clock.advance(20_000)
  const before = new Set(chain.signaturesFor(payer.publicKey.toBase58(), { limit: 1000 }).map((one) => one.signature))
  const watcher = watcherOf(service)
  const transfers: Transfer[] = []
  node.decide = faultsBy(random)

  const makeNext = async () => {
    const i = transfers.length
    const fails = random.chance(0.15)
    const nonce = i < nonces.length && random.chance(0.5) ? nonces[i] : undefined
    const asked = service.services.chain.call<{ value: { blockhash: string } }>('getLatestBlockhash', [])
    const blockhash = await asked.then(
      (answer) => answer?.value?.blockhash,
      () => undefined,
    )
    const transfer = makeTransfer(service, {
      payer,
      name: `transfer ${i} of ${seed}`,
      lamports: fails ? 1_000n * SOL : BigInt(random.between(1_000_000, 20_000_000)),
      ...(nonce ? { nonce } : {}),
      ...(blockhash === undefined ? {} : { blockhash }),
      ...(random.chance(0.5) ? { key: `key ${i}` } : {}),
      body: { skip_preflight: fails || random.chance(0.4), max_retries: random.pick([0, 0, 2, 10]) },
    })
    transfers.push(transfer)
    return transfer
  }
  /** As a client does it: the same bytes again after a 409 or 500, for a while. */
  const submitPatiently = async (transfer: Transfer) => {
    for (let tries = random.between(1, 4); tries > 0; tries--) {
      const answer = await submit(service, transfer)
      expectClearAnswer(answer, transfer.signature)
      if (answer.status < 409) return
      clock.advance(random.between(0, 3_000))
    }
  }
  const submitAtOnce = async (transfer: Transfer) => {
    const headers = [transfer.headers, transfer.headers, {}]
    const answers = await Promise.all(headers.map((one) => submit(service, transfer, one)))
    for (const answer of answers) expectClearAnswer(answer, transfer.signature)
  }

  for (let step = 0; step < STEPS; step++) {
    const which = random.next()
    const some = transfers.length === 0 ? undefined : random.pick(transfers)
    if (some === undefined || (which < 0.15 && transfers.length < 6)) {
      const next = await makeNext()
      await (random.chance(0.2) ? submitAtOnce(next) : submitPatiently(next))
    } else if (which < 0.25) await submitPatiently(some)
    else if (which < 0.4) {
      const answer = await service.request('GET', `/v2/transactions/${some.signature}`)
      if (answer.status !== 200) expectClearAnswer(answer, some.signature)
    } else if (which < 0.75) await round(service)
    else if (which < 0.78) await Promise.all([round(service), round(service), read(service, some)])
    else if (which < 0.8 && some.nonce) moveNonce(service, some.nonce)
    else if (which < 0.83) node.lag = node.lag === 0 ? 50 : 0
    else if (which < 0.86) clock.advance(random.between(20_000, 60_000))
    else clock.advance(random.between(200, 8_000))
    await watcher.check()
    if (random.chance(0.5)) clock.advance(random.between(200, 4_000))
  }

  node.decide = () => undefined
  node.lag = 0
  await settle(service, { payer, nonces, check: watcher.check })
  await expectTrueEnds(service, transfers)
  expect(watcher.late).toEqual([])
  const landed = chain.signaturesFor(payer.publicKey.toBase58(), { limit: 1000 }).map((one) => one.signature)
  const stored = new Set((await rowsOf(service)).map(({ signature }) => signature))
  const moves = landed.filter((signature) => !before.has(signature) && transfersIn(service, signature) > 0)
  expect(moves.filter((signature) => !stored.has(signature))).toEqual([])
  expect(new Set(moves).size).toBe(moves.length)
  expectQuietLog(service)
  for (const [fault, times] of node.counts) totals.faults.set(fault, (totals.faults.get(fault) ?? 0) + times)
  for (const { lifecycle, err_json } of await rowsOf(service))
    count(totals.ends, `${lifecycle} ${err_json ?? ''}`.trim())
  for (const { answers } of transfers) for (const { status } of answers) count(totals.answers, String(status))
}

/** System transfers of one transaction that has landed. */
const transfersIn = ({ chain }: FaultyService, signature: string) =>
  VersionedTransaction.deserialize(chain.transaction(signature)!.raw).message.compiledInstructions.filter(
    ({ data }) => data.length === 12 && data[0] === 2,
  ).length

describe('with a node that fails at random,', () => {
  for (let i = 0; i < SCHEDULES; i++) {
    const seed = FIRST_SEED + i
    it(`each transfer has one effect and one true end, or a clear error (seed ${seed})`, () => run(seed))
  }

  it('each fault and each end has occurred', () => {
    expect(FAULTS.filter((fault) => (totals.faults.get(fault) ?? 0) < soakRuns(2, 8))).toEqual([])
    expect([...totals.ends.keys()].filter((end) => end !== 'finalized' && !end.startsWith('failed'))).toEqual([])
    expect(totals.ends.get('finalized')).toBeGreaterThan(SCHEDULES)
    expect(totals.ends.get('failed "BlockhashExpired"')).toBeGreaterThan(soakRuns(0, 5))
    expect(totals.ends.get('failed "NonceAdvanced"') ?? 0).toBeGreaterThanOrEqual(soakRuns(0, 1))
    expect([...totals.answers.keys()].sort()).toEqual(['200', '400', '409', '500'])
  })
})

async function startWithPayer() {
  const service = await startFaultyService()
  const payer = Keypair.generate()
  service.chain.airdrop(payer.publicKey.toBase58(), 10n * SOL)
  return { service, payer, ...service }
}

const noSend = (method: string): Fault | undefined => (method === 'sendTransaction' ? 'dropped send' : undefined)

/** Lets time pass in steps of two seconds, with a round at each. */
async function pass(service: FaultyService, seconds: number, check: () => Promise<void> = async () => {}) {
  for (let at = 0; at < seconds; at += 2) {
    service.clock.advance(2_000)
    await followTransactions(service.services)
    await check()
  }
}

const typesOf = async (service: FaultyService, id: string) =>
  (await eventsOf(service)).filter(({ resource_id }) => resource_id === id).map(({ type }) => type)

describe('a node that is 50 slots behind', () => {
  it.each([
    ['all the time', 50, 50],
    ['when the transaction is submitted, and not later', 50, 0],
    ['only after the transaction was submitted', 0, 50],
  ])('%s, does not make a transaction fail that lands in the last slot of its blockhash', async (_, first, then) => {
    const { service, chain, clock, node, payer } = await startWithPayer()
    const watcher = watcherOf(service)
    const transfer = makeTransfer(service, { payer, name: 'late', body: { skip_preflight: true } })
    const born = chain.slot()
    node.decide = noSend
    node.lag = first
    expect((await submit(service, transfer)).status).toBe(200)
    await pass(service, 2, watcher.check)
    node.lag = then
    const asked = () => node.asked.get('isBlockhashValid') ?? 0
    while (chain.slot() < born + 148) await pass(service, 2, watcher.check)
    clock.advance((born + 150 - chain.slot()) * chain.slotMs())
    expect(chain.send(transfer.raw).err).toBeNull()
    // The service has not heard of it, and asks at once whether it is over.
    await pass(service, 60, watcher.check)
    expect(await read(service, transfer)).toMatchObject({ lifecycle: 'finalized', err: null })
    expect(await typesOf(service, transfer.signature)).toEqual([
      'transaction.submitted',
      'transaction.confirmed',
      'transaction.finalized',
    ])
    expect(asked()).toBe(0)
  })

  it('refuses a fresh blockhash with a clear message, and nothing is stored', async () => {
    const { service, node, payer } = await startWithPayer()
    const transfer = makeTransfer(service, { payer, name: 'early' })
    node.lag = 50
    const answer = await submit(service, transfer)
    expect(answer.status).toBe(400)
    expectClear(answer.json.error.message)
    expect(answer.json.error.details.err).toBe('BlockhashNotFound')
    expect(await rowsOf(service)).toEqual([])
    node.lag = 0
    expect((await submit(service, transfer)).status).toBe(200)
    await pass(service, 20)
    expect((await read(service, transfer)).lifecycle).toBe('finalized')
  })

  it('does not let a transaction expire until it has caught up', async () => {
    const { service, chain, node, payer } = await startWithPayer()
    const watcher = watcherOf(service)
    const transfer = makeTransfer(service, { payer, name: 'gone', body: { skip_preflight: true } })
    node.decide = noSend
    node.lag = 50
    expect((await submit(service, transfer)).status).toBe(200)
    const from = chain.slot()
    const lifecycle = async () => (await rowsOf(service))[0]!.lifecycle
    while ((await lifecycle()) === 'submitted' && chain.slot() - from < 500) {
      actLater(service, payer)
      await pass(service, 2, watcher.check)
    }
    expect(await read(service, transfer)).toMatchObject({ lifecycle: 'failed', absence: 'proven' })
    expect(chain.slot() - from).toBeGreaterThan(150 + 32 + 50)
    expect(chain.slot() - from).toBeLessThan(500)
    expect(() => chain.send(transfer.raw)).toThrow(TransactionRefused)
  })
})

describe('a fork that drops a confirmed transaction', () => {
  const start = async () => {
    const started = await startWithPayer()
    const { service, chain, node, payer } = started
    const transfer = makeTransfer(service, { payer, name: 'forked' })
    node.decide = noSend
    expect((await submit(service, transfer)).status).toBe(200)
    node.haunt(transfer.signature, 'confirmed', 20)
    await pass(service, 2)
    expect(await read(service, transfer)).toMatchObject({ lifecycle: 'confirmed', slot: chain.slot() - 5 })
    return { ...started, transfer }
  }
  const warnings = ({ logged }: FaultyService) =>
    logged.filter(({ level, message }) => level === 'warn' && message === DROPPED)

  it('is logged once the history of its payer shows it; it is sent again and confirmed with one event', async () => {
    const { service, chain, node, payer, transfer } = await start()
    node.decide = (method) => (method === 'sendTransaction' ? 'timeout' : undefined)
    await pass(service, 16)
    // One node that does not know it any more proves nothing.
    expect(await read(service, transfer)).toMatchObject({ lifecycle: 'confirmed' })
    expect(warnings(service)).toEqual([])
    actLater(service, payer)
    await pass(service, 20)
    expect(await read(service, transfer)).toMatchObject({ lifecycle: 'submitted', confirmation_status: null, slot: 0 })
    expect(warnings(service).map(({ fields }) => fields.signature)).toEqual([transfer.signature])
    expect(chain.transaction(transfer.signature)).toBeNull()
    node.decide = () => undefined
    await pass(service, 40)
    expect(chain.transaction(transfer.signature)?.err).toBeNull()
    expect(chain.account(transfer.to)?.lamports).toBe(transfer.lamports)
    expect((await read(service, transfer)).lifecycle).toBe('finalized')
    expect(await typesOf(service, transfer.signature)).toEqual([
      'transaction.submitted',
      'transaction.confirmed',
      'transaction.finalized',
    ])
    expect(await typesOf(service, transfer.order)).toEqual(['token.created'])
    expect(warnings(service)).toHaveLength(1)
  })

  it('for good makes it fail once its blockhash has expired', async () => {
    const { service, chain, payer, transfer } = await start()
    await pass(service, 160)
    expect(await read(service, transfer)).toMatchObject({ lifecycle: 'confirmed' })
    actLater(service, payer)
    await pass(service, 40)
    expect(await read(service, transfer)).toMatchObject({ lifecycle: 'failed', err: 'BlockhashExpired', slot: 0 })
    expect(chain.transaction(transfer.signature)).toBeNull()
    expect(() => chain.send(transfer.raw)).toThrow(TransactionRefused)
    expect(await typesOf(service, transfer.signature)).toEqual([
      'transaction.submitted',
      'transaction.confirmed',
      'transaction.failed',
    ])
    expect(warnings(service)).toHaveLength(1)
  })
})

describe('a transaction on a durable nonce', () => {
  const start = async () => {
    const started = await startWithPayer()
    const { service, clock, node, payer } = started
    const nonce = makeNonce(service, payer, 'a nonce')
    clock.advance(60_000)
    const transfer = makeTransfer(service, { payer, name: 'durable', nonce })
    node.decide = noSend
    expect((await submit(service, transfer)).status).toBe(200)
    return { ...started, transfer, nonce, watcher: watcherOf(service) }
  }

  it('fails with NonceAdvanced once the advance of its nonce is final', async () => {
    const { service, chain, transfer, nonce, watcher } = await start()
    await pass(service, 130, watcher.check)
    expect((await read(service, transfer)).lifecycle).toBe('submitted')
    moveNonce(service, nonce)
    await pass(service, 10, watcher.check)
    expect((await read(service, transfer)).lifecycle).toBe('submitted')
    await pass(service, 10, watcher.check)
    expect(await read(service, transfer)).toMatchObject({ lifecycle: 'failed', err: 'NonceAdvanced', slot: 0 })
    expect(await typesOf(service, transfer.signature)).toEqual(['transaction.submitted', 'transaction.failed'])
    expect(() => chain.send(transfer.raw)).toThrow(TransactionRefused)
  })

  it.each([
    ['then not', 1],
    ['at the last look too', 100],
  ])('that has landed does not expire if the node is behind at the first look, %s', async (_, looks) => {
    const { service, chain, clock, node, transfer, watcher } = await start()
    await pass(service, 130, watcher.check)
    expect(chain.send(transfer.raw).err).toBeNull()
    // Its own landing has moved the nonce, and that is final; a node 50 slots behind has not seen the landing.
    clock.advance(40 * chain.slotMs())
    let left = looks
    node.decide = (method) => (method === 'getSignatureStatuses' && left-- > 0 ? 'behind' : noSend(method))
    await round(service)
    await watcher.check()
    expect(node.asked.get('getMultipleAccounts')).toBeGreaterThan(0)
    node.decide = noSend
    await pass(service, 10, watcher.check)
    expect(await read(service, transfer)).toMatchObject({ lifecycle: 'finalized', err: null })
  })

  it('is sent beyond the time of any blockhash while its nonce stays, and lands', async () => {
    const { service, chain, node, transfer, watcher } = await start()
    await pass(service, 600, watcher.check)
    expect((await read(service, transfer)).lifecycle).toBe('submitted')
    expect(node.sent.get(transfer.text)).toBeGreaterThan(15)
    node.decide = () => undefined
    await pass(service, 250, watcher.check)
    expect(chain.transaction(transfer.signature)?.err).toBeNull()
    expect(await read(service, transfer)).toMatchObject({ lifecycle: 'finalized', err: null })
    expect(chain.account(transfer.to)?.lamports).toBe(transfer.lamports)
  })
})

describe('a transaction with max_retries 0', () => {
  it.each<[string, Fault[]]>([
    ['at the first attempt', []],
    ['after the node could not be reached', ['reset']],
    ['after three attempts that failed', ['timeout', 'http 500', 'node unhealthy']],
  ])('is sent until a node accepts it, %s, and never again', async (_, failures) => {
    const { service, node, payer } = await startWithPayer()
    const transfer = makeTransfer(service, { payer, name: 'once', body: { max_retries: 0 } })
    const left = [...failures]
    node.decide = (method) => (method === 'sendTransaction' ? (left.shift() ?? 'dropped send') : undefined)
    expect((await submit(service, transfer)).status).toBe(200)
    expect(node.asked.get('sendTransaction')).toBe(1)
    await pass(service, 60)
    expect([node.asked.get('sendTransaction'), node.sent.get(transfer.text)]).toEqual([failures.length + 1, 1])
    node.decide = () => undefined
    await pass(service, 100)
    expect(node.asked.get('sendTransaction')).toBe(failures.length + 1)
    expect(await read(service, transfer)).toMatchObject({ lifecycle: 'submitted', err: null, absence: 'unproven' })
    actLater(service, payer)
    await pass(service, 20)
    expect(await read(service, transfer)).toMatchObject({ lifecycle: 'failed', err: 'BlockhashExpired' })
    expect(node.asked.get('sendTransaction')).toBe(failures.length + 1)
  })
})
