/** Reads every page of the curves that pools can be launched with. */
import type { PoolPreset } from '../../src/api/pool-presets.ts'
import type { Client } from '../../src/client.ts'

export async function allPresets(client: Client): Promise<PoolPreset[]> {
  const presets: PoolPreset[] = []
  let cursor: string | undefined
  do {
    const page = await client.pools.presets({ limit: '100', ...(cursor === undefined ? {} : { cursor }) })
    presets.push(...page.data)
    cursor = page.meta.next_cursor ?? undefined
  } while (cursor !== undefined)
  return presets
}
