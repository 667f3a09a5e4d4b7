/** The tables of programs against the IDLs that their SDKs have: first bytes, accounts with their roles, arguments, fields. */
import { CpAmmIdl } from '@meteora-ag/cp-amm-sdk'
import { DynamicBondingCurveIdl } from '@meteora-ag/dynamic-bonding-curve-sdk'
import { describe, expect, it } from 'vitest'
import { DAMM_V2 } from '../../src/solana/programs/damm-v2.ts'
import { DBC } from '../../src/solana/programs/dbc.ts'
import { SQUADS } from '../../src/solana/programs/squads.ts'
import { accountRows, flatRows, type Idl, instructionRows, squadsIdl } from '../../tools/anchor-idl.ts'

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

describe.each([
  ['DBC', DBC.rows, DynamicBondingCurveIdl as unknown as Idl],
  ['DAMM v2', DAMM_V2.rows, CpAmmIdl as unknown as Idl],
])('the table of %s', (_, rows, idl) => {
  it('has every instruction of the IDL', () => {
    expect(rows.instructions).toEqual(instructionRows(idl))
  })

  it('has its accounts and events as in the IDL', () => {
    expect(flatRows(idl)).toMatchObject({ ...rows.accounts, ...rows.events })
  })
})
