/** The transaction watcher, on SQLite and on a real PostgreSQL server, and on the embedded chain. */
import { Keypair, SystemProgram, TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createApp } from '../../daemon/app.ts'
import { createMetrics } from '../../daemon/metrics.ts'
import { startWorkers } from '../../daemon/workers/frame.ts'
import { transactionWatcherWorker } from '../../daemon/workers/workers.ts'
import { openChain } from '../../src/chain/connection.ts'
import { postgres, sqlite } from '../store/databases.ts'
import { startPostgres } from '../store/postgres-server.ts'
import { requester } from '../support/request.ts'
import { ORIGIN, START, startService } from '../support/service.ts'
import { handTiming } from './frame-setting.ts'
import { transactionWatcherSuite } from './transaction-watcher-suite.ts'

describe('SQLite', () => transactionWatcherSuite(sqlite))

const server = await startPostgres()
if ('missing' in server) {
  describe('PostgreSQL', () => {
    test.skip(`the transaction watcher: PostgreSQL cannot be run here (${server.missing})`, () => {})
  })
} else {
  describe('PostgreSQL', () => {
    transactionWatcherSuite(postgres(server))
  })
}

describe('on the embedded chain', () => {
  /** The app as `svc serve` puts it together, its frame's time held in the hand. */
  async function start() {
    const { services, clock, operator } = await startService({ settings: { consensus: 'tower' } })
    let reachable = true
    const chain = openChain(services.config, {
      around: (send) => (input, init) =>
        reachable ? send(input, init) : Promise.reject(new Error('connect ECONNREFUSED')),
    })
    onTestFinished(() => chain.close())
    const timing = handTiming(clock)
    const own = { ...services, clock, chain }
    const workers = startWorkers(own, [transactionWatcherWorker], {
      owner: 'watcher',
      metrics: createMetrics(),
      timing,
    })
    const app = await createApp({ ...own, workers: () => workers.status(), wake: (name) => workers.wake(name) })
    onTestFinished(() => app.close())
    const local = await chain.local()
    const payer = Keypair.generate()
    local.airdrop(payer.publicKey.toBase58(), 10_000_000_000n)
    const to = Keypair.generate().publicKey
    const build = () => {
      const instructions = [SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: to, lamports: 1_000_000 })]
      const recentBlockhash = local.latestBlockhash().blockhash
      const message = new TransactionMessage({ payerKey: payer.publicKey, recentBlockhash, instructions })
      const transaction = new VersionedTransaction(message.compileToV0Message())
      transaction.sign([payer])
      return Buffer.from(transaction.serialize()).toString('base64')
    }
    const request = requester(ORIGIN, app.fetch, operator)
    const state = () => workers.status().find(({ name }) => name === transactionWatcherWorker.name)!
    /** The record alone: reading it over the API would look at the chain. */
    const lifecycle = async () =>
      (await services.store.db.selectFrom('transactions').select('lifecycle').executeTakeFirst())?.lifecycle
    // The tick that a start asks for, with nothing to do yet.
    timing.advance(0)
    await expect.poll(() => state().ticks_total).toBe(1)
    const setReachable = (now: boolean) => {
      reachable = now
    }
    return { request, build, workers, timing, clock, local, state, lifecycle, setReachable, to }
  }

  test('a submission wakes the watcher at once, and its schedule brings it to finalized, as the status shows', async () => {
    const it = await start()
    const { status } = await it.request('POST', '/v2/transactions', { body: { transaction: it.build() } })
    expect([status, it.state().ticks_total, await it.lifecycle()]).toEqual([200, 1, 'submitted'])
    // No moment of the schedule has come.
    it.timing.advance(0)
    await expect.poll(() => it.state().ticks_total).toBe(2)
    // Confirmed where a slot has ended meanwhile.
    expect(await it.lifecycle()).toMatch(/^(processing|confirmed)$/)
    it.local.advance(1)
    it.timing.advance(2000)
    it.timing.reach(START + 2000)
    await expect.poll(() => it.state().ticks_total).toBe(3)
    expect(await it.lifecycle()).toBe('confirmed')
    it.local.advance(20)
    it.timing.advance(6000)
    it.timing.reach(START + 8000)
    await expect.poll(() => it.state().ticks_total).toBe(4)
    expect(await it.lifecycle()).toBe('finalized')
    expect(it.local.account(it.to.toBase58())?.lamports).toBe(1_000_000n)
    const { json } = await it.request('GET', '/v2/health/workers')
    expect(json.data.workers).toContainEqual({
      name: 'transaction-watcher',
      running: true,
      healthy: true,
      last_tick_at: new Date(START + 8000).toISOString(),
      ticks_total: 4,
      errors_total: 0,
      last_error: null,
      last_error_at: null,
      stalled_reason: null,
    })
  })

  test('a node that cannot be reached is an error of the tick, and the next healthy one makes up for it', async () => {
    const it = await start()
    it.setReachable(false)
    const body = { transaction: it.build(), skip_preflight: true }
    const { status } = await it.request('POST', '/v2/transactions', { body })
    expect(status).toBe(200)
    for (const errors of [1, 2]) {
      it.timing.advance(2000)
      it.timing.reach(START + errors * 2000)
      await expect.poll(() => it.state().errors_total).toBe(errors)
    }
    expect(it.state()).toMatchObject({ running: true, ticks_total: 1 })
    expect(it.state().last_error).toContain('failed at the RPC node')
    expect(await it.lifecycle()).toBe('submitted')
    it.setReachable(true)
    for (const healthy of [1, 2, 3, 4]) {
      it.timing.advance(4000)
      it.timing.reach(START + 10_000 + healthy * 4000)
      await expect.poll(() => it.state().ticks_total).toBe(1 + healthy)
    }
    expect(it.state().errors_total).toBe(2)
    expect(it.local.account(it.to.toBase58())?.lamports).toBe(1_000_000n)
    expect(await it.lifecycle()).not.toBe('submitted')
  })
})
