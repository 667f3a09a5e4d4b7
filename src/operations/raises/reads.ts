/** Reads raises: those recorded here, and any one from the chain. */
import type { Api } from '../../api/index.ts'
import type { RaiseListed } from '../../api/raises.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { internal } from '../../platform/errors.ts'
import { isoTime } from '../../platform/timing.ts'
import { pageRaises, type RaiseRow } from '../../store/resources/raises.ts'
import { listOf } from '../api-records.ts'

type Routes = Api['raises']

export async function getRaise(_context: Context, _input: Input<Routes['get']>): Promise<Result<Routes['get']>> {
  throw internal('not built yet')
}

export const raiseListed = (row: RaiseRow): RaiseListed => ({
  id: row.id,
  mint: row.mint,
  quote_mint: row.quote_mint,
  creator: row.creator,
  sale_mode: row.sale_mode,
  min: row.min,
  max: row.max,
  supply: row.supply,
  state: row.state,
  deposited: row.deposited,
  ends_at: isoTime(row.ends_at),
  withdrawn: row.withdrawn === 1,
  pool_address: row.pool_address,
  settle: row.settle === 1,
  settle_error: row.settle_error,
  created_at: isoTime(row.created_at),
})

export const listRaises = listOf<Routes['list'], RaiseRow>(pageRaises, raiseListed)
