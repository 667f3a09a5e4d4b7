/** The tables of programs against the IDLs that their SDKs have: first bytes, accounts with their roles, arguments, fields. */
import { describe, expect, it } from 'vitest'
import { SQUADS } from '../../src/solana/programs/squads.ts'
import { accountRows, instructionRows, squadsIdl } from '../../tools/anchor-idl.ts'

/** The table names the parts of a message in its own words. */
const unnamed = (type: string) => type.replaceAll(/(?<=[{,])\w+:/g, '')

describe('the table of Squads v4', () => {
  it('has every instruction of the IDL', () => {
    expect(SQUADS.rows.instructions).toEqual(instructionRows(squadsIdl()))
  })

  it('has its accounts as in the IDL', () => {
    const rows = accountRows(squadsIdl())
    for (const [name, [prefix, fields]] of Object.entries(SQUADS.rows.accounts)) {
      expect([prefix, unnamed(fields)]).toEqual([rows[name]![0], unnamed(rows[name]![1])])
    }
  })
})
