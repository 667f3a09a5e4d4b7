/** The loop that follows records keeps what it did before a deadline, and a shutdown is no failure. */
import { expect, test } from 'vitest'
import { type Follower, follow } from '../../src/following/follower.ts'
import { followRuleProposals } from '../../src/operations/proposals/rule/follow.ts'
import { findProposal, insertProposal, updateProposal } from '../../src/store/proposals/proposals.ts'
import { findSetting, storeSetting } from '../../src/store/settings.ts'
import { addTransaction } from '../../src/store/transactions/transactions.ts'
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

const executedByRule = (now: number, signature: string) =>
  storedProposal(1, now, {
    kind: 'rule',
    status: 'executed',
    multisig: null,
    transaction_index: null,
    signature,
    next_look_at: now,
  })

test('a shutdown while outcomes of proposals are due fails no tick, and leaves them due', async () => {
  const { services, clock } = await startService()
  const { store } = services
  const now = clock.now()
  const row = executedByRule(now, 'of no stored transaction')
  await store.write((tx) => insertProposal(tx, row))
  await followRuleProposals(services, { stopping: AbortSignal.abort() })
  expect(await findProposal(store.db, row.id)).toMatchObject({ next_look_at: now })
  await followRuleProposals(services, { stopping: new AbortController().signal })
  expect(await findProposal(store.db, row.id)).toMatchObject({ next_look_at: null, status: 'executed' })
})

test('a proposal that another daemon ends, after its outcome could not be written, is never due again', async () => {
  const { services, clock } = await startService()
  const { store, vault, log } = services
  const row = executedByRule(clock.now(), 'failed')
  await store.write(async (tx) => {
    await insertProposal(tx, row)
    await addTransaction(tx, failedTransaction('failed', clock.now()))
  })
  const ended = { status: 'failed' as const, fault: 'as the other daemon found', next_look_at: null }
  const written: Promise<unknown>[] = []
  const faulty = {
    ...services,
    vault: {
      ...vault,
      mac() {
        throw new Error('the audit log cannot be sealed')
      },
    },
    // The fault is logged before the next look is planned: then the other daemon writes.
    log: { ...log, error: () => void written.push(store.write((tx) => updateProposal(tx, row.id, ended))) },
  }
  await expect(followRuleProposals(faulty)).rejects.toThrow('cannot be sealed')
  expect(await Promise.all(written)).toHaveLength(1)
  expect(await findProposal(store.db, row.id)).toMatchObject(ended)
})

const failedTransaction = (signature: string, at: number) => ({
  ...{ signature, raw: Buffer.from('signed'), lifecycle: 'failed' as const, confirmation_status: 'finalized' },
  ...{ err_json: '"AccountInUse"', slot: 1, confirmations: 0, tracked_resource_json: null, tracked_id: null },
  ...{ bundle_id: null, max_retries: 0, blockhash: 'b', nonce_account: null, genesis: 'chain', since_slot: 1 },
  ...{ checked_at: at, next_check_at: null, next_send_at: null, sends: 1, external_uid: null, metadata_json: null },
  created_at: at,
})
