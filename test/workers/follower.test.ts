/** The loop that follows records keeps what it did before a deadline. */
import { expect, test } from 'vitest'
import { type Follower, follow } from '../../src/following/follower.ts'
import { findSetting, storeSetting } from '../../src/store/settings.ts'
import { startService } from '../support/service.ts'

const NAMES = ['one', 'two', 'three']

test.each([
  ['in time', undefined, NAMES],
  ['until the deadline comes while the third is decided', 'three', ['one', 'two']],
])('records that are written alone are stored as they are decided, %s', async (_, slow, expected) => {
  const { services } = await startService()
  const { store } = services
  const deadline = new AbortController()
  const postponed: string[] = []
  const follower: Follower<string, string, string> = {
    named: (name) => ({ name }),
    due: async () => NAMES,
    perRead: NAMES.length,
    read: async (names) => names,
    decide(name) {
      if (name === slow) deadline.abort(new Error('late'))
      return name
    },
    isWrittenAlone: true,
    async write(tx, name, value) {
      await storeSetting(tx, name, value)
      return []
    },
    postpone: async (_tx, name) => postponed.push(name),
  }
  const round = follow(services, follower, deadline.signal)
  if (slow === undefined) await round
  else await expect(round).rejects.toThrow('late')
  const stored: string[] = []
  for (const name of NAMES) if ((await findSetting(store.db, name)) !== null) stored.push(name)
  expect([stored, postponed]).toEqual([expected, []])
})
