/** Large answers of a node: what of them is in memory while they arrive. */
import { setTimeout } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect } from 'vitest'
import { callLarge } from '../../src/chain/nodes/large-answer.ts'
import { itInSoak } from '../support/runs.ts'

const MEGABYTE = 1_048_576

itInSoak('a large answer keeps nothing of its items in memory', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const items = `${'{"pubkey":"A","account":{"lamports":1}},'.repeat(MEGABYTE / 40)}\n`
  let grown = 0
  async function* pieces() {
    yield Buffer.from('{"jsonrpc":"2.0","result":{"context":{"slot":7},"value":[')
    const before = process.memoryUsage().arrayBuffers
    for (let i = 0; i < 48; i++) yield Buffer.from(items)
    // What was collected is freed, and counted, by another thread.
    for (let i = 0; i < 100; i++) {
      collect()
      grown = process.memoryUsage().arrayBuffers - before
      if (grown < 8 * MEGABYTE) break
      await setTimeout(20)
    }
    yield Buffer.from('{}]},"id":1}')
  }
  const stream = async () => new Response(ReadableStream.from(pieces()))
  const most = { items: 2_000_000, itemBytes: 100, bytes: 100 * MEGABYTE }
  let count = 0
  const result = await callLarge(
    { stream, redact: (text) => text, ending: undefined },
    { method: 'getProgramAccounts', params: [], most, limitMs: 120_000 },
    () => void count++,
  )
  expect(result).toEqual({ context: { slot: 7 }, value: [] })
  expect([count, grown < 8 * MEGABYTE]).toEqual([48 * Math.floor(MEGABYTE / 40) + 1, true])
})
