/** `svc airdrops claims`: who has claimed, as a table or as a CSV with signatures. */

import type { AirdropClaimRecord } from '../../src/api/airdrop-claims.ts'
import { paths } from '../../src/api/paths.ts'
import { decodeTreeId } from '../../src/merkle/tree-id.ts'
import { decimalOf, wholeOf } from '../cli/amounts.ts'
import { type CommandInputs, required, text, type Verb } from '../cli/command.ts'
import { MOST_STEPS, type PageQuery, pagesOf } from '../cli/pages.ts'
import { listVerb } from '../cli/reads.ts'
import type { Session } from '../cli/session.ts'
import { csvLine, writePieces } from '../ledger/csv.ts'
import { mintDecimals } from '../signing/token-state.ts'
import { counted } from '../ui/words.ts'

const list = listVerb({
  about: 'List the recorded claims of an airdrop, newest first',
  at: [paths.airdrops.claims, paths.accounts.get],
  args: { id: required(text('Id of the airdrop')) },
  columns: ['claimed_at', 'wallet', 'amount', 'amount_locked', 'signature', 'slot'],
  async table(claims: readonly AirdropClaimRecord[], session) {
    const shown = amountsOf(await decimalsFor(session, claims[0]?.airdrop_id ?? ''))
    const hasLocked = claims.some(({ amount_locked }) => amount_locked !== '0')
    return {
      columns: ['claimed_at', 'wallet', 'amount', ...(hasLocked ? ['amount_locked'] : []), 'signature'],
      rows: claims.map(({ claimed_at, wallet, amount, amount_locked, signature }) => [
        ...[claimed_at, wallet, shown(amount)],
        ...(hasLocked ? [shown(amount_locked)] : []),
        signature,
      ]),
    }
  },
  call: (client, query) => client.airdrops.claims(query),
})

const CSV_FLAG = {
  csv: text('Write all claims as CSV to this file (0600), or - for standard output', {
    placeholder: 'FILE',
    conflicts: ['limit', 'cursor'],
  }),
} as const

const CLAIM_COLUMNS = ['claimed_at', 'wallet', 'amount', 'amount_locked', 'amount_raw', 'amount_locked_raw'] as const

export const airdropClaimsVerb: Verb = {
  ...list,
  details:
    'Shows claims that were submitted here, and claims of stored trees that were found on chain. The CSV has amounts in raw units, and in whole tokens if the chain has the mint; times are UTC.',
  flags: { ...(list.flags as CommandInputs), ...CSV_FLAG },
  examples: [
    'svc airdrops claims 6nIRS-UFiZrgOo53MuCh_SuhvOpJGjeLAr25kQ6lUhlfrw',
    'svc airdrops claims 6nIRS-UFiZrgOo53MuCh_SuhvOpJGjeLAr25kQ6lUhlfrw --csv claims.csv',
  ],
  async run({ csv, ...input }: { csv?: string; id: string; limit?: number; cursor?: string; all?: boolean }, session) {
    if (csv === undefined) return list.run(input as never, session)
    const written = { claims: 0 }
    await writePieces(csv, csvPieces(session, input.id, written))
    if (csv === '-') return { data: undefined, rows: { columns: [], rows: [] } }
    return { data: { file: csv, ...written }, text: `Wrote ${counted(written.claims, 'claim')} to ${csv}.` }
  },
}

async function* csvPieces(session: Session, id: string, written: { claims: number }): AsyncGenerator<string> {
  const { client, ui } = session
  const decimals = await decimalsFor(session, id)
  const whole = (raw: string) => (decimals === null ? null : decimalOf(BigInt(raw), decimals))
  yield csvLine([...CLAIM_COLUMNS, 'signature', 'slot'])
  const list = (paging: PageQuery) => client.airdrops.claims({ id, ...paging })
  for await (const { data: claims } of pagesOf(list, { most: MOST_STEPS })) {
    written.claims += claims.length
    ui.progress('Reading')(written.claims, 0)
    const line = ({ claimed_at, wallet, amount, amount_locked, signature, slot }: AirdropClaimRecord) =>
      csvLine([claimed_at, wallet, whole(amount), whole(amount_locked), amount, amount_locked, signature, slot])
    yield claims.map(line).join('')
  }
}

/** The decimals of the mint that the id names; null if the chain has no such mint. */
async function decimalsFor(session: Session, id: string): Promise<number | null> {
  const key = decodeTreeId(id)
  if (key === undefined) return null
  const { keyToBase58 } = await import('../../src/merkle/base58.ts')
  return mintDecimals(session, keyToBase58(key.mint))
}

const amountsOf = (decimals: number | null) => (raw: string) => (decimals === null ? raw : wholeOf(raw, decimals))
