/** The gate of the pool: what each user keeps, who comes first, and who is refused. */
import { expect, test } from 'vitest'
import { createPoolGate, POOL_USERS, type PoolUser } from '../../src/store/postgres/gate.ts'

const LATE = new Error('late')
const LONG_MS = 60_000

test('the gate keeps a place for each user that others can never take, however small the pool', async () => {
  for (const size of [4, 5, 16, 40]) {
    for (const greedy of POOL_USERS) {
      const gate = createPoolGate(size)
      const take = (user: PoolUser) => gate.take(user, 0, () => LATE)
      let taken = 0
      while (
        await take(greedy).then(
          () => true,
          () => false,
        )
      )
        taken++
      expect(gate.usage().used[greedy]).toBe(taken)
      expect(taken).toBeLessThanOrEqual(size - 3)
      for (const other of POOL_USERS) if (other !== greedy) await take(other)
      const { used } = gate.usage()
      expect(Object.values(used).reduce((sum, count) => sum + count)).toBeLessThanOrEqual(size)
    }
  }
})

test('the gate lets reads continue in a quarter of the pool while writes have all their places', async () => {
  const gate = createPoolGate(16)
  const fill = async (user: PoolUser) => {
    let taken = 0
    while (
      await gate
        .take(user, 0, () => LATE)
        .then(
          () => true,
          () => false,
        )
    )
      taken++
    return taken
  }
  expect(await fill('writes')).toBe(10)
  expect(await fill('reads')).toBe(4)
  expect(await fill('workers')).toBe(1)
  expect(await fill('readiness')).toBe(1)
})

test('the gate serves waiting users in order, and counts a place that is returned twice once', async () => {
  const gate = createPoolGate(4)
  const order: string[] = []
  const first = await gate.take('writes', LONG_MS, () => LATE)
  const waiting = ['a', 'b'].map((name) =>
    gate
      .take('writes', LONG_MS, () => LATE)
      .then((leave) => {
        order.push(name)
        return leave
      }),
  )
  expect(gate.usage()).toMatchObject({ used: { writes: 1 }, waiting: { writes: 2 }, refused: 0 })
  first()
  first()
  ;(await waiting[0]!)()
  ;(await waiting[1]!)()
  expect(order).toEqual(['a', 'b'])
  expect(gate.usage()).toMatchObject({ used: { writes: 0 }, waiting: { writes: 0 } })
})

test('the gate refuses a user that waited too long, counts it, and continues with the others', async () => {
  const gate = createPoolGate(4)
  const leave = await gate.take('writes', LONG_MS, () => LATE)
  await expect(gate.take('writes', 1, () => LATE)).rejects.toBe(LATE)
  const patient = gate.take('writes', LONG_MS, () => LATE)
  leave()
  await patient
  expect(gate.usage()).toMatchObject({ used: { writes: 1 }, waiting: { writes: 0 }, refused: 1 })
})
