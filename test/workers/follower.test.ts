/** The loop that follows records keeps what it did before a deadline, and a shutdown is no failure. */
import { expect, test } from 'vitest'
import { type Follower, follow } from '../../src/following/follower.ts'
import { followRuleProposals } from '../../src/operations/proposals/rule/follow.ts'
import { findProposal, insertProposal } from '../../src/store/proposals/proposals.ts'
import { findSetting, storeSetting } from '../../src/store/settings.ts'
import { startService } from '../support/service.ts'
import { storedProposal } from '../support/stored-proposal.ts'

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

test('a shutdown while outcomes of proposals are due fails no tick, and leaves them due', async () => {
  const { services, clock } = await startService()
  const { store } = services
  const now = clock.now()
  const row = storedProposal(1, now, {
    kind: 'rule',
    status: 'executed',
    multisig: null,
    transaction_index: null,
    signature: 'of no stored transaction',
    next_look_at: now,
  })
  await store.write((tx) => insertProposal(tx, row))
  await followRuleProposals(services, { stopping: AbortSignal.abort() })
  expect(await findProposal(store.db, row.id)).toMatchObject({ next_look_at: now })
  await followRuleProposals(services, { stopping: new AbortController().signal })
  expect(await findProposal(store.db, row.id)).toMatchObject({ next_look_at: null, status: 'executed' })
})
