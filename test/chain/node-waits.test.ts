/** A submitted transaction is looked at when a node's WebSocket says that it is confirmed, without a round of the watcher. */
import { base58 } from '@scure/base'
import { Keypair, SystemProgram } from '@solana/web3.js'
import { expect, it, onTestFinished } from 'vitest'
import { createApp } from '../../daemon/app.ts'
import { openServices, operatorKey } from '../../daemon/services.ts'
import { serveLocalnet } from '../../src/localnet/server.ts'
import { awaitConfirmed } from '../../src/operations/transactions/await-confirmed.ts'
import { loadConfig } from '../../src/settings/config.ts'
import { findTransaction } from '../../src/store/transactions/transactions.ts'
import { databaseSettings } from '../support/database.ts'
import { openTestChain } from '../support/local-chain.ts'
import { requester } from '../support/request.ts'
import { ORIGIN, temporaryFolder } from '../support/service.ts'

/** The app over so many nodes of one chain, each with its WebSocket. */
async function startOver(count: number) {
  const test = await openTestChain({ consensus: 'tower' })
  const served = await Promise.all(Array.from({ length: count }, () => serveLocalnet({ chain: test.chain, port: 0 })))
  const dataDir = temporaryFolder()
  const urls = served.map(({ url }) => url).join(',')
  const flags = { 'data-dir': dataDir, 'rpc-urls': urls, ...(await databaseSettings(dataDir)) }
  const services = await openServices(loadConfig({ flags, env: {}, cwd: dataDir }))
  const app = await createApp(services)
  onTestFinished(async () => {
    await app.close()
    services.end()
    await services.close()
    await Promise.all(served.map((server) => server.close()))
  })
  const request = requester(ORIGIN, app.fetch, await operatorKey(services))
  async function submit(): Promise<string> {
    const payer = test.wallet()
    test.wall.ms += 20_000
    const to = Keypair.generate().publicKey
    const raw = test.sign(
      [SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: to, lamports: 1_000_000 })],
      [payer],
    )
    const { status } = await request('POST', '/v2/transactions', {
      body: { transaction: Buffer.from(raw).toString('base64') },
    })
    expect(status).toBe(200)
    return base58.encode(raw.subarray(1, 65))
  }
  const lifecycleOf = async (signature: string) => (await findTransaction(services.store.db, signature))?.lifecycle
  return { ...test, services, submit, lifecycleOf }
}

it.each([1, 2])('the wait for a transaction on %i nodes ends with the notification of a WebSocket', async (count) => {
  const { wall, submit, lifecycleOf } = await startOver(count)
  const signature = await submit()
  expect(await lifecycleOf(signature)).toBe('submitted')
  wall.ms += 2_000
  await expect.poll(() => lifecycleOf(signature)).toBe('confirmed')
})

it('a request that waits for a node continues at once', async () => {
  const { wall, submit, services } = await startOver(1)
  const signature = await submit()
  wall.ms += 2_000
  expect(await awaitConfirmed(services, signature, performance.now() + 10_000)).toMatchObject({ isConfirmed: true })
})
