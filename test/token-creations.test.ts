/** Tokens that are created with extensions of Token-2022: built by the API, run by the real program, read by spl-token. */
import * as spl from '@solana/spl-token'
import { Keypair, PublicKey } from '@solana/web3.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MEMO_PROGRAM } from '../src/solana/program-ids.ts'
import { readMintExtensions } from '../src/solana/token-extensions.ts'
import { runs } from './support/runs.ts'
import { sharedService } from './support/service.ts'
import { signV1 } from './support/version1.ts'
import { keypairOf, signWith, walletOn } from './support/wallets.ts'

const DELEGATE = Keypair.generate().publicKey.toBase58()
const HOOK = MEMO_PROGRAM
const body = { name: 'My Token', symbol: 'MTK', initial_supply: '1000000', uri: 'https://example.com/t.json' }
const EXTENSIONS = {
  transfer_fee: { basis_points: 125, maximum_fee: '5000' },
  interest_rate: { basis_points: -250 },
  scaled_amount: { multiplier: '1.5' },
  non_transferable: true,
  default_frozen: true,
  permanent_delegate: DELEGATE,
  pausable: true,
  transfer_hook: { program: HOOK },
  closable: true,
} as const
type Name = keyof typeof EXTENSIONS
const NAMES = Object.keys(EXTENSIONS) as Name[]
const TYPES: Record<Name, spl.ExtensionType> = {
  transfer_fee: spl.ExtensionType.TransferFeeConfig,
  interest_rate: spl.ExtensionType.InterestBearingConfig,
  scaled_amount: spl.ExtensionType.ScaledUiAmountConfig,
  non_transferable: spl.ExtensionType.NonTransferable,
  default_frozen: spl.ExtensionType.DefaultAccountState,
  permanent_delegate: spl.ExtensionType.PermanentDelegate,
  pausable: spl.ExtensionType.PausableConfig,
  transfer_hook: spl.ExtensionType.TransferHook,
  closable: spl.ExtensionType.MintCloseAuthority,
}

const shared = sharedService()

async function open() {
  const { services, request } = await shared()
  const { chain, wallet: payer, address } = await walletOn(services)
  const ask = (extensions: object | undefined, more: object = {}) =>
    request('POST', '/v2/tokens', {
      body: { ...body, payer: address, token_program: 'token2022', extensions, ...more },
    })
  const create = async (names: readonly Name[], more: object = {}) => {
    const extensions = Object.fromEntries(names.map((name) => [name, EXTENSIONS[name]]))
    const { status, json } = await ask(extensions, {
      revoke_freeze_authority: !names.includes('default_frozen'),
      ...more,
    })
    expect(status, JSON.stringify(json)).toBe(200)
    const { mint, transaction, required_signers, warnings } = json.data
    const keys = [payer, keypairOf(required_signers.mint_secret_key)]
    const unsigned = Buffer.from(transaction, 'base64')
    const isVersion1 = 'tx_version' in more && more.tx_version === 1
    const landed = chain.send(isVersion1 ? signV1(unsigned, keys) : Buffer.from(signWith(transaction, keys), 'base64'))
    expect(landed.err, landed.logs.join('\n')).toBeNull()
    chain.advance(1)
    return { mint: new PublicKey(mint), warnings, size: Buffer.from(transaction, 'base64').length }
  }
  const mintOf = (mint: PublicKey) => {
    const { data, lamports } = chain.account(mint.toBase58())!
    const info = { data: Buffer.from(data), owner: spl.TOKEN_2022_PROGRAM_ID, lamports: 0, executable: false }
    return { data, lamports, state: spl.unpackMint(mint, info, spl.TOKEN_2022_PROGRAM_ID) }
  }
  return { chain, request, payer, address, ask, create, mintOf }
}

/** Whole entries alone: a mint as long as a multisig gets two more bytes, over which the reader of spl-token runs. */
function entriesOf(data: Buffer): Buffer {
  let end = 0
  while (end + 4 <= data.length) end += 4 + data.readUInt16LE(end + 2)
  return data.subarray(0, end)
}

describe('a new token', () => {
  it.each(NAMES)('has the extension %s alone, as spl-token reads it, and says what it means', async (name) => {
    const { create, mintOf } = await open()
    const { mint, warnings } = await create([name])
    const { state } = mintOf(mint)
    expect([state.supply, state.decimals]).toEqual([1_000_000n, 6])
    const { TokenMetadata, MetadataPointer } = spl.ExtensionType
    expect(spl.getExtensionTypes(state.tlvData).sort()).toEqual([TYPES[name], MetadataPointer, TokenMetadata].sort())
    expect(warnings).toHaveLength(1)
  })

  it('has every choice of extensions, with exact rent, in one transaction', { tags: 'sampled' }, async () => {
    const { chain, payer, create, mintOf, address } = await open()
    await fc.assert(
      fc.asyncProperty(
        fc.subarray(NAMES).filter((names) => !(names.includes('interest_rate') && names.includes('scaled_amount'))),
        fc.record({
          uri: fc.integer({ min: 1, max: 170 }).map((length) => `https://example.com/${'u'.repeat(length)}`),
          tx_version: fc.constantFrom(0, 1),
        }),
        async (names, more) => {
          const { mint, size, warnings } = await create(names, more)
          if (more.tx_version === 0) expect(size).toBeLessThanOrEqual(1232)
          expect(warnings ?? []).toHaveLength(names.length)
          const { data, lamports, state } = mintOf(mint)
          expect(lamports).toBe(chain.minimumBalance(data.length))
          const chosen = new Set(spl.getExtensionTypes(entriesOf(state.tlvData)))
          expect(NAMES.filter((name) => chosen.has(TYPES[name]))).toEqual(names)
          const account = spl.getAssociatedTokenAddressSync(mint, payer.publicKey, false, spl.TOKEN_2022_PROGRAM_ID)
          const tokens = chain.account(account.toBase58())!
          const info = {
            data: Buffer.from(tokens.data),
            owner: spl.TOKEN_2022_PROGRAM_ID,
            lamports: 0,
            executable: false,
          }
          const own = spl.unpackAccount(account, info, spl.TOKEN_2022_PROGRAM_ID)
          expect([own.amount, own.isFrozen]).toEqual([1_000_000n, false])
          expect(readMintExtensions(data)).toMatchObject({
            transferFee: names.includes('transfer_fee') ? { newer: { basisPoints: 125, maximumFee: 5_000n } } : null,
            interestBasisPoints: names.includes('interest_rate') ? -250 : null,
            uiMultiplier: names.includes('scaled_amount') ? { after: 1.5 } : null,
            isTransferable: !names.includes('non_transferable'),
            isFrozenByDefault: names.includes('default_frozen'),
            permanentDelegate: names.includes('permanent_delegate') ? DELEGATE : null,
            isPaused: names.includes('pausable') ? false : null,
            transferHook: names.includes('transfer_hook') ? HOOK : null,
            authorities: {
              metadata_pointer: null,
              ...(names.includes('transfer_fee') ? { transfer_fee_config: address, withheld_withdraw: address } : {}),
              ...(names.includes('interest_rate') ? { interest_rate: address } : {}),
              ...(names.includes('scaled_amount') ? { scaled_amount: address } : {}),
              ...(names.includes('permanent_delegate') ? { permanent_delegate: DELEGATE } : {}),
              ...(names.includes('pausable') ? { pause: address } : {}),
              ...(names.includes('transfer_hook') ? { transfer_hook: address } : {}),
              ...(names.includes('closable') ? { close: address } : {}),
            },
          })
        },
      ),
      { numRuns: runs(25, 200), endOnFailure: true },
    )
  })

  it('has exact rent with extensions that make its mint as long as a multisig before its metadata', async () => {
    const { chain, create, mintOf } = await open()
    const { mint } = await create(['transfer_fee', 'non_transferable', 'default_frozen'])
    const { data, lamports } = mintOf(mint)
    expect(lamports).toBe(chain.minimumBalance(data.length))
  })

  it('has all extensions with the longest texts in one transaction of version 0', async () => {
    const { create } = await open()
    const uri = `https://example.com/${'u'.repeat(180)}`
    const all = NAMES.filter((name) => name !== 'interest_rate')
    const { size } = await create(all, {
      name: 'N'.repeat(20),
      symbol: 'S'.repeat(10),
      uri,
      revoke_mint_authority: true,
    })
    expect(size).toBeLessThanOrEqual(1232)
  })

  it.each<[string, object, object, string]>([
    ['extensions of SPL Token', { pausable: true }, { token_program: 'spl' }, 'extensions'],
    ['a fee above 100 %', { transfer_fee: { basis_points: 10_001 } }, {}, 'extensions.transfer_fee.basis_points'],
    [
      'a largest fee beyond 64 bits',
      { transfer_fee: { basis_points: 1, maximum_fee: '9'.repeat(20) } },
      {},
      'extensions.transfer_fee.maximum_fee',
    ],
    ['a multiplier of 0', { scaled_amount: { multiplier: '0.0' } }, {}, 'extensions.scaled_amount.multiplier'],
    ['an unknown extension', { confetti: true }, {}, 'extensions.confetti'],
    [
      'interest and a multiplier',
      { interest_rate: { basis_points: 1 }, scaled_amount: { multiplier: '2' } },
      {},
      'extensions.scaled_amount',
    ],
    ['frozen accounts that nobody can thaw', { default_frozen: true }, {}, 'revoke_freeze_authority'],
    ['a hook that is not a program', { transfer_hook: { program: DELEGATE } }, {}, 'extensions.transfer_hook.program'],
    [
      'a token program as the delegate',
      { permanent_delegate: spl.NATIVE_MINT.toBase58() },
      {},
      'extensions.permanent_delegate',
    ],
  ])('is refused with %s, and the answer names the field', async (_, extensions, more, param) => {
    const { ask } = await open()
    const { status, json } = await ask(extensions, more)
    expect([status, json.error?.param]).toEqual([400, param])
  })
})
