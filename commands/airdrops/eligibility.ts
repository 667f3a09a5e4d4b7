/** `svc airdrops eligibility`: which airdrops include a wallet, what it can claim, and why it cannot claim. */
import { paths } from '../../src/api/paths.ts'
import { wholeOf } from '../cli/amounts.ts'
import { mintAddress, required, text } from '../cli/command.ts'
import { listVerb } from '../cli/reads.ts'
import { mintDecimals } from '../signing/token-state.ts'

export const airdropEligibilityVerb = listVerb({
  about: 'Show which stored airdrops include a wallet, what it can claim, and why not',
  at: [paths.airdrops.lookup, paths.accounts.get],
  args: { wallet: required(text('Address of the wallet')) },
  filters: { mint: mintAddress('Only those of this token') },
  examples: [
    'svc airdrops eligibility 9FSvG6muq2NE2ZNZtgMrPe9mJ2wpcR45TaEwiUoHDJ9g',
    'svc airdrops eligibility 9FSvG6muq2NE2ZNZtgMrPe9mJ2wpcR45TaEwiUoHDJ9g --mint 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY --json',
  ],
  columns: [
    ...(['id', 'mint', 'airdrop_count', 'amount', 'status', 'claimed', 'claimable', 'note'] as const),
    ...(['amount_locked', 'vested', 'claimed_amount', 'claimable_amount', 'next_vesting_at'] as const),
  ],
  async table(airdrops, session) {
    const decimals = new Map<string, number | null>()
    for (const mint of new Set(airdrops.map(({ mint }) => mint))) decimals.set(mint, await mintDecimals(session, mint))
    const shown = (mint: string, amount: string) => {
      const digits = decimals.get(mint) ?? null
      return digits === null ? `${amount} raw units` : wholeOf(amount, digits)
    }
    return {
      columns: ['id', 'mint', 'airdrop_count', 'amount', 'locked', 'claimed', 'claimable', 'status', 'note'],
      rows: airdrops.map(({ id, mint, airdrop_count, amount, status, note, ...of }) => [
        ...[id, mint, airdrop_count, shown(mint, amount), shown(mint, of.amount_locked)],
        ...[shown(mint, of.claimed_amount), shown(mint, of.claimable_amount), status, note],
      ]),
    }
  },
  whole: true,
  call: (client, query) => client.airdrops.lookup(query),
})
