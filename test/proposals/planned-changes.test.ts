/** What an execution would change, compared with what it was going to change when it was proposed. */
import { describe, expect, it } from 'vitest'
import { otherControl, otherLosses, plannedChanges } from '../../src/operations/proposals/squads/planned-changes.ts'
import { SYSTEM_PROGRAM } from '../../src/solana/program-ids.ts'

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
        new Set(),
      ),
    ).toEqual(faults)
  })

  it('is compared for each account and kind by itself', () => {
    const planned = [change('a', 'owner', 'x'), change('b', 'delegate', 'x'), change('a', 'owner', 'y')]
    expect(otherControl(planned, planned.toReversed(), new Set())).toEqual([])
    const moved = [change('a', 'delegate', 'x'), change('b', 'owner', 'x'), change('a', 'owner', 'y')]
    expect(otherControl(planned, moved, new Set())).toHaveLength(2)
  })

  it('of an account that was to be created is compared alone, although a stranger has sent SOL there', () => {
    const now = [
      { ...change('token program', 'program', 'new'), before: SYSTEM_PROGRAM },
      { ...change('vault', 'owner', 'new'), before: null },
    ]
    expect(otherControl([], now, new Set(['new']))).toEqual([])
    expect(otherControl([], now, new Set())).toHaveLength(2)
    expect(otherControl([], [change('thief', 'owner', 'new')], new Set(['new']))).toHaveLength(1)
  })

  it('is unknown in a row of an older version, which stored balances alone', () => {
    expect([plannedChanges(null), plannedChanges('[]')]).toEqual([null, { balance_changes: [], control_changes: null }])
  })
})

describe('The SOL of other accounts', () => {
  const row = (address: string, lamports: bigint, closed = false) => ({
    ...{ address, mint: null, owner: null, decimals: null, before: '0', after: '0', created: false, closed, space: 0 },
    change: String(lamports),
  })

  it('is neither taken nor closed unless that was planned', () => {
    const stake = row('stake', -999_000_000_000n)
    const said = 'stake would lose 999 SOL, which was not planned'
    expect(otherLosses('vault', [], [stake])).toEqual([said])
    expect(otherLosses('vault', [row('stake', 1n)], [stake])).toEqual([said])
    expect(otherLosses('vault', [row('stake', -1n)], [stake])).toEqual([])
    expect(otherLosses('vault', [], [row('nonce', -1_000_000n, true)])).toEqual([
      'nonce would be closed and lose 0.001 SOL, which was not planned',
    ])
    expect(otherLosses('vault', [], [row('member', -15_000n), row('vault', -10_000_000_000n)])).toEqual([])
  })
})
