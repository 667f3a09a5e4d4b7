import fc from 'fast-check'
import stringWidth from 'fast-string-width'
import { describe, expect, it } from 'vitest'
import { PLAIN } from '../../commands/ui/paint.ts'
import { render } from '../../commands/ui/render.ts'
import { tableLines } from '../../commands/ui/table.ts'
import { localTime, zonedTime } from '../../commands/ui/times.ts'
import { walletOf } from '../merkle/reference.ts'
import { commandLine } from './command-line.ts'

const cli = commandLine()
const [A, B] = [walletOf(1), walletOf(2)]
const ID = 'BpuIV8evR9MFqWI8EmyeC1dAXtDFe8pQMSkSBRRKcnEAAA'
const SIGNATURE = '5'.repeat(88)
const lines = (headings: string[], rows: string[][], width = Number.POSITIVE_INFINITY) =>
  tableLines(headings, rows, width, PLAIN)
const table = (columns: string[], rows: unknown[][], width: number) =>
  render({ data: null, rows: { columns, rows } }, 'table', { paint: PLAIN, width })

describe('a table that must fit', () => {
  it('cuts addresses in the middle, but not the one that its rows are called by', () => {
    const rows = [[A, B, 'live', '2026-11-22 07:31:20']]
    const [heading, row] = lines(['ADDRESS', 'BASE MINT', 'STATUS', 'CREATED AT'], rows, 90)!
    expect(row).toHaveLength(90)
    expect(row).toContain(`${A}  ${B.slice(0, 5)}`)
    expect(row).toMatch(new RegExp(`${B.slice(0, 5)}[^ ]*…[^ ]*${B.slice(-5)}  live  +2026-11-22 07:31:20$`))
    expect(heading!.indexOf('STATUS')).toBe(row!.indexOf('live'))
  })

  it('puts what is copied on lines of their own, and the rest below', () => {
    const shown = lines(['ID', 'SIGNATURE', 'KIND', 'OWNER'], [[ID, SIGNATURE, 'dbc', A]], 40)
    expect(shown).toEqual([
      'ID',
      'SIGNATURE',
      '  KIND  OWNER',
      ID,
      SIGNATURE,
      `  dbc   ${A.slice(0, 16)}…${A.slice(-15)}`,
    ])
  })

  it('breaks text between its words, and headings where they alone are too wide', () => {
    const note = 'the vault lacks the tokens for what can still be claimed'
    const shown = lines(['NO', 'RATE LIMIT PER MINUTE', 'NOTE'], [['1', '120', note]], 50)!
    expect(shown.every((line) => line.length <= 50)).toBe(true)
    expect(shown.join(' ').replace(/\s+/g, ' ')).toContain(note.slice(0, 20))
    expect(shown[0]).not.toContain('RATE LIMIT PER MINUTE')
  })

  it('breaks a text that names a file or a URL between its words, and neither of these', () => {
    const [file, url] = ['/home/somebody/.local/share/svc/operator.key', 'http://127.0.0.1:8787']
    const rows = [
      ['ok', 'key file', file],
      ['ok', 'chain file', `${file} is in use by another; it is looked at when nobody serves it`],
      ['ok', 'daemon', `pid 12 at ${url}`],
    ]
    const shown = lines(['STATUS', 'CHECK', 'DETAIL'], rows, 70)!
    expect(shown[0]).toMatch(/^STATUS {2}CHECK +DETAIL$/)
    expect(shown.every((line) => line.length <= 70)).toBe(true)
    expect(shown.filter((line) => line.includes(file))).toHaveLength(2)
    expect(shown.join('\n')).toContain(`pid 12 at ${url}`)
  })

  it('becomes a list of records where no columns do', async () => {
    const columns = ['id', 'signature', 'a_long_status', 'another_long_status', 'occurred_at']
    const row = [ID, SIGNATURE, 'migration_triggered', 'migration_triggered', '2026-11-22T06:00:00.000Z']
    const shown = await table(columns, [row, row], 30)
    expect(shown.split('\n\n')).toHaveLength(2)
    expect(shown).toContain(ID)
    expect(shown).toContain(SIGNATURE)
    expect(shown).toContain('migration_triggered')
  })

  it('counts the columns that a character takes', () => {
    const rows = [
      ['漢字', 'x'],
      ['👩‍👩‍👧', 'x'],
      ['ab', 'x'],
      ['é', 'x'],
    ]
    const shown = lines(['NAME', 'NEXT'], rows)!
    for (const line of shown.slice(1)) expect(stringWidth(line.slice(0, line.indexOf('x')))).toBe(6)
  })

  it('keeps every line within the width and every identifier whole, whatever the cells', () => {
    const cell = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 60 }).map((text) => text.replace(/[\p{Cc}\u2028\u2029]/gu, '')),
      fc.constantFrom(A, B, '12.5', '', 'migration_triggered', '2026-11-22 07:31:20'),
    )
    fc.assert(
      fc.property(
        fc.array(fc.tuple(cell, cell, cell), { minLength: 1, maxLength: 6 }),
        fc.integer({ min: 20, max: 130 }),
        (cells, width) => {
          const rows = cells.map((row, i) => [`${ID.slice(0, -1)}${i}`, ...row])
          const shown = lines(['ID', 'ONE', 'TWO', 'THREE'], rows, width)
          if (shown === null) return
          for (const [id] of rows) expect(shown.some((line) => line.includes(id!))).toBe(true)
          const isOwn = (line: string) => rows.some((row) => row.includes(line))
          for (const line of shown) if (!isOwn(line)) expect(stringWidth(line)).toBeLessThanOrEqual(width)
        },
      ),
    )
  })

  it('is whole where it is no terminal that reads it', async () => {
    const row = [ID, SIGNATURE, A, B, 'x'.repeat(300)]
    const shown = await table(['id', 'signature', 'owner', 'mint', 'note'], [row], Number.POSITIVE_INFINITY)
    for (const cell of row) expect(shown).toContain(cell)
  })
})

describe('a record that must fit', () => {
  it('breaks text below its beginning, and puts what is one long word on a line of its own', async () => {
    const data = { status: 'live', note: 'word '.repeat(30).trim(), signature: SIGNATURE }
    const shown = await render({ data }, 'table', { paint: PLAIN, width: 60 })
    const all = shown.trimEnd().split('\n')
    expect(all.filter((line) => line.length > 60).map((line) => line.trim())).toEqual([SIGNATURE])
    expect(all.filter((line) => line.includes('word')).length).toBeGreaterThan(2)
  })

  it('puts several signatures on a line each, with nothing beside them', async () => {
    const signatures = [SIGNATURE, SIGNATURE.replaceAll('5', '6')]
    const shown = await render({ data: { status: 'live', signatures } }, 'table', { paint: PLAIN, width: 80 })
    expect(shown.split('\n')).toEqual(expect.arrayContaining(signatures.map((one) => `  ${one}`)))
  })

  it('breaks a laid-out line whose beginning alone is too wide', async () => {
    const text = `    ${A} (of ${B})  -31080797.086181 of ${A}`
    const shown = await render({ data: null, text }, 'table', { paint: PLAIN, width: 80 })
    expect(shown.split('\n').filter((line) => line.length > 80)).toEqual([])
    expect(shown.replace(/\s+/g, ' ').trim()).toBe(text.trim().replace(/\s+/g, ' '))
  })

  it('indents what is deep, a line for each field', async () => {
    const data = { id: 'evt_1', data: { object: { address: A, owner: B, more: 'and more' } } }
    const shown = await render({ data }, 'table', { paint: PLAIN, width: 80 })
    expect(shown.split('\n')).toEqual(expect.arrayContaining(['DATA', `      "address": "${A}",`]))
    expect(await render({ data }, 'table', { paint: PLAIN, width: Number.POSITIVE_INFINITY })).toContain(
      `DATA  ${JSON.stringify(data.data)}`,
    )
  })
})

describe('moments', () => {
  it('are dates of this place in a table, with their distance from UTC in a record, and as they were for a script', async () => {
    const at = '2026-11-22T06:00:00.000Z'
    const rows = { columns: ['name', 'created_at', 'created'], rows: [[at, at, 1_795_327_200]] }
    const shown = await render({ data: null, rows }, 'table', { paint: PLAIN, width: 100 })
    expect(shown).toContain(`${at}  ${localTime(at)}  ${localTime(1_795_327_200_000)}`)
    expect(await render({ data: { created_at: at } }, 'table', { paint: PLAIN, width: 100 })).toBe(
      `CREATED AT  ${zonedTime(at)}\n`,
    )
    expect(await render({ data: null, rows }, 'plain', { paint: PLAIN, width: 20 })).toBe(`${at}\t${at}\t1795327200\n`)
    const key = await cli.svc(['keys', 'create', '--name', 'k', '--json'])
    const { created_at } = JSON.parse(key.stdout)
    const berlin = await cli.spawned(['keys', 'list'], { env: { TZ: 'Asia/Kolkata' } })
    const local = new Date(Date.parse(created_at) + 19_800_000).toISOString().slice(0, 19).replace('T', ' ')
    expect(berlin.stdout).toContain(local)
  })
})
