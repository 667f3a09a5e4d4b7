/** The embedded chain against others: a second process at its folder, and a client that does not read. */
import { once } from 'node:events'
import { join } from 'node:path'
import { Keypair } from '@solana/web3.js'
import { execa } from 'execa'
import { describe, expect, it, onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { ROOT } from '../../tools/source.ts'
import { openServer } from '../chain/serving.ts'
import { openTestChain } from '../support/local-chain.ts'

describe('the folder of a chain', () => {
  it("belongs to one process, and a second process is refused with the first one's id", async () => {
    const { chain, dataDir } = await openTestChain()
    const script = `
      import { openLocalChain } from './src/localnet/index.ts'
      await openLocalChain({ dataDir: ${JSON.stringify(dataDir)}, programsDir: '/nonexistent' })
        .catch((error) => console.log(error.name, error.pid, error.message))
    `
    const run = () => execa('node', ['--import', 'tsx', '--input-type=module', '-e', script], { cwd: ROOT })
    const { stdout } = await run()
    expect(stdout).toBe(
      `ChainLockedError ${process.pid} The embedded chain in ${join(dataDir, 'chain.db')} is in use by process ${process.pid}: ` +
        'use that one, stop it, or choose another data folder',
    )
    chain.close()
    expect((await run()).stdout).toBe('')
  })
})

describe('the embedded chain over WebSocket', () => {
  it('closes a socket whose client does not read', async () => {
    const server = await openServer()
    onTestFinished(() => server.stop())
    const socket = new WebSocket(server.wsUrl)
    await once(socket, 'open')
    const subscriptions = 5000
    let answers = 0
    const subscribed = new Promise<void>((resolve) => {
      socket.on('message', () => {
        answers += 1
        if (answers === subscriptions) resolve()
      })
    })
    const batch = Array.from({ length: 250 }, (_, id) => ({
      jsonrpc: '2.0',
      id,
      method: 'logsSubscribe',
      params: ['all', { commitment: 'processed' }],
    }))
    for (let i = 0; i < subscriptions; i += batch.length) socket.send(JSON.stringify(batch))
    await subscribed
    socket.pause()
    for (let i = 0; i < 30; i++) server.chain.airdrop(Keypair.generate().publicKey.toBase58(), 1_000_000_000n)
    socket.resume()
    const [code] = await once(socket, 'close')
    expect(code).toBe(1013)
    expect(answers).toBeLessThan(subscriptions * 31)
  })
})
