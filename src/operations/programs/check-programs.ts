/** Looks at the programs of the cluster for a request; requests at the same time share one look. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { ApiError, internal } from '../../platform/errors.ts'
import { programReportOf } from './read-programs.ts'
import { watchPrograms } from './watch-programs.ts'

type CheckRoute = Api['programs']['check']

/** The look that runs, by the database that it writes to. */
const running = new WeakMap<Context['store'], ReturnType<typeof watchPrograms>>()

/** Throws internal_error when the node fails, or answers something else. */
export async function checkPrograms(context: Context, { again }: Input<CheckRoute>): Promise<Result<CheckRoute>> {
  const { store, ending, chain } = context
  const look =
    running.get(store) ?? watchPrograms(context, { signal: ending, again }).finally(() => running.delete(store))
  running.set(store, look)
  try {
    return programReportOf(await look, chain.cluster.label)
  } catch (error) {
    if (error instanceof ApiError) throw error
    throw internal(`The programs of ${chain.cluster.label} cannot be read: ${(error as Error).message}`, {
      cause: error,
    })
  }
}
