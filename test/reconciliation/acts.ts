/** Acts of strangers' clients on an embedded chain, submitted through the service or sent past it, and what the service then says of them. */
import type { AddressLookupTableAccount, Keypair, TransactionInstruction } from '@solana/web3.js'
import { expect } from 'vitest'
import { cosignedBy } from '../../src/chain/sending/cosign.ts'
import { followAirdrops } from '../../src/operations/airdrops/follow-airdrops.ts'
import { followGoldLocks } from '../../src/operations/gold-locks/follow-gold-locks.ts'
import { followPools } from '../../src/operations/pools/follow-pools.ts'
import { followTransactions } from '../../src/operations/transactions/follow-transactions.ts'
import { reconcileRecords } from '../../src/operations/transactions/reconcile-records.ts'
import type { Reader } from '../../src/store/store.ts'
import { signed } from '../support/local-chain.ts'
import type { Service } from '../support/service.ts'
import { compile, NO_CONFIG } from '../support/version1-messages.ts'

/** Through the service, or straight to the chain. */
export type Way = 'through' | 'past'
export const WAYS = ['through', 'past'] as const

interface ToldEvent {
  type: string
  data: { object: Record<string, unknown> }
}

/** The row of a transaction that was found on the chain. */
export const chainTransactionOf = (reader: Reader, signature: string) =>
  reader.selectFrom('chain_transactions').selectAll().where('signature', '=', signature).executeTakeFirst()

export type Acts = Awaited<ReturnType<typeof actsOn<Pick<Service, 'services' | 'request' | 'clock'>>>>

export async function actsOn<S extends Pick<Service, 'services' | 'request' | 'clock'>>(service: S, way: Way) {
  const { request, clock } = service
  const hold = { isOn: false }
  const node = service.services.chain
  const call = async <T>(method: string, params: readonly unknown[]): Promise<T> => {
    const answer = await node.call<T>(method, params)
    return hold.isOn ? confirmedOnly(method, answer) : answer
  }
  const services = { ...service.services, chain: { ...node, call } }
  const chain = await services.chain.local()
  const submit = async (bytes: Uint8Array) => {
    const body = { transaction: Buffer.from(bytes).toString('base64') }
    const { status, text } = await request('POST', '/v2/transactions', { body })
    expect(status, text).toBe(200)
  }
  const past = (bytes: Uint8Array) => {
    const landed = chain.send(bytes)
    expect(landed.err, landed.logs?.join('\n')).toBeNull()
  }
  const pass = (seconds: number) => {
    chain.advance(seconds)
    clock.advance(seconds * 1_000)
  }
  /** Every worker of a daemon, once; the chain's goes first or last, as may happen. */
  const round = async () => {
    await followTransactions(services)
    await reconcileRecords(services)
    await followAirdrops(services)
    await followGoldLocks(services)
    await followPools(services)
  }
  const told = async (): Promise<ToldEvent[]> => {
    const all: ToldEvent[] = []
    for (let cursor = ''; ; ) {
      const { json } = await request('GET', `/v2/events?order=asc&limit=100${cursor && `&cursor=${cursor}`}`)
      all.push(...json.data)
      if (!json.meta.next_cursor) return all
      cursor = json.meta.next_cursor
    }
  }
  /** Every record of the lists, as the API answers them. */
  const records = async (): Promise<string[]> => {
    const all: string[] = []
    for (const list of ['nfts', 'stakes', 'gold-locks', 'airdrops', 'tokens', 'fee-claims', 'pools']) {
      const { json } = await request('GET', `/v2/${list}`)
      for (const record of json.data) all.push(`${list} ${JSON.stringify(record, withoutItsRun)}`)
    }
    return all
  }
  return {
    ...service,
    services,
    hold,
    chain,
    pass,
    round,
    submit,
    past,
    /** Lands what a stranger's client has made. */
    async send(bytes: Uint8Array) {
      if (way === 'through') await submit(bytes)
      else past(bytes)
      pass(1)
    },
    sign: (instructions: TransactionInstruction[], signers: Keypair[], tables?: AddressLookupTableAccount[]) =>
      signed(instructions, signers, { blockhash: chain.latestBlockhash().blockhash, ...(tables && { tables }) }),
    /** The same in version 1 (SIMD-0385). */
    signV1(instructions: TransactionInstruction[], signers: Keypair[]): Uint8Array {
      const limits = { computeUnitLimit: 400_000, loadedAccountsDataSizeLimit: 64 * 1_024 * 1_024 }
      const [payer] = signers
      const unsigned = compile({
        payer: payer!.publicKey,
        blockhash: chain.latestBlockhash().blockhash,
        instructions,
        config: { ...NO_CONFIG, ...limits },
      })
      const secretKeys = signers.map(({ secretKey }) => secretKey)
      return cosignedBy(unsigned, secretKeys).transaction
    },
    /** What a client reads of the acts: the events about resources, then the records. */
    told: async (names: Readonly<Record<string, string>>): Promise<string[]> => [
      ...comparable(await told(), names),
      ...(await records()).map((text) => named(`record ${text}`, names)).sort(),
    ],
    /** Rounds until everything is seen and final. */
    async settle(rounds = 4) {
      for (let n = 0; n < rounds; n++) {
        pass(20)
        await round()
      }
    },
    events: told,
  }
}

/** The answer of a node that has seen nothing final for a while: real time goes on, and with it the chain. */
function confirmedOnly<T>(method: string, answer: T): T {
  const confirmed = (row: object | null) => row && { ...row, confirmationStatus: 'confirmed', confirmations: 1 }
  if (method === 'getSignaturesForAddress') return (answer as object[]).map(confirmed) as T
  if (method !== 'getSignatureStatuses') return method === 'getSlot' ? (1 as T) : answer
  const { value } = answer as { value: (object | null)[] }
  return { ...answer, value: value.map(confirmed) }
}

/** Fields that differ between two runs of the same acts: when and where each took place. */
const OF_ITS_RUN = new Set([
  // What the chain itself says of a pool.
  'state',
  'fee_metrics',
  'slot',
  'signature',
  'source',
  'created_at',
  'occurred_at',
  'id',
  'list_sha256',
])

const withoutItsRun = (field: string, value: unknown) => (OF_ITS_RUN.has(field) ? undefined : value)

/** The same text with the names of the run's own addresses. */
const named = (text: string, names: Readonly<Record<string, string>>): string =>
  Object.entries(names).reduce((so, [address, name]) => so.replaceAll(address, name), text)

/**
 * The events about resources, as texts in the order of their types, with the names of the run's own addresses in place
 * of those.
 */
function comparable(events: readonly ToldEvent[], names: Readonly<Record<string, string>>): string[] {
  const own = events.filter(({ type }) => !type.startsWith('transaction.') && !type.startsWith('webhook.'))
  return own
    .map(({ type, data }) => {
      const object = JSON.stringify(data.object, withoutItsRun)
      return named(`${type} ${object}`, names)
    })
    .sort()
}
