/** Colours of claim pages: the page's own are those of its style sheet, readable, and what is not is refused. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { contrastOf, lowContrasts, OWN_COLOURS } from '../../src/claim-page/site/site-settings.ts'

const CSS = readFileSync(resolve(import.meta.dirname, '../../src/claim-page/browser/claim.css'), 'utf8')

describe('the colours of a claim page', () => {
  it('have the contrast that WCAG computes', () => {
    expect([contrastOf('#000000', '#ffffff'), contrastOf('#777777', '#ffffff').toFixed(2)]).toEqual([21, '4.48'])
    expect(lowContrasts({ ...OWN_COLOURS.light, text: '#777777' })[0]).toMatchObject({ colour: 'text' })
  })

  it('are those of the style sheet if an operator sets none, and all are readable', () => {
    for (const theme of ['light', 'dark'] as const) {
      for (const [name, colour] of Object.entries(OWN_COLOURS[theme])) {
        expect(CSS).toContain(`--${name}-${theme}: ${colour};`)
      }
      expect(lowContrasts(OWN_COLOURS[theme])).toEqual([])
    }
  })
})
