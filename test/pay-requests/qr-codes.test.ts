/** QR codes as a scanner reads them: from the half blocks of a terminal, and from the picture. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { codeLines, codeSvg, modulesOf } from '../../commands/ui/qr-code.ts'
import { readQrCode } from './qr-reader.ts'

const ID = 'pay_8LtQz5WmXc2RvYb7KdNe4JhF'
const LINK = `solana:${encodeURIComponent(`https://pay.example.com/v2/pay/${ID}`)}`
const SEQUENCES = /\u001b\[[\d;]*m/g

/** The dark modules of lines of half blocks; `isReverse` if the blocks are the light ones. */
function modulesIn(lines: readonly string[], isReverse: boolean): boolean[][] {
  const rows = lines.flatMap((line) => {
    const cells = [...line.replace(SEQUENCES, '')]
    return [cells.map((cell) => '█▀'.includes(cell)), cells.map((cell) => '█▄'.includes(cell))]
  })
  const width = rows[0]?.length ?? 0
  return rows.slice(0, width).map((row) => row.map((isDrawn) => isDrawn !== isReverse))
}

describe('a QR code', () => {
  it.each([true, false])('drawn with colours: %s, is read back by a scanner', (isColored) => {
    const lines = codeLines(LINK, { columns: 80, isColored }) ?? []
    expect(lines.length).toBeGreaterThan(20)
    expect(readQrCode(modulesIn(lines, !isColored))).toBe(LINK)
  })

  it('has explicit colours, so that the theme of a terminal does not matter', () => {
    for (const line of codeLines(LINK, { columns: 80, isColored: true }) ?? [])
      expect(line).toMatch(/^\u001b\[38;5;16m\u001b\[48;5;231m[ ▀▄█]+\u001b\[0m$/)
  })

  it('has four light modules on every side', () => {
    const rows = modulesOf(LINK)
    for (const row of [...rows.slice(0, 4), ...rows.slice(-4)]) expect(row).not.toContain(true)
    for (const row of rows) expect([...row.slice(0, 4), ...row.slice(-4)]).not.toContain(true)
  })

  it('that does not fit is not drawn', () => {
    const width = modulesOf(LINK).length
    expect(codeLines(LINK, { columns: width - 1, isColored: true })).toBeNull()
    expect(codeLines(LINK, { columns: width, isColored: true })).toHaveLength(Math.ceil(width / 2))
    expect(width).toBeLessThan(80)
  })

  it('in a file has the same modules', () => {
    const rows = modulesOf(LINK)
    const drawn = [...codeSvg(LINK).matchAll(/M(\d+) (\d+)h1v1h-1z/g)].map(([, x, y]) => `${x} ${y}`)
    const dark = rows.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? `${x} ${y}` : [])))
    expect(drawn).toEqual(dark)
  })

  it('of any link of a terminal of 80 columns is read back', () => {
    const host = fc.domain().filter((name) => name.length < 100)
    fc.assert(
      fc.property(host, fc.boolean(), (name, isColored) => {
        const link = `solana:${encodeURIComponent(`https://${name}/v2/pay/${ID}`)}`
        const lines = codeLines(link, { columns: 80, isColored })
        expect(readQrCode(modulesIn(lines ?? [], !isColored))).toBe(link)
      }),
    )
  })
})
