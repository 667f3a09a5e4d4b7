/** Previews of launches equal what the real programs do: every point of the curve, and the migration. */
import { describe, it } from 'vitest'
import { lacksDbc } from '../support/dbc.ts'
import { expectPreviewsOfRandomPresets } from '../support/previewed-presets.ts'

describe.skipIf(lacksDbc)('a preview (needs DBC, DAMM v2, Metaplex and Lock in the cache)', () => {
  // test/soak/previews.test.ts compares 200.
  it('equals the program for random presets at 20 points, and through the migration', async ({ annotate }) => {
    await annotate(JSON.stringify(await expectPreviewsOfRandomPresets(4)), 'compared')
  })
})
