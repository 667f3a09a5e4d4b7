/** Every language of the claim page says everything, with the same placeholders. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

const FOLDER = resolve(import.meta.dirname, '../../src/claim-page/browser/texts')
const read = (file: string): Record<string, string> => JSON.parse(readFileSync(join(FOLDER, file), 'utf8'))
const placeholders = (text: string) => [...text.matchAll(/\{\w+\}/g)].map(([each]) => each).sort()

describe('the texts of the claim page', () => {
  const english = read('en.json')
  const files = readdirSync(FOLDER)

  it('exist in seven languages', () => {
    expect(files.sort()).toEqual(['de.json', 'en.json', 'es.json', 'fr.json', 'ja.json', 'pt.json', 'zh.json'])
  })

  it.each(files)('are complete in %s', (file) => {
    const texts = read(file)
    expect(Object.keys(texts)).toEqual(Object.keys(english))
    for (const [key, text] of Object.entries(texts)) {
      expect([key, placeholders(text)]).toEqual([key, placeholders(english[key]!)])
      expect(text.trim(), key).toBe(text)
      expect(text.length, key).toBeGreaterThan(0)
    }
  })
})
