/** Lists entries of the ledger, newest first. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { pageEntries } from '../../store/ledger/ledger.ts'
import { ledgerEntryRecord, recordPage } from '../api-records.ts'
import { catchUp } from './catch-up.ts'
import { ledgerFilters } from './filters.ts'

type ListLedgerRoute = Api['ledger']['list']

export async function listLedger(context: Context, input: Input<ListLedgerRoute>): Promise<Result<ListLedgerRoute>> {
  const { limit, cursor, signature } = input
  if (cursor === undefined) await catchUp(context)
  const filters = await ledgerFilters(context, input)
  return recordPage(await pageEntries(context.store.db, { ...filters, signature, limit, cursor }), ledgerEntryRecord)
}
