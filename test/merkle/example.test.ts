/** The recipient list that the documentation and the demo use. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readCsv } from '../../src/merkle/csv.ts'
import { entryAt, totalAmount } from '../../src/merkle/entry-list.ts'
import { buildTree, toHex } from '../../src/merkle/tree.ts'
import { naiveRoot } from './reference.ts'

const bytes = readFileSync(join(import.meta.dirname, '../../examples/recipients.csv'))

describe('examples/recipients.csv', () => {
  it('has 1,200 distinct wallets with whole-token amounts of up to 6 fractional digits', () => {
    const { list, columns, zeroAmounts } = readCsv(bytes, { decimals: 6 })
    expect(list.count).toBe(1200)
    expect([columns.header, zeroAmounts]).toEqual([true, 0])
    expect(bytes.toString()).toMatch(/\.\d{6}\n/)
    expect(totalAmount(list)).toBeLessThan(10n ** 13n)
    const recipients = Array.from({ length: list.count }, (_, i) => entryAt(list, i))
    expect(toHex(buildTree(list).root)).toBe(naiveRoot(recipients))
  })
})
