/** The ledger of raises on the real programs, to the lamport: creation, deposits, refunds, claims, settlements. */
import { randomBytes } from 'node:crypto'
import { serve } from '@hono/node-server'
import { base58 } from '@scure/base'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { LedgerEntry } from '../../src/api/ledger.ts'
import { feeOnTop } from '../../src/chain/programs/presale/index.ts'
import { creatorGains } from '../../src/solana/raise-amounts.ts'
import { commandLine } from '../cli/command-line.ts'
import { FIXED } from '../support/new-raises.ts'
import { lacksRaisePools, type RaiseBooks, raiseBooks, raiseSums } from '../support/raise-books.ts'
import { type PlayedRaise, playRaise } from '../support/raise-mix.ts'
import { randomOf } from '../support/random.ts'
import { runs } from '../support/runs.ts'
import { POOL } from '../support/settled-raises.ts'
import { addressOf, SOL } from '../support/wallets.ts'

const sumOf = (entries: readonly LedgerEntry[]) => entries.reduce((sum, { amount }) => sum + BigInt(amount), 0n)

describe.skipIf(lacksRaisePools !== '')(`the ledger of raises ${lacksRaisePools}`, () => {
  it('has what was sold, deposited, raised and put into the pool', async () => {
    const books = await raiseBooks()
    const { wallet, ok } = books
    const on = await books.token()
    const creator = addressOf(wallet)
    const { id, deposit } = await books.create(on.mint, { ...FIXED, deposit_fee_bps: 100, pool: POOL })
    const final = async (query = '') => {
      for (let i = 0; i < 2; i++) await books.round(40)
      return books.entries(query)
    }
    const sums = (entries: readonly LedgerEntry[], owner: string) => raiseSums(entries, (each) => each.owner === owner)
    expect(sums(await final(), creator)).toEqual({ funding: -BigInt(deposit) })
    const key = on.buyer()
    const act = async (path: string, more: object = {}) => {
      const { transaction } = await ok('POST', `/v2/raises/${id}/${path}`, { buyer: addressOf(key), ...more })
      return final(`&signature=${await books.land(transaction, [key])}`)
    }
    const fee = feeOnTop(2n * SOL, 100)
    const bought = await act('deposits', { amount: String(2n * SOL) })
    expect(sums(bought, addressOf(key))).toEqual({ deposit: -2n * SOL, deposit_fee: -fee })
    expect(bought.filter(({ kind }) => kind === 'raise').map(({ party }) => party)).toEqual(
      expect.arrayContaining(['raise', 'trader']),
    )
    expect(bought.find(({ kind, party }) => kind === 'raise' && party === 'trader')?.counterparty).toBe(id)
    on.end(id)
    for (let i = 0; i < 8; i++) await books.round(60)
    const all = await books.entries()
    expect(sums(all, creator)).toMatchObject({ creator_withdrawal: 2n * SOL, deposit_fee: fee })
    const launched = all.filter(({ kind, party, token }) => kind === 'launch' && party === 'pool' && token === 'SOL')
    expect(sumOf(launched)).toBe(SOL)
    on.at(Number(on.read(id).vestingEndsAt) + 1)
    expect(sums(await act('claims'), addressOf(key))).toEqual({ claim: 1_999_999_999_999n })
  })

  it('misses the event of a pool that was removed, and stores it again', async () => {
    const books = await raiseBooks()
    const { service, ok } = books
    const on = await books.token()
    const { id } = await books.create(on.mint, { ...FIXED, pool: POOL })
    on.buy(id, 2n * SOL)
    on.end(id)
    for (let i = 0; i < 8; i++) await books.round(60)
    expect(await books.eventFaults()).toEqual([])
    const { store } = service.services
    const live = () => store.db.selectFrom('events').selectAll().where('type', '=', 'pool.live').execute()
    const [told] = await live()
    const { resource_id, object_json } = told!
    await store.write((tx) => tx.deleteFrom('events').where('type', '=', 'pool.live').execute())
    const lost = { type: 'pool.live', resource_type: 'pool', resource_id }
    expect(await books.eventFaults()).toEqual([expect.objectContaining(lost)])
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const range = { since: 0, until: 99_999_999_999, ...(cursor && { cursor }) }
      cursor = (await ok('POST', '/v2/event-repairs', range)).next_cursor
    }
    const again = await live()
    expect(again).toMatchObject([lost])
    expect(JSON.parse(again[0]!.object_json)).toMatchObject({ status: 'live', ...pick(object_json) })
    expect(await books.eventFaults()).toEqual([])
  })
})

const pick = (json: string) => {
  const { address, base_mint, creator } = JSON.parse(json)
  return { address, base_mint, creator }
}

/** What the vaults and the wallets of a raise have in the ledger is what the program counts. */
function holdRaise(entries: readonly LedgerEntry[], { id, raise, deposit }: PlayedRaise): void {
  const gains = creatorGains(raise)
  const { deposit: paid = 0n, withdrawal = 0n, ...quote } = raiseSums(entries, (at) => at.account === raise.quoteVault)
  const tokens = raiseSums(entries, (at) => at.account === raise.baseVault)
  const burnt = sumOf(entries.filter(({ kind, account }) => kind === 'burn' && account === raise.baseVault))
  const { deposit_fee = 0n, creator_withdrawal = 0n, refund = 0n } = quote
  expect({ paid: paid + withdrawal, deposit_fee, creator_withdrawal, refund }).toEqual({
    ...{ paid: raise.deposited, deposit_fee: raise.fees - gains.fees },
    ...{ creator_withdrawal: -gains.raised, refund: -raise.refunded },
  })
  const { funding, claim = 0n, unsold = 0n, creator_withdrawal: returned = 0n } = tokens
  expect({ funding, claim, unsold: unsold + burnt, returned }).toEqual({
    ...{ funding: deposit, claim: -raise.claimed, unsold: -gains.unsold, returned: -gains.returned },
  })
  const ofWallets = raiseSums(entries, ({ counterparty }) => counterparty === id)
  expect(ofWallets).toEqual(
    raiseSums(
      entries.map((each) => ({ ...each, amount: String(-BigInt(each.amount)) })),
      ({ account }) => account === raise.quoteVault || account === raise.baseVault,
    ),
  )
}

type Cli = ReturnType<typeof commandLine>

/** Both commands over HTTP: each succeeds, and fails after one row is changed by hand. */
async function holdCommands(cli: Cli, { service }: RaiseBooks, entries: readonly LedgerEntry[]): Promise<void> {
  const { app, operator, services } = service
  const server = serve({ fetch: (request) => app.fetch(request), port: 0, hostname: '127.0.0.1' })
  onTestFinished(() => void server.close())
  await new Promise<void>((done) => server.once('listening', done))
  const api = `http://127.0.0.1:${(server.address() as { port: number }).port}`
  const env = { SVC_API_KEY: operator }
  const run = (...args: string[]) => cli.svc([...args, '-o', 'table', '--api', api], { env })
  const [ledger, events] = [() => run('ledger', 'verify'), () => run('events', 'verify', '--since', '0')]
  for (const verify of [ledger, events]) expect(await verify()).toMatchObject({ exitCode: 0, stderr: '' })
  const { sequence, signature, amount } = entries.find(({ detail }) => detail === 'deposit')!
  const change = { amount: String(BigInt(amount) + 1n) }
  await services.store.write((tx) => tx.updateTable('ledger_entries').set(change).where('seq', '=', sequence).execute())
  const wrong = await ledger()
  expect([wrong.exitCode, wrong.stdout]).toEqual([1, expect.stringContaining(signature)])
  const elsewhere = base58.encode(randomBytes(64))
  await services.store.write(async (tx) => {
    const confirmed = tx.selectFrom('events').select('id').where('type', '=', 'transaction.confirmed')
    const { id } = await confirmed.limit(1).executeTakeFirstOrThrow()
    await tx.updateTable('events').set({ resource_id: elsewhere }).where('id', '=', id).execute()
  })
  const extra = await events()
  expect([extra.exitCode, extra.stdout]).toEqual([1, expect.stringContaining(elsewhere)])
}

/** What the usual seed plays: every way to act and to settle, and each end of a raise. */
const PLAYED = ['deposit', 'withdraw', 'claim', 'refund']
  .flatMap((verb) => [`${verb} through it`, `${verb} past the service`])
  .concat(['deposit through it by the platform wallet', 'claim past the service by the platform wallet'])
  .concat(['worker', 'request', 'creator', 'raw'].map((by) => `settled: ${by}`))
  .concat(['opened', 'claim of another part', 'unsold by a buyer'])

describe.skipIf(lacksRaisePools !== '')(`the ledger of raises ${lacksRaisePools}`, () => {
  const cli = commandLine()
  const options = { tags: 'sampled', timeout: 600_000 }

  it('agrees with the chain after a random mix, through this service and past it', options, async () => {
    const done = new Map<string, number>()
    const first = Number(process.env.SVC_TEST_SEED ?? 49)
    for (let seed = first; seed < first + runs(1, 6); seed++) {
      const books = await raiseBooks()
      const random = randomOf(seed)
      const raises: PlayedRaise[] = []
      for (let number = 0; number < 6; number++)
        raises.push(await playRaise(books, random, number, (what) => done.set(what, (done.get(what) ?? 0) + 1)))
      await books.finish()
      const entries = await books.entries()
      const { accounts, past } = books.holdBalances(entries)
      expect([accounts > 50, past > 5]).toEqual([true, true])
      const whole = raises.filter(({ isWhole }) => isWhole)
      for (const raise of whole) holdRaise(entries, raise)
      expect(await books.ledgerFaults()).toEqual([])
      expect(await books.eventFaults()).toEqual([])
      if (seed === first) await holdCommands(cli, books, entries)
    }
    expect(PLAYED.filter((what) => !done.has(what))).toEqual([])
  })
})
