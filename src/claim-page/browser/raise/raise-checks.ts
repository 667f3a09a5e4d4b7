/** Shows what the page of a raise has checked. */

import { soldFor } from '../../../solana/raise-amounts.ts'
import { raiseStateAt } from '../../../solana/raises.ts'
import { check, clusterWords } from '../checks-section.ts'
import { byId, codesOf, fill, make } from '../elements.ts'
import type { TextKey, TextValues } from '../page-fault.ts'
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
  const raise = state ? true : fault?.key === 'raiseForeign' ? false : null
  const genesis = state ? true : fault?.key === 'wrongCluster' ? false : null
  const isUnproven = fault?.key === 'capUnproven'
  const hasCap = isUnproven || state?.wallet?.parts.some(({ listed }) => listed !== null)
  const { symbol = '', decimals = 0 } = state?.token ?? {}
  const held = texts.tokens(state?.held ?? 0n, decimals)
  const line = (passed: boolean | null, key: TextKey, values?: TextValues) =>
    check(session, texts.text(key, values), passed)
  fill(byId('checks'), [
    make('h2', { text: texts.text('checksHeading'), attributes: { id: 'checks-heading' } }),
    make('ul', { class: 'checks' }, [
      line(genesis, 'checkGenesis', { cluster: clusterWords(subject) }),
      line(raise, 'checkRaise'),
      state && line(state.held >= owed(state), 'checkTokens', { held, symbol }),
      state && line(state.token.isFree, 'checkFree', { symbol }),
      state && line(state.key.kind !== 'program', 'checkKey'),
      hasCap ? line(!isUnproven, 'checkCap') : null,
      line(session.isSimulated, 'checkEffect'),
    ]),
    codesOf([
      [texts.text('raiseAddress'), subject.raise],
      [texts.text('mint'), state?.raise.mint],
      [texts.text('currencyAddress'), state?.raise.quoteMint],
      [texts.text('creatorAddress'), state?.raise.creator],
    ]),
    make('p', { text: texts.text('sendNothing') }),
  ])
}
