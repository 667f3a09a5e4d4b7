/** `svc airdrops entitlement`: what one wallet is owed by an airdrop, has claimed and can claim now. */
import { paths } from '../../src/api/paths.ts'
import { required, text, verb } from '../cli/command.ts'
import { recordInTokens } from '../signing/token-state.ts'
import { printable } from '../ui/render.ts'
import { timeText } from '../ui/times.ts'

export const airdropEntitlementVerb = verb({
  about: 'Show what an airdrop owes one wallet, what it has claimed and can claim now, and when more vests',
  calls: [paths.airdrops.entitlement, paths.accounts.get],
  args: { id: required(text('Id of the airdrop')), wallet: required(text('Address of the wallet')) },
  examples: [
    'svc airdrops entitlement 6nIRS-UFiZrgOo53MuCh_SuhvOpJGjeLAr25kQ6lUhlfrw 9FSvG6muq2NE2ZNZtgMrPe9mJ2wpcR45TaEwiUoHDJ9g',
    'svc airdrops entitlement 6nIRS-UFiZrgOo53MuCh_SuhvOpJGjeLAr25kQ6lUhlfrw 9FSvG6muq2NE2ZNZtgMrPe9mJ2wpcR45TaEwiUoHDJ9g -o json',
  ],
  async run(input, session) {
    const { data } = await session.client.airdrops.entitlement(input)
    const { amount, amount_locked, claimed_amount, clawback_at, reason, note } = data
    const isAllClaimed = BigInt(claimed_amount) >= BigInt(amount) + BigInt(amount_locked)
    const hasDeadline = !isAllClaimed && clawback_at !== null && reason !== 'clawed_back'
    const notes = [
      ...(note === null ? [] : [printable(note)]),
      ...(hasDeadline
        ? [`From ${timeText(clawback_at)} on the maker can withdraw what is not claimed, vested or not.`]
        : []),
    ]
    const amounts = ['amount', 'amount_locked', 'claimed_amount', 'claimable_amount', 'vested'] as const
    return { data, ...(await recordInTokens(session, data, amounts)), notes }
  },
})
