/** The inputs that acts on tokens share: an amount, or a list of wallets in its place. */
import { rawUnits, solOf } from '../cli/amounts.ts'
import { text, toggle } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { forOneTransaction, refuseStandardInput } from '../lists/run.ts'
import { previewLine } from '../signing/preview.ts'
import { mintState } from '../signing/token-state.ts'
import { usage } from '../ui/problem.ts'

export const RAW = toggle('Amounts are raw units, not whole tokens')
export const FROM = text('CSV of wallets and amounts, instead of one wallet', { placeholder: 'FILE', existing: true })
export const FROM_WALLETS = text('CSV of wallets, instead of one', { placeholder: 'FILE', existing: true })
export const FROM_MINTS = text('CSV of mints, instead of one', { placeholder: 'FILE', existing: true })
export const PROPOSALS_JOURNAL = text(
  'With --from and --squads: file that records what is proposed (default: beside the list)',
  { placeholder: 'FILE' },
)
export const JOURNAL = text('With --from: file that records what is done (default: beside the list)', {
  placeholder: 'FILE',
})

/** The decimals of the mint, and the raw units of the amount that was typed. Throws a usage problem for 0. */
export async function unitsOf(session: Session, mint: string, { amount, raw }: { amount: string; raw: boolean }) {
  const { decimals } = await mintState(session, mint)
  const units = rawUnits(amount, raw ? 0 : decimals, '<amount>')
  if (units === 0n) throw usage('<amount> must be more than 0', { param: '<amount>' })
  return { decimals, units }
}

export const openingLine = (rent: string): string[] =>
  rent === '0' ? [] : [previewLine('opens', `the token account, for ${solOf(BigInt(rent))} SOL`)]

interface OneActFlags {
  from?: string | undefined
  build_only: boolean
  force: boolean
  wait?: string | undefined
  idempotency_key?: string | undefined
}

/** Throws a usage problem for inputs that a list replaces, and for flags of one transaction. */
export function refuseWithList(flags: OneActFlags, replaced: Readonly<Record<string, string | undefined>>): void {
  refuseStandardInput(flags.from, '--from')
  const given = Object.keys(replaced).find((name) => replaced[name] !== undefined)
  if (given !== undefined) throw usage(`give either ${given} or --from`, { param: given })
  const { build_only, force, wait, idempotency_key } = flags
  const single = { '--build-only': build_only, '--force': force, '--wait': wait, '--idempotency-key': idempotency_key }
  const shown = Object.entries(single).find(([, value]) => value !== undefined && value !== false)?.[0]
  if (shown !== undefined) throw forOneTransaction(shown)
}
