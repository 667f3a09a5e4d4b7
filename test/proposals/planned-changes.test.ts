/** What an execution would change, compared with what it was going to change when it was proposed. */
import { describe, expect, it } from 'vitest'
import { otherControl, plannedChanges } from '../../src/operations/proposals/squads/planned-changes.ts'

const change = (after: string | null, what = 'owner', address = 'account') => ({
  address,
  what,
  before: 'vault',
  after,
})

describe('The control that an execution changes', () => {
  it.each<[title: string, planned: (string | null)[], now: (string | null)[], faults: string[]]>([
    ['may be as planned', ['friend'], ['friend'], []],
    ['may be none', [], [], []],
    ['goes to another', ['friend'], ['thief'], ['owner of account would go from vault to thief instead of to friend']],
    ['goes to nobody', ['friend'], [null], ['owner of account would go from vault to nobody instead of to friend']],
    ['was not planned', [], ['thief'], ['owner of account would go from vault to thief, which was not planned']],
    ['is not given', ['friend'], [], ['owner of account would stay as it is instead of going to friend']],
  ])('%s', (_, planned, now, faults) => {
    expect(
      otherControl(
        planned.map((to) => change(to)),
        now.map((to) => change(to)),
      ),
    ).toEqual(faults)
  })

  it('is compared for each account and kind by itself', () => {
    const planned = [change('a', 'owner', 'x'), change('b', 'delegate', 'x'), change('a', 'owner', 'y')]
    expect(otherControl(planned, planned.toReversed())).toEqual([])
    const moved = [change('a', 'delegate', 'x'), change('b', 'owner', 'x'), change('a', 'owner', 'y')]
    expect(otherControl(planned, moved)).toHaveLength(2)
  })

  it('is unknown in a row of an older version, which stored balances alone', () => {
    expect([plannedChanges(null), plannedChanges('[]')]).toEqual([null, { balance_changes: [], control_changes: null }])
  })
})
