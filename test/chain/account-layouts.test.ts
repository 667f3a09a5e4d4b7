/** Accounts of Meteora's programs: what is read of them by their tables, and what the programs write. */
import { Keypair } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { positionAddresses } from '../../src/chain/programs/damm-v2/index.ts'
import { buildCurve, creatorOf, creatorPart, leftoverPart } from '../../src/chain/programs/dbc/index.ts'
import { permitsMore } from '../../src/policy/movement/control-changes.ts'
import { touchedAccounts } from '../../src/policy/movement/touched-accounts.ts'
import { DAMM_V2 } from '../../src/solana/programs/damm-v2.ts'
import { DBC } from '../../src/solana/programs/dbc.ts'
import { HAS_DAMM_V2, openDammV2 } from '../support/damm-v2.ts'
import { lacksDbc, openDbcChain, presetWith } from '../support/dbc.ts'
import { u64 } from '../support/little-endian.ts'

/** An account with zeros, as its table has it, and how to write into its fields. */
function blank<N extends string>(table: Kinds<N>, name: N) {
  const data = Buffer.alloc(table.sizeOf(name))
  data.set(table.firstBytesOf(name))
  const write = (at: number, bytes: Uint8Array) => void data.set(bytes, at)
  return { write, copy: () => ({ lamports: 1n, owner: table.id, data: Buffer.from(data), executable: false }) }
}

interface Kinds<N extends string> {
  id: string
  sizeOf(name: N): number
  firstBytesOf(name: N): Uint8Array
}

type CurveField = Parameters<typeof DBC.offsetOf<'virtual_pool'>>[1]

describe('the accounts of Meteora', () => {
  it('of launch curves, with a transfer hook or not, have creator and claimed amounts where they are read', () => {
    for (const name of ['virtual_pool', 'transfer_hook_pool'] as const) {
      const { write: put, copy } = blank<keyof typeof DBC.rows.accounts>(DBC, name)
      const write = (field: CurveField, bytes: Uint8Array) => put(DBC.offsetOf(name, field), bytes)
      const creator = Keypair.generate().publicKey
      write('creator', creator.toBytes())
      expect(creatorOf(copy())).toBe(creator.toBase58())
      expect(creatorPart(copy(), creator.toBase58())).toBeNull()
      const part = () => String(creatorPart(copy(), creator.toBase58()))
      const parts = [part()]
      for (const [path, bytes] of [
        ['total_trading_base_fee', u64(3n)],
        ['total_trading_quote_fee', u64(70n)],
        ['is_creator_withdraw_surplus', Uint8Array.of(1)],
        ['migration_fee_withdraw_status', Uint8Array.of(2)],
      ] as const) {
        write(path, bytes)
        parts.push(part())
      }
      // Of what was earned, this is not claimed yet.
      for (const path of ['partner_base_fee', 'partner_quote_fee', 'creator_base_fee', 'creator_quote_fee'] as const) {
        write(path, u64(1n))
        parts.push(part())
      }
      expect(new Set(parts).size).toBe(parts.length)
      expect(parts.at(-1)).toBe(Buffer.from(`${creator.toBase58()} 1 68 1 2`).toString())
      expect(leftoverPart(copy())).toBeNull()
      write('is_withdraw_leftover', Uint8Array.of(1))
      expect(leftoverPart(copy())).toEqual(Uint8Array.of(1))
    }
  })

  it('of positions have the permissions of a delegate where the policy reads them', () => {
    const { write, copy } = blank<keyof typeof DAMM_V2.rows.accounts>(DAMM_V2, 'position')
    const nft = Keypair.generate().publicKey
    write(DAMM_V2.offsetOf('position', 'nft_mint'), nft.toBytes())
    const [address, before] = [nft.toBase58(), copy()]
    write(DAMM_V2.offsetOf('position', 'delegate_permission'), Uint8Array.of(2))
    const [touched] = touchedAccounts(address, [address], [before], [copy()], new Map()).values()
    expect(permitsMore(touched!)).toBe(true)
  })
})

describe('the accounts that the programs write', () => {
  it.skipIf(!HAS_DAMM_V2)(
    'of DAMM v2 have the kinds, sizes and fields of the table (needs DAMM v2 and Metaplex in the cache)',
    async () => {
      const chain = await openDammV2()
      const keys = { creator: chain.wallet(), mint: Keypair.generate(), positionNft: Keypair.generate() }
      const { address, ...pool } = await chain.launch(keys)
      const nft = keys.positionNft.publicKey.toBase58()
      const { position } = await positionAddresses(nft)
      const [written, opened] = [address, position].map((each) => chain.chain.account(each)!)
      expect([written, opened].map((account) => account!.data.length)).toEqual([
        DAMM_V2.sizeOf('pool'),
        DAMM_V2.sizeOf('position'),
      ])
      const { tokenAMint: token_a_mint, tokenBVault: token_b_vault, creator } = pool
      expect(DAMM_V2.decode('pool', written)).toMatchObject({ token_a_mint, token_b_vault, creator })
      expect(DAMM_V2.decode('position', opened)).toMatchObject({ pool: address, nft_mint: nft })
    },
  )

  it.skipIf(lacksDbc)(
    'of launch curves have the kind, size and fields of the table (needs DBC, DAMM v2, Metaplex and Lock in the cache)',
    async () => {
      const opened = await openDbcChain()
      const { address, config, baseMint, creator } = await opened.launch({ curve: await buildCurve(presetWith()) })
      const account = opened.chain.account(address)!
      expect(account.data.length).toBe(DBC.sizeOf('virtual_pool'))
      expect(DBC.decode('virtual_pool', account)).toMatchObject({ config, creator, base_mint: baseMint })
    },
  )
})
