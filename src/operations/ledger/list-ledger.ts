/** Lists entries of the ledger, newest first. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { type LedgerFilters, pageEntries } from '../../store/ledger/ledger.ts'
import { ledgerEntryRecord, recordPage } from '../api-records.ts'
import { catchUp } from './catch-up.ts'
import { SOL } from './postings.ts'

type ListLedgerRoute = Api['ledger']['list']

export async function listLedger(context: Context, input: Input<ListLedgerRoute>): Promise<Result<ListLedgerRoute>> {
  const { limit, cursor, signature } = input
  if (cursor === undefined) await catchUp(context)
  const filters = await ledgerFilters(context, input)
  return recordPage(await pageEntries(context.store.db, { ...filters, signature, limit, cursor }), ledgerEntryRecord)
}

// Converts the filters of a request to those of the store. Each chain has its own ledger.

type RequestFilters = Omit<Input<Api['ledger']['list']>, 'limit' | 'cursor' | 'signature'>

/** Throws internal_error when no node reports which chain this is. */
async function ledgerFilters(
  { chain }: Pick<Context, 'chain'>,
  { pool, mint, party, kind, account, created_after, created_before }: RequestFilters,
): Promise<LedgerFilters> {
  return {
    genesis: await chain.genesisHash(),
    ...{ pool, party, kind, owner: account, after: created_after, before: created_before },
    token: mint === 'SOL' ? SOL : mint,
  }
}
