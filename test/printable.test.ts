/** What is never printed as it is: one table for the terminal, --json, CSV and the texts of pages. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { csvLine, writeRows } from '../commands/ledger/csv.ts'
import { PLAIN } from '../commands/ui/paint.ts'
import { jsonText, multiline, render } from '../commands/ui/render.ts'
import { foreignWords } from '../src/claim-page/browser/page-fault.ts'
import { tokenWords } from '../src/claim-page/site/site-subject.ts'
import { quoted } from '../src/merkle/errors.ts'
import { unseenCharacter } from '../src/merkle/file-faults.ts'
import { cleanLabel } from '../src/operations/tokens/labels.ts'
import { printable, UNPRINTABLE } from '../src/platform/printable.ts'

const codes = Array.from({ length: 0x110000 }, (_, code) => code)
const of = (pattern: RegExp) => codes.map((code) => String.fromCodePoint(code)).filter((text) => pattern.test(text))
/** All of Unicode's default ignorables; control, format and private characters; separators; the empty Braille pattern. */
const UNSEEN = of(/^[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\p{Co}\p{Zl}\p{Zp}\u2800]$/u)
const table = new Set(of(new RegExp(`^${UNPRINTABLE.source}$`, 'u')))

it('The table has every default ignorable of Unicode and what a terminal interprets, and no letter, mark or sign', () => {
  expect(UNSEEN.filter((text) => !table.has(text))).toEqual([])
  for (const code of [
    0xad, 0x34f, 0x61c, 0x115f, 0x1160, 0x17b4, 0x180b, 0x200b, 0x200d, 0x202e, 0x2066, 0x2800, 0x3164, 0xfe0f, 0xfeff,
    0xffa0, 0xfffb, 0x1d173, 0xe0001, 0xe01ef,
  ])
    expect(table.has(String.fromCodePoint(code)), code.toString(16)).toBe(true)
  const seen = of(/^[\p{L}\p{N}\p{P}\p{S}\p{Zs}]$/u).filter(
    (text) => table.has(text) && !/\p{Default_Ignorable_Code_Point}|\u2800/u.test(text),
  )
  expect(seen).toEqual([])
})

it('No character of the table reaches a terminal, JSON, a CSV or the text of a page; each is shown escaped', async () => {
  const look = { paint: PLAIN, width: Number.POSITIVE_INFINITY }
  for (let at = 0; at < UNSEEN.length; at += 997) {
    const part = UNSEEN.slice(at, at + 997)
    const name = part.join('x')
    const outcome = { data: { name }, rows: { columns: ['name'], rows: [[name]] } }
    const shown = [
      ...(await Promise.all((['table', 'json', 'plain'] as const).map((format) => render(outcome, format, look)))),
      csvLine([name]),
      jsonText({ name }),
      multiline(name),
      foreignWords(name, 1e6),
      tokenWords('mint', name, name).name,
      quoted(name),
      cleanLabel(name, 1e6) ?? '',
    ]
    for (const text of shown) expect(text.replace(/[\r\n]/g, '').match(UNPRINTABLE) ?? []).toEqual([])
    expect(JSON.parse(jsonText({ name }))).toEqual({ name })
  }
})

it.each(['\u00ad', '\u200d', '\u034f', '\u115f', '\u3164', '\u2800', '\ufe0f', '\u{e0041}'])(
  'A name with the invisible character %j never reads as another name',
  (hidden) => {
    const name = `US${hidden}DC`
    const units = hidden.split('').map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    const shown = `US${units.join('')}DC`
    expect(printable(name)).toBe(shown)
    expect([foreignWords(name), tokenWords('mint', name, name).symbol]).toEqual([shown, shown])
    expect(csvLine([name])).toBe(`${shown}\r\n`)
    expect(cleanLabel(name, 32)).not.toBe('USDC')
    expect(unseenCharacter(name)).toMatchObject({ index: 2 })
  },
)

it('An emoji that is joined of several is shown by its parts, and one sign stays as it is', () => {
  expect(printable('👩\u200d🚀')).toBe('👩\\u200d🚀')
  expect(printable('🚀 é ß 漢 ع')).toBe('🚀 é ß 漢 ع')
})

it('A CSV of more rows than are written together has each of them once', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-csv-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const [file, rows] = [join(folder, 'rows.csv'), Array.from({ length: 30_000 }, (_, i) => i)]
  await writeRows(file, { columns: ['row'], rows, cells: (row) => [row] })
  expect(readFileSync(file, 'utf8')).toBe(['row', ...rows].map((line) => `${line}\r\n`).join(''))
})
