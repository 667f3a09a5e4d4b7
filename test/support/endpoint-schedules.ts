/** Random schedules of faults at three endpoints, with a few real acts in each: every act has one effect and no false end. */
import { base58 } from '@scure/base'
import { Keypair, SystemProgram, TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import { expect } from 'vitest'
import { followTransactions } from '../../src/operations/transactions/follow-transactions.ts'
import { onFailovers } from '../../src/platform/telemetry/failovers.ts'
import { ENDPOINT_FAULTS, type EndpointFault, type FaultyCluster } from './faulty-endpoints.ts'
import { SOL } from './local-chain.ts'
import { web3Over } from './node.ts'
import { randomOf } from './random.ts'

/** Rounds in which a transaction must be confirmed; one is a few seconds of the service's clock. */
const MOST_ROUNDS = 60
/** Tries of an act while every endpoint may be at fault. */
const MOST_TRIES = 12
/** Slots for which a blockhash must be valid: as long as all tries of a submission take. */
const LEAST_SLOTS_LEFT = 100

export interface ScheduleCounts {
  faults: Map<EndpointFault, number>
  acts: number
  /** Requests that failed and were made again. */
  failed: number
}

/** Runs one schedule; whatever goes wrong names its seed. */
export async function runSchedule(cluster: FaultyCluster, seed: number, counts: ScheduleCounts): Promise<void> {
  const { chain, clock, endpoints } = cluster
  const random = randomOf(seed)
  const where = `seed ${seed}`
  for (const endpoint of endpoints) {
    endpoint.fault = random.chance(0.15) ? 'wrong genesis' : undefined
    endpoint.sent.length = 0
  }
  // Two of one chain are needed to tell which one is meant.
  for (const endpoint of endpoints.slice(1)) if (endpoint.fault !== undefined) endpoint.fault = undefined
  const foreign = endpoints.filter(({ fault }) => fault !== undefined)
  const app = await cluster.start()

  /** Draws new faults; one endpoint stays sound, except in a step without any. */
  function step({ mayFail }: { mayFail: boolean }): void {
    const others = endpoints.filter((endpoint) => !foreign.includes(endpoint))
    const sound = random.pick(others)
    const allFail = mayFail && random.chance(0.1)
    for (const endpoint of others) {
      const isFaulty = endpoint === sound ? allFail : random.chance(0.6)
      endpoint.fault = isFaulty ? random.pick(ENDPOINT_FAULTS.filter((fault) => fault !== 'wrong genesis')) : undefined
      if (endpoint.fault !== undefined) counts.faults.set(endpoint.fault, (counts.faults.get(endpoint.fault) ?? 0) + 1)
    }
    for (const { fault } of foreign)
      if (fault !== undefined) counts.faults.set(fault, (counts.faults.get(fault) ?? 0) + 1)
  }

  /** Repeats an act until it succeeds, as a client does with an internal error. */
  async function act<T>(what: string, run: () => Promise<T>): Promise<T> {
    counts.acts++
    for (let tries = 1; ; tries++) {
      step({ mayFail: true })
      try {
        return await run()
      } catch (error) {
        counts.failed++
        if (tries === MOST_TRIES) throw new Error(`${where}: ${what} failed ${tries} times`, { cause: error })
        expect(String((error as Error).message), where).not.toContain('TOPSECRET')
        clock.advance(1_000)
      }
    }
  }
  const ok = async (answer: ReturnType<typeof app.request>) => {
    const { status, text, json } = await answer
    if (status >= 500) throw new Error(text)
    expect({ status, text }, where).toMatchObject({ status: 200 })
    return json as { data: Record<string, unknown> }
  }

  try {
    const payer = cluster.wallet(10n * SOL)
    // The funds must be final: on a dead fork, an endpoint may be a few slots behind.
    clock.advance(20_000)
    for (let transfer = 0; transfer < 2; transfer++) {
      const to = Keypair.generate().publicKey
      const lamports = 1_000_000 + seed + transfer
      const blockhash = await act('reading a blockhash', async () => {
        const connection = web3Over(app.services.chain)
        const latest = await connection.getLatestBlockhash('confirmed')
        // If only a stale endpoint answers, its blockhash expires before the last try of the submission.
        if (latest.lastValidBlockHeight < chain.slot() + LEAST_SLOTS_LEFT) throw new Error('the blockhash is too old')
        return latest.blockhash
      })
      const instructions = [SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: to, lamports })]
      const message = new TransactionMessage({ payerKey: payer.publicKey, recentBlockhash: blockhash, instructions })
      const transaction = new VersionedTransaction(message.compileToV0Message())
      transaction.sign([payer])
      const wire = Buffer.from(transaction.serialize()).toString('base64')
      const signature = base58.encode(transaction.signatures[0]!)
      await act('submitting', () => ok(app.request('POST', '/v2/transactions', { body: { transaction: wire } })))
      await confirmed(signature)
      const shown = await act('reading an account', () => ok(app.request('GET', `/v2/accounts/${to.toBase58()}`)))
      expect(shown.data, where).toMatchObject({ lamports: String(lamports) })
      for (const { sent } of endpoints)
        for (const bytes of sent) expect(bytes === wire || transfer > 0, where).toBe(true)
      await staysConfirmed(signature)
    }
    for (const endpoint of foreign) expect(endpoint.sent, where).toEqual([])
  } finally {
    await app.stop()
  }

  async function confirmed(signature: string): Promise<void> {
    for (let round = 1; ; round++) {
      step({ mayFail: true })
      clock.advance(random.between(500, 2_500))
      await followTransactions(app.services).catch(() => counts.failed++)
      const record = await ok(app.request('GET', `/v2/transactions/${signature}`)).catch(() => undefined)
      const lifecycle = record?.data.lifecycle
      if (lifecycle === 'failed') {
        const nodes = JSON.stringify(app.services.chain.endpointReports())
        const sent = endpoints.map((endpoint) => endpoint.sent.length)
        throw new Error(
          `${where}: ${JSON.stringify(record)} in round ${round}, on chain: ${chain.transaction(signature) !== null}, sent ${sent}, ${nodes}`,
        )
      }
      expect(lifecycle, where).not.toBe('unknown')
      if (lifecycle === 'confirmed' || lifecycle === 'finalized') return
      if (round === MOST_ROUNDS) throw new Error(`${where}: ${signature} is ${lifecycle} after ${round} rounds`)
    }
  }

  /** Time passes, far beyond the life of its blockhash: no endpoint that does not know it ends it. */
  async function staysConfirmed(signature: string): Promise<void> {
    for (const pause of [20_000, 90_000, 200_000]) {
      step({ mayFail: false })
      clock.advance(pause)
      await followTransactions(app.services).catch(() => counts.failed++)
      const { data } = await ok(app.request('GET', `/v2/transactions/${signature}`))
      expect(['confirmed', 'finalized'], where).toContain(data.lifecycle)
    }
    expect(chain.transaction(signature), where).toMatchObject({ err: null })
    const events = await ok(app.request('GET', `/v2/events?resource_id=${signature}&limit=100`))
    const types = (events.data as unknown as { type: string }[]).map(({ type }) => type).toSorted()
    expect(new Set(types).size, `${where}: ${types.join(' ')}`).toBe(types.length)
    expect(types, where).toContain('transaction.confirmed')
    expect(types, where).not.toContain('transaction.failed')
  }
}

/** Runs the schedules in several lanes, each with a cluster of its own, and returns what was seen. */
export async function runSchedules(
  clusters: readonly FaultyCluster[],
  seeds: readonly number[],
): Promise<ScheduleCounts & { failoverMs: number[] }> {
  const failoverMs: number[] = []
  const counts: ScheduleCounts = { faults: new Map(), acts: 0, failed: 0 }
  // A read in the background can span a leap of the clock, of which the shortest is 20 seconds; a call ends after 8.
  const stop = onFailovers(({ seconds }) => {
    if (seconds < 20) failoverMs.push(seconds * 1_000)
  })
  const left = [...seeds]
  try {
    await Promise.all(
      clusters.map(async (cluster) => {
        for (let seed = left.shift(); seed !== undefined; seed = left.shift()) await runSchedule(cluster, seed, counts)
      }),
    )
  } finally {
    stop()
  }
  return { ...counts, failoverMs: failoverMs.toSorted((a, b) => a - b) }
}

/** The figure below which the share of the sorted figures lies. */
export const quantile = (sorted: readonly number[], share: number): number =>
  Math.round(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0)

export const spread = (sorted: readonly number[]): string =>
  [0.5, 0.9, 0.99, 1]
    .map((share) => `${share === 1 ? 'max' : `p${share * 100}`} ${quantile(sorted, share)} ms`)
    .join(', ')
