/** The thread of a rehearsal: an embedded chain of its own, which ends with a reason. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type ChainThread, openChainThread } from '../src/localnet/chain-thread.ts'
import { ShuttingDown } from '../src/platform/timing.ts'
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
  it('keeps the accounts that it is given, and its clock stands until it is advanced', async () => {
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

  it('rejects an invalid call, and answers the next', async () => {
    const thread = opened(OPTIONS, never())
    await expect(thread.send(new Uint8Array([1]))).rejects.toThrow()
    expect(await thread.accounts([ADDRESS])).toEqual([null])
  })

  it('rejects open calls with the reason of its signal, and all later calls', async () => {
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
  ])('that ends by %s reports that to every caller', async (death, sentence) => {
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
