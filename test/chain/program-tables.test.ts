/** The tables of programs against the IDLs that their SDKs have: first bytes, accounts with their roles, arguments, fields. */
import { CpAmmIdl } from '@meteora-ag/cp-amm-sdk'
import { DynamicBondingCurveIdl } from '@meteora-ag/dynamic-bonding-curve-sdk'
import { describe, expect, it } from 'vitest'
import { DAMM_V2 } from '../../src/solana/programs/damm-v2.ts'
import { DBC } from '../../src/solana/programs/dbc.ts'
import { PRESALE, SERVER_METADATA_BYTES } from '../../src/solana/programs/presale.ts'
import { SQUADS } from '../../src/solana/programs/squads.ts'
import { accountRows, flatRows, type Idl, instructionRows, presaleIdl, squadsIdl } from '../../tools/anchor-idl.ts'

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

describe('the table of Meteora Presale', () => {
  const idl = presaleIdl()
  /** Accounts that the program reads after those of its IDL. */
  const MORE: Readonly<Record<string, string>> = {
    creator_withdraw: ' token_vault:w token_mint',
    initialize_presale: ' fixed_price_presale_args:w*',
  }
  /** Numbers that have names in the table. */
  const numbered = (args: string) =>
    args.replace(/(?<=_mode:|_action:)<[\w,]+>|(?<=(?:disable_withdraw|_cap_reached):)bool/g, 'u8')

  it('has every instruction of the IDL, and the accounts that the program reads in addition', () => {
    const expected = Object.entries(instructionRows(idl)).map(([name, [prefix, accounts, args]]) => [
      name,
      [prefix, `${accounts}${MORE[name] ?? ''}`, args],
    ])
    const rows = Object.entries(PRESALE.rows.instructions).map(([name, [prefix, accounts, args]]) => [
      name,
      [prefix, accounts, numbered(args)],
    ])
    expect(Object.fromEntries(rows)).toEqual(Object.fromEntries(expected))
  })

  it('has its accounts and events as in the IDL', () => {
    expect(flatRows(idl)).toMatchObject({ ...PRESALE.rows.accounts, ...PRESALE.rows.events })
  })

  it('has sizes of the accounts that the program makes', () => {
    expect(PRESALE.sizeOf('presale')).toBe(1_272)
    expect(PRESALE.sizeOf('escrow')).toBe(200)
    expect(PRESALE.sizeOf('fixed_price_presale_extra_args')).toBe(168)
    expect(PRESALE.sizeOf('merkle_root_config')).toBe(152)
    expect(PRESALE.offsetOf('permissioned_server_metadata', 'server_url') + 4).toBe(SERVER_METADATA_BYTES)
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
