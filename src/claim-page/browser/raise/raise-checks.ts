/** Shows what the page of a raise has checked. */

import { soldFor } from '../../../solana/raise-amounts.ts'
import { raiseStateAt } from '../../../solana/raises.ts'
import { check, clusterWords } from '../checks-section.ts'
import { byId, fill, make } from '../elements.ts'
import type { RaiseSession } from './raise-session.ts'
import type { RaiseState } from './raise-state.ts'

/** Tokens that the vault has to hold for buyers. */
function owed({ raise, now }: RaiseState): bigint {
  if (raiseStateAt(raise, now) === 'failed') return 0n
  const sold = raise.rounds.reduce((sum, round) => sum + soldFor(raise.price, round), 0n)
  return (raise.unsoldDone ? sold : raise.supply) - raise.claimed
}

export function drawRaiseChecks(session: RaiseSession): void {
  const { state, texts, subject, fault } = session
  const isElsewhere = fault?.key === 'wrongCluster'
  const raise = state ? true : fault?.key === 'raiseForeign' ? false : null
  const caps = state?.wallet?.parts.filter(({ listed }) => listed !== null) ?? []
  const { symbol = '', decimals = 0 } = state?.token ?? {}
  const held = texts.tokens(state?.held ?? 0n, decimals)
  const checks: [string, boolean | null][] = [
    [texts.text('checkGenesis', { cluster: clusterWords(subject) }), state ? true : isElsewhere ? false : null],
    [texts.text('checkRaise'), raise],
    ...(state
      ? ([
          [texts.text('checkTokens', { held, symbol }), state.held >= owed(state)],
          [texts.text('checkFree', { symbol }), state.token.isFree],
          [texts.text('checkKey'), state.key.kind !== 'program'],
        ] as [string, boolean][])
      : []),
    ...(caps.length > 0 || fault?.key === 'capUnproven'
      ? ([[texts.text('checkCap'), fault?.key !== 'capUnproven']] as [string, boolean][])
      : []),
    [texts.text('checkEffect'), session.isSimulated],
  ]
  const addresses = [
    [texts.text('raiseAddress'), subject.raise],
    [texts.text('mint'), state?.raise.mint],
    [texts.text('currencyAddress'), state?.raise.quoteMint],
    [texts.text('creatorAddress'), state?.raise.creator],
  ].flatMap(([label = '', value]) =>
    value === undefined ? [] : [make('dt', { text: label }), make('dd', { class: 'code', text: value })],
  )
  fill(byId('checks'), [
    make('h2', { text: texts.text('checksHeading'), attributes: { id: 'checks-heading' } }),
    make(
      'ul',
      { class: 'checks' },
      checks.map(([words, passed]) => check(session, words, passed)),
    ),
    make('dl', {}, addresses),
    make('p', { text: texts.text('sendNothing') }),
  ])
}
