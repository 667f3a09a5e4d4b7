/** svc as the first process of a container, for which the kernel ignores every signal that has no listener. */
import { describe, expect, it } from 'vitest'
import { firstProcess, namespace, reason, silentServer } from './containers.ts'

describe.skipIf(namespace === undefined)(`svc as the first process of a container${reason}`, () => {
  it.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)('ends at %s while it runs a command', async (signal, code) => {
    const silent = await silentServer()
    const process = firstProcess(['doctor', '--api', `http://127.0.0.1:${silent.port}`])
    await silent.asked
    await process.signal(signal)
    expect(await process.ended).toBe(code)
  })
})
