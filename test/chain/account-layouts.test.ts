/** Accounts of Meteora's programs: kinds, sizes and places of fields as in the IDLs of their SDKs, and as the programs write them. */
import { createHash } from 'node:crypto'
import { CpAmmIdl } from '@meteora-ag/cp-amm-sdk'
import { DynamicBondingCurveIdl } from '@meteora-ag/dynamic-bonding-curve-sdk'
import { Keypair, PublicKey } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { positionAddresses } from '../../src/chain/programs/damm-v2/index.ts'
import { creatorOf, creatorPart, curveOf, leftoverPart } from '../../src/chain/programs/dbc/index.ts'
import { permitsMore } from '../../src/policy/movement/control-changes.ts'
import { touchedAccounts } from '../../src/policy/movement/touched-accounts.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { HAS_DAMM_V2, openDammV2 } from '../support/damm-v2.ts'
import { lacksDbc, openDbcChain, presetWith } from '../support/dbc.ts'

interface Idl {
  accounts: { name: string; discriminator: number[] }[]
  types: { name: string; type: { kind: string; fields?: { name: string; type: unknown }[] } }[]
}
const IDLS = { dbc: DynamicBondingCurveIdl, dammV2: CpAmmIdl } as unknown as Record<'dbc' | 'dammV2', Idl>
const SIZES: Record<string, number> = { bool: 1, u8: 1, u16: 2, u32: 4, u64: 8, i64: 8, u128: 16, pubkey: 32 }

const fieldsOf = ({ types }: Idl, name: string) => types.find((type) => type.name === name)!.type.fields!

/** Bytes of a type; the accounts have no padding between their fields. */
function sizeOf(idl: Idl, type: unknown): number {
  if (typeof type === 'string') return SIZES[type]!
  const { array, defined } = type as { array?: [unknown, number]; defined?: { name: string } }
  if (array !== undefined) return sizeOf(idl, array[0]) * array[1]
  return fieldsOf(idl, defined!.name).reduce((sum, field) => sum + sizeOf(idl, field.type), 0)
}

/** Where a field begins in the account, after its discriminator. */
function offsetOf(idl: Idl, name: string, path: string): number {
  const [field, ...rest] = path.split('.')
  const fields = fieldsOf(idl, name)
  const at = fields.findIndex((each) => each.name === field)
  expect(at, `${name}.${field}`).not.toBe(-1)
  const before = fields.slice(0, at).reduce((sum, each) => sum + sizeOf(idl, each.type), 0)
  if (rest.length === 0) return before + 8
  const { defined } = fields[at]!.type as { defined: { name: string } }
  return before + offsetOf(idl, defined.name, rest.join('.'))
}

/** An account of the kind, with zeros, and how to write into it by the names of the IDL. */
function blank(program: 'dbc' | 'dammV2', name: string) {
  const idl = IDLS[program]
  const data = Buffer.alloc(8 + sizeOf(idl, { defined: { name } }))
  Buffer.from(idl.accounts.find((account) => account.name === name)!.discriminator).copy(data)
  const account = { lamports: 1n, owner: PROGRAMS[program].id, data, executable: false }
  const write = (path: string, bytes: Uint8Array) => void data.set(bytes, offsetOf(idl, name, path))
  return { account, data, write, copy: () => ({ ...account, data: Buffer.from(data) }) }
}

const u64 = (value: bigint) => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(value)
  return bytes
}

describe('the accounts of the IDLs', () => {
  it.each(Object.entries(IDLS))('of %s have the discriminators of their names', (_, { accounts }) => {
    for (const { name, discriminator } of accounts) {
      expect([name, discriminator]).toEqual([
        name,
        [...createHash('sha256').update(`account:${name}`).digest().subarray(0, 8)],
      ])
    }
  })

  it('of launch curves, with a transfer hook or not, have creator and claimed amounts where they are read', () => {
    for (const name of ['VirtualPool', 'TransferHookPool']) {
      const { write, copy } = blank('dbc', name)
      const creator = Keypair.generate().publicKey
      write('pool_state.creator', creator.toBytes())
      expect(creatorOf(copy())).toBe(creator.toBase58())
      expect(creatorPart(copy(), creator.toBase58())).toBeNull()
      const part = () => String(creatorPart(copy(), creator.toBase58()))
      const parts = [part()]
      for (const [path, bytes] of [
        ['pool_state.metrics.total_trading_base_fee', u64(3n)],
        ['pool_state.metrics.total_trading_quote_fee', u64(70n)],
        ['pool_state.is_creator_withdraw_surplus', Uint8Array.of(1)],
        ['pool_state.migration_fee_withdraw_status', Uint8Array.of(2)],
      ] as const) {
        write(path, bytes)
        parts.push(part())
      }
      // Of what was earned, this is not claimed yet.
      for (const path of ['partner_base_fee', 'partner_quote_fee', 'creator_base_fee', 'creator_quote_fee']) {
        write(`pool_state.${path}`, u64(1n))
        parts.push(part())
      }
      expect(new Set(parts).size).toBe(parts.length)
      expect(parts.at(-1)).toBe(Buffer.from(`${creator.toBase58()} 1 68 1 2`).toString())
      expect(leftoverPart(copy())).toBeNull()
      write('pool_state.is_withdraw_leftover', Uint8Array.of(1))
      expect(leftoverPart(copy())).toEqual(Uint8Array.of(1))
    }
  })

  it('of positions have the permissions of a delegate where the policy reads them', () => {
    const { write, copy } = blank('dammV2', 'Position')
    const nft = Keypair.generate().publicKey
    write('nft_mint', nft.toBytes())
    const [address, before] = [nft.toBase58(), copy()]
    write('delegate_permission', Uint8Array.of(2))
    const [touched] = touchedAccounts(address, [address], [before], [copy()], new Map()).values()
    expect(permitsMore(touched!)).toBe(true)
  })
})

describe('the accounts that the programs write', () => {
  it.skipIf(!HAS_DAMM_V2)(
    'of DAMM v2 have kinds, sizes and fields of the IDL (needs DAMM v2 and Metaplex in the cache)',
    async () => {
      const chain = await openDammV2()
      const keys = { creator: chain.wallet(), mint: Keypair.generate(), positionNft: Keypair.generate() }
      const pool = await chain.launch(keys)
      const { position } = await positionAddresses(keys.positionNft.publicKey.toBase58())
      for (const [name, address, fields] of [
        [
          'Pool',
          pool.address,
          { token_a_mint: pool.tokenAMint, token_b_vault: pool.tokenBVault, creator: pool.creator },
        ],
        ['Position', position, { pool: pool.address, nft_mint: keys.positionNft.publicKey.toBase58() }],
      ] as const) {
        expectWritten('dammV2', name, chain.chain.account(address)!.data, fields)
      }
    },
  )

  it.skipIf(lacksDbc)(
    'of launch curves have kinds, sizes and fields of the IDL (needs DBC, DAMM v2, Metaplex and Lock in the cache)',
    async () => {
      const opened = await openDbcChain()
      const pool = await opened.launch({ curve: await curveOf(presetWith()) })
      const { address, config, baseMint, creator, quoteMint, feeClaimer, leftoverReceiver } = pool
      expectWritten('dbc', 'VirtualPool', opened.chain.account(address)!.data, {
        'pool_state.config': config,
        'pool_state.creator': creator,
        'pool_state.base_mint': baseMint,
      })
      expectWritten('dbc', 'PoolConfig', opened.chain.account(config)!.data, {
        quote_mint: quoteMint,
        fee_claimer: feeClaimer,
        leftover_receiver: leftoverReceiver,
      })
    },
  )
})

function expectWritten(
  program: 'dbc' | 'dammV2',
  name: string,
  data: Uint8Array,
  fields: Readonly<Record<string, string>>,
): void {
  const { data: expected } = blank(program, name)
  expect([name, data.length]).toEqual([name, expected.length])
  expect(Buffer.from(data.subarray(0, 8))).toEqual(expected.subarray(0, 8))
  for (const [path, address] of Object.entries(fields)) {
    const at = offsetOf(IDLS[program], name, path)
    expect([path, new PublicKey(data.subarray(at, at + 32)).toBase58()]).toEqual([path, address])
  }
}
