/** What the guards of a transaction hold, as lines of a preview and as a field of an answer. */
import type { GuardAnswer } from '../../src/api/payloads.ts'
import type { Simulation } from '../../src/api/transactions.ts'
import { boundsOf } from '../../src/solana/guard-bounds.ts'
import type { Guard, TokenGuard } from '../../src/solana/guards.ts'
import { groupedDecimalOf, solOf } from '../cli/amounts.ts'
import { printable } from '../ui/render.ts'
import { counted } from '../ui/words.ts'

/** Guards as the bytes have them, and what the API says about those that are missing; an older API says nothing. */
export interface ShownGuards {
  guards: readonly Guard[]
  reported: Pick<GuardAnswer, 'state' | 'reason' | 'text'> | undefined
}

export const guardRecord = ({ guards, reported }: ShownGuards) => ({
  ...boundsOf(guards),
  reason: guards.length === 0 && reported === undefined ? 'older_api' : (reported?.reason ?? null),
})

/** What the chain holds, and why it does not hold more. */
export function guardTexts(
  { guards, reported }: ShownGuards,
  signer: string,
  { balance_changes: changes }: Pick<Simulation, 'balance_changes'>,
): string[] {
  const tokens = guards.filter((guard): guard is TokenGuard => guard.kind === 'token')
  const losing = tokens.filter(({ change }) => (change ?? 0n) < 0n)
  const others = tokens.length - losing.length
  return [
    ...guards.flatMap(({ kind, address, change }) =>
      kind === 'wallet'
        ? [`${walletText(change ?? 0n, address === signer ? 'your wallet' : address)}, besides the fee`]
        : [],
    ),
    ...losing.map(
      ({ address, change }) => `at most ${unitsText(-(change ?? 0n), address, changes)} can leave ${address}`,
    ),
    ...(others === 0
      ? []
      : [`nothing can leave ${counted(others, losing.length === 0 ? 'token account' : 'other token account')}`]),
    ...missingTexts({ guards, reported }),
  ]
}

const walletText = (change: bigint, wallet: string) =>
  change < 0n ? `at most ${solOf(-change)} SOL can leave ${wallet}` : `no SOL can leave ${wallet}`

function unitsText(units: bigint, account: string, changes: Simulation['balance_changes']): string {
  const decimals = changes.find(({ address, mint }) => address === account && mint !== null)?.decimals ?? null
  return decimals === null ? `${groupedDecimalOf(units, 0)} raw units` : groupedDecimalOf(units, decimals)
}

function missingTexts({ guards, reported }: ShownGuards): string[] {
  const what = guards.length === 0 ? 'not guarded' : 'not all is guarded'
  if (reported?.reason) {
    const why = printable(reported.text ?? reported.reason).replace('`tx_version`', '--tx-version')
    return [`${what}: ${why} (reported by the API)`]
  }
  if (guards.length > 0) return []
  if (reported === undefined) return ['not guarded: the API is older']
  return [reported.state === 'none' ? 'not needed' : 'not guarded, although the API says that it is']
}
