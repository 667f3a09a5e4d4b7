/** POST /v2/transactions at the embedded chain, against the chain's own `send`. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Keypair, SystemProgram, TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import { createApp } from '../daemon/app.ts'
import { openServices, operatorKey } from '../daemon/services.ts'
import { loadConfig } from '../src/settings/config.ts'
import { type Cost, costOf, type Measurement, medianOf, ratiosOf } from './measurement.ts'

const SUBMISSIONS = 1_000
/** Requests under way at once: as many share a commit. */
const PARALLEL = 16
const [WARM_UPS, ROUNDS] = [1, 5]

/**
 * The whole app in this process: key, rate limit, validation, preflight, commit, send. Each `chain.send` waits for its
 * own durable write while requests share theirs, so a slow disk flatters the ratio of times; processor time shows the work.
 */
export async function transactions(): Promise<Measurement[]> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-transactions-'))
  const flags = { 'data-dir': folder, 'programs-dir': '/nonexistent' }
  const services = await openServices(loadConfig({ flags, env: {}, cwd: folder }))
  const key = await operatorKey(services)
  const app = await createApp(services)
  try {
    const chain = await services.chain.local()
    const [from, to] = [Keypair.generate(), Keypair.generate()]
    for (const { publicKey } of [from, to]) chain.airdrop(publicKey.toBase58(), 1_000_000_000_000n)
    let lamports = 0
    const signed = () => {
      const recentBlockhash = chain.latestBlockhash().blockhash
      return Array.from({ length: SUBMISSIONS }, () => {
        const instructions = [
          SystemProgram.transfer({ fromPubkey: from.publicKey, toPubkey: to.publicKey, lamports: ++lamports }),
        ]
        const message = new TransactionMessage({ payerKey: from.publicKey, recentBlockhash, instructions })
        const transaction = new VersionedTransaction(message.compileToV0Message())
        transaction.sign([from])
        return transaction.serialize()
      })
    }
    const submit = async (raw: Uint8Array) => {
      const body = JSON.stringify({ transaction: Buffer.from(raw).toString('base64') })
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
      const request = new Request('http://svc.test/v2/transactions', { method: 'POST', headers, body })
      const response = await app.fetch(request)
      if (response.status !== 200) throw new Error(await response.text())
    }
    const submitAll = async (raws: readonly Uint8Array[]) => {
      const left = raws.values()
      const line = async () => {
        for (const raw of left) await submit(raw)
      }
      await Promise.all(Array.from({ length: PARALLEL }, line))
    }
    const sendAll = (raws: readonly Uint8Array[]) => {
      for (const raw of raws) chain.send(raw)
    }
    const [floors, own]: [Cost[], Cost[]] = [[], []]
    for (let round = -WARM_UPS; round < ROUNDS; round++) {
      for (const [costs, work] of [
        [floors, sendAll],
        [own, submitAll],
      ] as const) {
        const raws = signed()
        const cost = await costOf(() => work(raws))
        if (round >= 0) costs.push(cost)
      }
    }
    const each = { value: (medianOf(own, 'wall') / SUBMISSIONS) * 1_000, unit: 'µs' }
    return [{ name: 'POST /v2/transactions', ...each, ...ratiosOf(own, floors), floor: 'chain.send' }]
  } finally {
    await app.close()
    await services.close()
    rmSync(folder, { recursive: true })
  }
}
