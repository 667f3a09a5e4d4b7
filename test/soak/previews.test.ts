/** Previews of many random launches equal what the real programs do. */
import { describe, it } from 'vitest'
import { lacksDbc } from '../support/dbc.ts'
import { expectPreviewsOfRandomPresets } from '../support/previewed-presets.ts'

describe.skipIf(lacksDbc)('previews (needs DBC, DAMM v2, Metaplex and Lock in the cache)', () => {
  it('equal the programs for 80 random presets at 20 points, and through their migrations', async ({ annotate }) => {
    await annotate(JSON.stringify(await expectPreviewsOfRandomPresets(80)), 'compared')
  })
})
