/** The inputs that acts on tokens share: an amount, or a list of wallets in its place. */
import { rawUnits, solOf } from '../cli/amounts.ts'
import { text, toggle } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { OF_ONE_TRANSACTION } from '../lists/run.ts'
import { previewLine } from '../signing/preview.ts'
import { mintState } from '../signing/token-state.ts'
import { usage } from '../ui/problem.ts'

export const RAW = toggle('Amounts are raw units, not whole tokens')
/** A list in place of these inputs of one act. */
const listOfActs = (about: string, replaced: readonly string[]) =>
  text(about, { placeholder: 'FILE', existing: true, conflicts: [...replaced, ...OF_ONE_TRANSACTION] })
export const FROM = listOfActs('CSV of wallets and amounts, instead of one wallet', [
  ...['wallet', 'amount', 'to', 'holder'],
])
export const FROM_WALLETS = listOfActs('CSV of wallets, instead of one', ['wallet'])
export const FROM_MINTS = listOfActs('CSV of mints, instead of one', [
  ...['mint', 'type', 'new_authority'],
  ...['name', 'symbol', 'uri', 'field', 'remove_field', 'immutable'],
])
/** The chain shows what is done without proposals. */
export const PROPOSALS_JOURNAL = text(
  'With --from and --squads: file that records what is proposed (default: beside the list)',
  { placeholder: 'FILE', needs: ['from', 'squads'] },
)
export const JOURNAL = text('With --from: file that records what is done (default: beside the list)', {
  placeholder: 'FILE',
  needs: ['from'],
})

/** The decimals of the mint, and the raw units of the amount that was typed. Throws a usage problem for 0. */
export async function parseUnits(session: Session, mint: string, { amount, raw }: { amount: string; raw: boolean }) {
  const { decimals } = await mintState(session, mint)
  const units = rawUnits(amount, raw ? 0 : decimals, '<amount>')
  if (units === 0n) throw usage('<amount> must be more than 0', { param: '<amount>' })
  return { decimals, units }
}

export const openingLine = (rent: string): string[] =>
  rent === '0' ? [] : [previewLine('opens', `the token account, for ${solOf(BigInt(rent))} SOL`)]
