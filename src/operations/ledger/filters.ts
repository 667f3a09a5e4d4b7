/** Converts the filters of a request to those of the store. Each chain has its own ledger. */
import type { Api } from '../../api/index.ts'
import type { Input } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import type { LedgerFilters } from '../../store/ledger/ledger.ts'
import { SOL } from './postings.ts'

type RequestFilters = Omit<Input<Api['ledger']['list']>, 'limit' | 'cursor' | 'signature'>

/** Throws internal_error when no node reports which chain this is. */
export async function ledgerFilters(
  { chain }: Pick<Context, 'chain'>,
  { pool, mint, party, kind, account, created_after, created_before }: RequestFilters,
): Promise<LedgerFilters> {
  return {
    genesis: await chain.genesisHash(),
    ...{ pool, party, kind, owner: account, after: created_after, before: created_before },
    token: mint === 'SOL' ? SOL : mint,
  }
}
