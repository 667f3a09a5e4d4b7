/** The queue of writes: one that fails after its commit stops no other. */
import { expect, it } from 'vitest'
import { createWriteQueue, type Work } from '../../src/store/sqlite/write-queue.ts'

it('the write queue rejects only the write whose callback after the commit throws, and continues with the others', async () => {
  const groups: number[] = []
  const queue = createWriteQueue(async (works: readonly Work[]) => {
    groups.push(works.length)
    return Promise.all(works.map(async (work) => ({ value: await work({} as never) })))
  })
  const acts: string[] = []
  const first = queue.add(
    async () => 'first',
    () => void acts.push('first'),
  )
  const failing = queue.add(
    async () => 'second',
    () => {
      throw new Error('nobody listens')
    },
  )
  const third = queue.add(
    async () => 'third',
    () => void acts.push('third'),
  )
  const outcomes = await Promise.allSettled([first, failing, third])
  expect(outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : String(outcome.reason)))).toEqual([
    'first',
    'Error: nobody listens',
    'third',
  ])
  expect(await queue.add(async () => 'fourth')).toBe('fourth')
  await queue.drain()
  expect([acts, groups]).toEqual([
    ['first', 'third'],
    [3, 1],
  ])
})
