/** Drives whole launches through a fleet, as their clients do: build, sign, submit as a bundle. */
import { performance } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { Keypair, VersionedTransaction } from '@solana/web3.js'
import { Pool } from 'undici'
import { IMAGES } from '../../test/storage/images.ts'
import type { Daemon } from '../../test/support/daemon.ts'
import type { Fleet } from './fleet.ts'

const LAMPORTS = 1_000_000_000_000
const BUY_SOL = 0.01

/** A launch that was built and signed, and waits to be submitted. */
export interface SignedLaunch {
  pool: string
  body: string
}

export interface LaunchClient {
  /** Builds a launch and signs it. */
  build(): Promise<SignedLaunch>
  submit(launch: SignedLaunch): Promise<void>
  close(): Promise<void>
}

/** A client with a funded wallet and a key with limits; its requests go to the daemons in turn. */
export async function openLaunchClient(fleet: Fleet, daemons: readonly Daemon[]): Promise<LaunchClient> {
  const [first] = daemons
  if (first === undefined) throw new Error('there is no daemon to launch with')
  const creator = Keypair.generate()
  await fund(fleet.node, creator.publicKey.toBase58())
  const limits = { rate_limit_per_minute: 1_000_000, rate_limit_per_day: 1_000_000, scopes: ['*'] }
  const made = await first.request('POST', '/v2/api-keys', { body: { name: 'launches', ...limits } })
  const headers = { authorization: `Bearer ${made.json.data.key}`, 'content-type': 'application/json' }
  const pools = daemons.map(({ url }) => new Pool(url, { connections: 64 }))
  const image = Buffer.from(IMAGES.png).toString('base64')
  const run = creator.publicKey.toBase58().slice(0, 8)
  let [turn, place] = [0, 0]

  async function post(path: string, body: string, key: string, tries = 3) {
    const pool = pools[turn++ % pools.length]
    if (pool === undefined) throw new Error('there is no daemon')
    const answer = await pool.request({ method: 'POST', path, body, headers: { ...headers, 'idempotency-key': key } })
    const text = await answer.body.text()
    const again = Number(answer.headers['retry-after'])
    if (answer.statusCode === 500 && again > 0 && tries > 1) {
      await delay(again * 1_000)
      return post(path, body, key, tries - 1)
    }
    if (answer.statusCode >= 300) throw new Error(`POST ${path} was answered ${answer.statusCode}: ${text}`)
    return JSON.parse(text).data
  }

  return {
    async build() {
      const n = place++
      const token = { name: `Launch ${n}`, symbol: `${run.slice(0, 4)}${n}`, image, buy_amount: BUY_SOL }
      const body = JSON.stringify({ creator: creator.publicKey.toBase58(), ...token })
      const built = await post('/v2/pools', body, `${run}-build-${n}`)
      const secrets: number[][] = Object.values(built.required_signers)
      const keys = [creator, ...secrets.map((bytes) => Keypair.fromSecretKey(Uint8Array.from(bytes)))]
      const signed_transactions = built.transactions.map((text: string) => signedWith(text, keys))
      const { tracked_resource } = built
      return {
        pool: built.pool.address,
        body: JSON.stringify({ bundle: true, signed_transactions, tracked_resource }),
      }
    },
    async submit({ pool, body }) {
      await post('/v2/transactions', body, `${run}-submit-${pool}`)
    },
    async close() {
      await Promise.all(pools.map((pool) => pool.destroy()))
    },
  }
}

/** The transaction, which is base64, signed with those keys that it needs. */
export function signedWith(text: string, keys: readonly Keypair[]): string {
  const transaction = VersionedTransaction.deserialize(Buffer.from(text, 'base64'))
  const { staticAccountKeys, header } = transaction.message
  const needed = staticAccountKeys.slice(0, header.numRequiredSignatures)
  transaction.sign(keys.filter(({ publicKey }) => needed.some((key) => key.equals(publicKey))))
  return Buffer.from(transaction.serialize()).toString('base64')
}

/** Returns once the lamports are there at the commitment. */
export async function fund(
  node: string,
  address: string,
  commitment: 'confirmed' | 'finalized' = 'confirmed',
): Promise<void> {
  const ask = async (method: string, params: unknown[]) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const answer = await fetch(node, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    return answer.json() as Promise<{ result?: { value?: number } }>
  }
  await ask('requestAirdrop', [address, LAMPORTS])
  for (const until = performance.now() + 60_000; performance.now() < until; ) {
    const balance = await ask('getBalance', [address, { commitment }])
    if ((balance.result?.value ?? 0) > 0) return
  }
  throw new Error('the wallet of the launches got no lamports')
}

/** Runs the work for each place, so many at once; the milliseconds that each took, in the order of their end. */
export async function timedInParallel(count: number, atOnce: number, work: (place: number) => Promise<void>) {
  const times: number[] = []
  let place = 0
  const line = async () => {
    while (place < count) {
      const from = performance.now()
      await work(place++)
      times.push(performance.now() - from)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, line))
  return times
}
