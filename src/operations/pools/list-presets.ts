/** Lists the curves that pools can be launched with, in the order of the configuration. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { internal } from '../../platform/errors.ts'
import { ConfigError } from '../../settings/config.ts'
import { decodeCursor, encodeCursor } from '../../store/queries/paging.ts'
import { loadCurves, presetRecord } from './presets.ts'

type ListPresetsRoute = Api['pools']['presets']

const LIST = 'pool_presets'

export async function listPresets(
  { config }: Context,
  { limit, cursor }: Input<ListPresetsRoute>,
): Promise<Result<ListPresetsRoute>> {
  const curves = await loadCurves(config).catch((error) => {
    throw error instanceof ConfigError ? internal(error.message) : error
  })
  const from = cursor === undefined ? 0 : decodeCursor(LIST, cursor)
  const to = from + limit
  const items = [...curves.values()].slice(from, to).map((curve) => presetRecord(curve, config))
  return { items, next_cursor: to < curves.size ? encodeCursor(LIST, to) : null }
}
