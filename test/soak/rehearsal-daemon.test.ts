/** Rehearsals in a daemon: others are answered beside one, and it ends with the daemon. */
import { Keypair } from '@solana/web3.js'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startDaemon } from '../support/daemon.ts'
import { addressOf, IMAGE, lackingPrograms } from '../support/pool-platform.ts'
import { PROGRAMS_DIR } from '../support/programs.ts'
import { temporaryFolder } from '../support/service.ts'

describe.skipIf(lackingPrograms.length > 0)(`a rehearsal in a daemon (${lackingPrograms.join(', ')})`, () => {
  const body = () => ({
    ...{ creator: addressOf(Keypair.generate()), name: 'My Token', symbol: 'MTK', image: IMAGE, buy_amount: 0.05 },
  })
  const daemonOf = async () => {
    const env = { SVC_PROGRAMS_DIR: PROGRAMS_DIR, SVC_PLATFORM_WALLET: addressOf(Keypair.generate()) }
    const daemon = await startDaemon({ dataDir: temporaryFolder(), env })
    onTestFinished(() => daemon.stop())
    return daemon
  }

  it('delays no other request: health is answered before it ends', async () => {
    const { request } = await daemonOf()
    let isOver = false
    const rehearsal = request('POST', '/v2/pool-rehearsals', { body: body() }).finally(() => {
      isOver = true
    })
    let answered = 0
    while (!isOver) {
      expect((await request('GET', '/v2/health')).status).toBe(200)
      if (!isOver) answered++
    }
    expect([(await rehearsal).status, answered]).toEqual([200, expect.any(Number)])
    expect(answered).toBeGreaterThan(10)
  })

  it('ends with the daemon', async () => {
    const daemon = await daemonOf()
    const rehearsals = [body(), body(), body()].map((each) =>
      daemon.request('POST', '/v2/pool-rehearsals', { body: each }).catch(() => null),
    )
    expect((await daemon.request('GET', '/v2/health')).status).toBe(200)
    await daemon.stop()
    expect(daemon.process.exitCode).toBe(0)
    await Promise.all(rehearsals)
  })
})
