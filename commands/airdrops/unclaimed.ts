/** `svc airdrops unclaimed`: the largest entries of a stored list that nobody has claimed yet. */
import type { AirdropUnclaimed } from '../../src/api/airdrop-claims.ts'
import { paths } from '../../src/api/paths.ts'
import { wholeOf } from '../cli/amounts.ts'
import { integer, required, text, verb } from '../cli/command.ts'
import { mintDecimals } from '../signing/token-state.ts'
import { timeText } from '../ui/times.ts'
import { counted } from '../ui/words.ts'

const COLUMNS = ['wallet', 'amount', 'amount_locked', 'index'] as const

export const airdropUnclaimedVerb = verb({
  about: 'List the wallets with the largest unclaimed amounts of an airdrop',
  details:
    'Compares the stored list with the recorded claims, without the chain. The output says how many claims are recorded. `svc airdrops status` says how many are missing. With vesting, a wallet that has claimed once is not listed.',
  calls: [paths.airdrops.unclaimed, paths.accounts.get],
  args: { id: required(text('Id of the airdrop')) },
  flags: { limit: integer('Wallets, 1 to 100 (default 20)', { min: 1, max: 100 }) },
  examples: [
    'svc airdrops unclaimed 6nIRS-UFiZrgOo53MuCh_SuhvOpJGjeLAr25kQ6lUhlfrw',
    'svc airdrops unclaimed 6nIRS-UFiZrgOo53MuCh_SuhvOpJGjeLAr25kQ6lUhlfrw --limit 100 -o plain',
  ],
  async run({ id, limit }, session) {
    const { data } = await session.client.airdrops.unclaimed({
      id,
      ...(limit === undefined ? {} : { limit: String(limit) }),
    })
    const { wallets } = data
    const decimals = await mintDecimals(session, data.mint)
    const shown = (raw: string) => (decimals === null ? raw : wholeOf(raw, decimals))
    const columns = COLUMNS.filter((name) => name !== 'amount_locked' || wallets.some((row) => row[name] !== '0'))
    const cell = (row: (typeof wallets)[number], name: (typeof COLUMNS)[number]) =>
      name === 'amount' || name === 'amount_locked' ? shown(row[name]) : row[name]
    return {
      data,
      rows: { columns: COLUMNS, rows: wallets.map((row) => COLUMNS.map((name) => row[name])) },
      table: { columns, rows: wallets.map((row) => columns.map((name) => cell(row, name))) },
      notes: [recordedNote(data)],
    }
  },
})

function recordedNote({ recorded, leaf_count }: AirdropUnclaimed): string {
  const { wallets, first_claim_at } = recorded
  if (first_claim_at === null) return `No claim of the ${counted(leaf_count, 'wallet')} is recorded here.`
  return `Claims of ${wallets} of ${counted(leaf_count, 'wallet')} are recorded here, the first of ${timeText(first_claim_at)}.`
}
