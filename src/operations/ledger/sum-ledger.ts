/** Adds up the ledger by a column, party and token. */
import type { Api, LedgerSum } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { pageSums } from '../../store/ledger/totals.ts'
import { recordPage } from '../api-records.ts'
import { catchUp } from './catch-up.ts'
import { SOL } from './postings.ts'

type SumLedgerRoute = Api['ledger']['summary']

export async function sumLedger(
  context: Context,
  { mint, ...input }: Input<SumLedgerRoute>,
): Promise<Result<SumLedgerRoute>> {
  if (input.cursor === undefined) await catchUp(context)
  const genesis = await context.chain.genesisHash()
  const page = await pageSums(context.store.db, { ...input, genesis, token: mint === 'SOL' ? SOL : mint })
  const nameOf = (token: string) => (token === SOL ? 'SOL' : token)
  return recordPage(page, ({ received, paid, key, token, party, ...row }) => ({
    ...row,
    key: input.by === 'mint' ? nameOf(token) : key,
    party: party as LedgerSum['party'],
    token: nameOf(token),
    ...{ received: String(received), paid: String(paid), net: String(received - paid) },
  }))
}
