/** Batches to the embedded chain with the largest answers. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { openRpc } from '../chain/serving.ts'

describe('a JSON-RPC batch to the embedded chain', () => {
  it('is answered up to 64 MiB, and each request beyond that is refused', async () => {
    const opened = await openRpc()
    onTestFinished(() => opened.close())
    const one = (id: number) => ({ jsonrpc: '2.0', id, method: 'getLeaderSchedule', params: [] })
    const body = JSON.stringify(Array.from({ length: 40 }, (_, id) => one(id)))
    const text = (await opened.rpc.handle(body)) ?? ''
    expect(text.length).toBeLessThan(70 * 1024 * 1024)
    const answers = JSON.parse(text) as { id: number; error?: { code: number; message: string } }[]
    expect(answers.map(({ id }) => id)).toEqual(Array.from({ length: 40 }, (_, id) => id))
    expect(answers[0]?.error).toBeUndefined()
    expect(answers.at(-1)?.error).toMatchObject({ code: -32603, message: expect.stringContaining('smaller batches') })
  })
})
