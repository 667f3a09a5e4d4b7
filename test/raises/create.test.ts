/** The creation of raises over HTTP, on the real program: what is refused, warned, built, and stored. */
import { describe, expect, it } from 'vitest'
import { FIRST_COME, FIXED, lacksPresale, PRO_RATA, raisesOn } from '../support/new-raises.ts'
import { startService } from '../support/service.ts'

const open = async () => raisesOn(await startService({ settings: { 'priority-fee': 'none' } }))

describe.skipIf(lacksPresale !== '')(`a new raise ${lacksPresale}`, () => {
  it.each([FIXED, PRO_RATA, FIRST_COME])('of $sale_mode lands', async (terms) => {
    const it = await open()
    const made = await it.create(terms)
    expect(made).toMatchObject({ sale_mode: terms.sale_mode, rent_kept: '10088880' })
  })
})
