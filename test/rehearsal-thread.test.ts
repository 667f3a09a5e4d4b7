/** The thread of a rehearsal: a daemon answers beside it, and it ends with a reason. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Keypair } from '@solana/web3.js'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type ChainThread, openChainThread } from '../src/localnet/chain-thread.ts'
import { ShuttingDown } from '../src/platform/timing.ts'
import { startDaemon } from './support/daemon.ts'
import { addressOf, IMAGE, lackingPrograms } from './support/pool-platform.ts'
import { PROGRAMS_DIR } from './support/programs.ts'
import { temporaryFolder } from './support/service.ts'

const OPTIONS = { programsDir: PROGRAMS_DIR, unixSeconds: 1_800_000_000 }
const ADDRESS = '9B5XszUGdMaxCZ7uSQhPzdks5ZQSmWxrmzCSvtJ6Ns6g'

function opened(...parameters: Parameters<typeof openChainThread>): ChainThread {
  const thread = openChainThread(...parameters)
  onTestFinished(() => thread.close())
  return thread
}
const never = () => new AbortController().signal
const ask = (method: string, params: unknown[]) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })

describe('an embedded chain in a thread', () => {
  it('keeps what it is given, and its clock stands until it is advanced', async () => {
    const thread = opened(OPTIONS, never())
    const account = { lamports: 2n ** 60n, owner: ADDRESS, data: new Uint8Array([1, 2]), executable: false }
    void thread.setAccount(ADDRESS, account)
    expect(await thread.accounts([ADDRESS])).toMatchObject([{ ...account, data: new Uint8Array([1, 2]) }])
    const slot = async () => JSON.parse((await thread.handle(ask('getSlot', []))) ?? '').result
    const before = await slot()
    expect(await slot()).toBe(before)
    await thread.advance(60)
    expect(await slot()).toBeGreaterThan(before)
  })

  it('rejects a call that is wrong, and answers the next', async () => {
    const thread = opened(OPTIONS, never())
    await expect(thread.send(new Uint8Array([1]))).rejects.toThrow()
    expect(await thread.accounts([ADDRESS])).toEqual([null])
  })

  it('rejects what waits with the reason of its signal, and all later calls', async () => {
    const ending = new AbortController()
    const thread = opened(OPTIONS, ending.signal)
    const waiting = thread.accounts([ADDRESS])
    ending.abort(new ShuttingDown('the service is shutting down'))
    await expect(waiting).rejects.toThrow('the service is shutting down')
    await expect(thread.accounts([ADDRESS])).rejects.toThrow('the service is shutting down')
  })

  it.each([
    ['process.exit(3)', 'The thread of the embedded chain stopped with code 3'],
    ["throw new Error('out of luck')", 'The thread of the embedded chain failed: out of luck'],
  ])('that dies by %s says so to every caller', async (death, sentence) => {
    const file = join(temporaryFolder(), 'dying.mjs')
    writeFileSync(
      file,
      `import { parentPort } from 'node:worker_threads'\nparentPort.on('message', () => { ${death} })`,
    )
    const thread = opened(OPTIONS, never(), pathToFileURL(file))
    const calls = [thread.accounts([ADDRESS]), thread.handle(ask('getSlot', []))]
    for (const call of calls) await expect(call).rejects.toThrow(sentence)
    await expect(thread.advance(1)).rejects.toThrow(sentence)
  })
})

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

  it('holds up no other request: health is answered before it ends', async () => {
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
