/**
 * A cluster that changes from Tower to Alpenglow while transactions are followed, and endpoints that learn of it at
 * different times: no event is lost, none is reported twice, and their order is kept.
 */
import { Keypair, SystemProgram } from '@solana/web3.js'
import { expect, it, onTestFinished } from 'vitest'
import { followTransactions } from '../../src/operations/transactions/follow-transactions.ts'
import { openFaultyCluster } from '../support/faulty-endpoints.ts'
import { SOL } from '../support/local-chain.ts'
import { randomOf } from '../support/random.ts'
import { temporaryFolder } from '../support/service.ts'

const TRANSACTIONS = 100
const SEED = Number(process.env.SVC_SOAK_SEED || 20_261_021)
/** Milliseconds of the cluster's clock: between two transactions, and from the first endpoint's change to the last. */
const [EVERY_MS, DIFFERENT_MS] = [1_200, 60_000]
/** The transaction with which the first endpoint changes. */
const CHANGES_AT = 30

it(`${TRANSACTIONS} transactions have their events once and in order through a change of consensus`, async () => {
  const cluster = await openFaultyCluster(temporaryFolder())
  const { chain, clock, endpoints, wallet, sign } = cluster
  const random = randomOf(SEED)
  let app = await cluster.start()
  onTestFinished(async () => {
    await app.stop()
    await cluster.close()
  })
  const payer = wallet(1_000n * SOL)
  clock.advance(20_000)
  expect((await app.request('GET', '/v2/cluster')).json.data).toMatchObject({
    consensus: 'tower',
    alpenglow_slot: null,
  })

  /** Nodes are some slots apart, as nodes are, and each has its turn, because the others do not answer. */
  async function round(): Promise<void> {
    const sound = random.pick(endpoints)
    for (const endpoint of endpoints) {
      endpoint.node.lag = random.pick([0, 0, 1, 3])
      endpoint.fault = endpoint === sound ? undefined : '503'
    }
    await followTransactions(app.services).catch(() => {})
    for (const endpoint of endpoints) endpoint.fault = undefined
  }
  const looks = () => endpoints.map(({ node }) => node.asked.get('getSignatureStatuses') ?? 0)
  const signatures: string[] = []
  let changedAt = Number.POSITIVE_INFINITY
  let looksBefore = looks()
  for (let n = 0; n < TRANSACTIONS; n++) {
    if (n === CHANGES_AT) {
      changedAt = clock.now()
      looksBefore = looks()
      endpoints[0]!.node.alpenglowSlot = chain.slot()
    }
    // In the minute after it one endpoint shows blocks as final that the others do not, and a daemon starts anew.
    if (n === CHANGES_AT + 20) {
      await app.stop()
      app = await cluster.start()
    }
    if (clock.now() - changedAt >= DIFFERENT_MS && endpoints[1]!.node.alpenglowSlot === null) {
      const during = looks().map((count, i) => count - looksBefore[i]!)
      expect(Math.min(...during), `looks at each endpoint: ${during}`).toBeGreaterThan(5)
      for (const { node } of endpoints) node.alpenglowSlot = endpoints[0]!.node.alpenglowSlot
    }
    const to = Keypair.generate().publicKey
    const raw = sign(
      [SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: to, lamports: 1_000_000 + n })],
      [payer],
    )
    const body = { transaction: Buffer.from(raw).toString('base64') }
    const { status, json, text } = await app.request('POST', '/v2/transactions', { body })
    expect(status, text).toBe(200)
    signatures.push(json.data.signature)
    clock.advance(EVERY_MS)
    await round()
  }
  expect(endpoints.map(({ node }) => node.alpenglowSlot !== null)).toEqual([true, true, true])
  for (let n = 0; n < 20; n++) {
    clock.advance(2_000)
    await round()
  }

  const types: Record<string, string[]> = {}
  for (let cursor = ''; ; ) {
    const { json } = await app.request('GET', `/v2/events?order=asc&limit=100&resource_type=transaction${cursor}`)
    for (const { type, data } of json.data) {
      const { resource_id } = data.object
      types[resource_id] = [...(types[resource_id] ?? []), type]
    }
    if (!json.meta.has_more) break
    cursor = `&cursor=${json.meta.next_cursor}`
  }
  const life = ['transaction.submitted', 'transaction.confirmed', 'transaction.finalized']
  expect(types).toEqual(Object.fromEntries(signatures.map((signature) => [signature, life])))
  for (const signature of signatures) expect(chain.transaction(signature), signature).toMatchObject({ err: null })

  // The consensus is asked for again some minutes after the last time.
  clock.advance(6 * 60_000)
  expect((await app.request('GET', '/v2/cluster')).json.data).toMatchObject({
    consensus: 'alpenglow',
    alpenglow_slot: endpoints[0]!.node.alpenglowSlot,
  })
})
