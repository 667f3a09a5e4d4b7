/** A daemon as the first process of a container, for which the kernel ignores every signal that has no listener. */
import { describe, expect, it } from 'vitest'
import { firstProcess, namespace, reason, silentServer } from '../cli/containers.ts'

describe.skipIf(namespace === undefined)(`svc as the first process of a container${reason}`, () => {
  it.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)('ends at %s while it starts a daemon', async (signal, code) => {
    const silent = await silentServer()
    const process = firstProcess(['serve', '--port', '0'], {
      SVC_DATABASE_URL: `postgres://svc@127.0.0.1:${silent.port}/svc`,
      SVC_ENCRYPTION_KEY: '0'.repeat(64),
      SVC_POSTGRES_CONNECT_TIMEOUT_MS: '60000',
    })
    await silent.asked
    await process.signal(signal)
    expect(await process.ended).toBe(code)
  })

  it('ends orderly at SIGTERM as a running daemon', async () => {
    const process = firstProcess(['serve', '--port', '0', '--rpc-port', '0'])
    await process.says('Listening on')
    await process.signal('SIGTERM')
    expect(await process.ended).toBe(0)
  })

  it('ends at once at a second SIGTERM as a running daemon', async () => {
    const process = firstProcess(['serve', '--port', '0', '--rpc-port', '0'], { SVC_DRAIN_SECONDS: '300' })
    await process.says('Listening on')
    await process.signal('SIGTERM')
    await process.says('shutting down')
    await process.signal('SIGTERM')
    expect(await process.ended).toBe(143)
  })
})
