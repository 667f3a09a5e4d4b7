/** Reads every page of the curves that pools can be launched with. */
import type { PoolPreset } from '../../src/api/pool-presets.ts'
import type { Client } from '../../src/client.ts'
import { readAllPages } from '../cli/pages.ts'

export const allPresets = (client: Client): Promise<PoolPreset[]> =>
  readAllPages((paging) => client.pools.presets(paging))
