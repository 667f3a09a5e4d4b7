/** What no raise is built of, each with its field and the way out. */
import * as spl from '@solana/spl-token'
import { Keypair, PublicKey } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import type { Extension, MintOptions } from '../support/gold.ts'
import { createMint } from '../support/gold.ts'
import { withFee } from '../support/locks.ts'
import { addressOf, FIRST_COME, FIXED, HOUR, isoOf, lacksPresale, PRO_RATA, raisesOn } from '../support/new-raises.ts'
import { sharedService } from '../support/service.ts'

const POOL = { quote_bps: 5_000, reserve: '1000000000000' }
const ROUND = { supply: '2500000000000' }
const LISTED = { ...FIXED, allowlist: true }
const TWO = { ...LISTED, rounds: [ROUND, ROUND] }
const none = { price: undefined }

describe.skipIf(lacksPresale !== '')(`no raise is built ${lacksPresale}`, () => {
  const service = sharedService({ settings: { 'priority-fee': 'none' } })
  let opened: ReturnType<typeof raisesOn> | undefined
  const open = async () => (opened ??= raisesOn(await service()))

  it.each([
    ['min', { ...FIXED, min: '5000000001' }, 'min: 5000000001 is more than the 5000000000 of max'],
    ['min', { ...FIXED, min: FIXED.max }, 'min: at a fixed price it must be less than max'],
    ['price', { ...PRO_RATA, price: '1' }, 'price: only a fixed_price raise has one: leave it out'],
    ['price', { ...FIXED, supply: '1' }, 'price: send either price or supply'],
    ['price', { ...FIXED, ...none }, 'price: send either price or supply'],
    ['price', { ...FIXED, price: '0.000000000000000001', max: '18446744073709551615' }, 'more than a vault can hold'],
    ['max', { ...FIXED, price: '6', min: '1', max: '5' }, 'max: 5 buys less than one raw unit'],
    ['supply', { ...PRO_RATA, supply: undefined }, 'supply: send how many raw units'],
    ['supply', { ...TWO, supply: '1' }, 'supply: with rounds it is the sum of theirs'],
    ['rounds', { ...TWO, allowlist: false }, 'rounds: several rounds need an allowlist'],
    ['rounds', { ...TWO, rounds: [ROUND, { supply: '1' }] }, 'rounds: at this price max buys 4999999999999 raw units'],
    [
      'rounds',
      { ...PRO_RATA, allowlist: true, supply: undefined, rounds: Array(2).fill({ supply: String(2n ** 63n) }) },
      'rounds: together they sell 18446744073709551616',
    ],
    ['buyer_min', { ...TWO, buyer_min: '1' }, 'buyer_min: each round has its own'],
    ['deposit_fee_bps', { ...TWO, deposit_fee_bps: 1 }, 'deposit_fee_bps: each round has its own'],
    ['buyer_min', { ...LISTED, buyer_min: '2' }, 'buyer_min: with an allowlist the program demands 1: leave it out'],
    [
      'rounds.1.buyer_max',
      { ...TWO, rounds: [ROUND, { ...ROUND, buyer_max: '9' }] },
      "rounds.1.buyer_max: with an allowlist the program demands 5000000000: leave it out, and put each wallet's cap into the list",
    ],
    [
      'buyer_min',
      { ...FIXED, price: '7', min: '7', buyer_min: '6' },
      'buyer_min: 6 buys less than one raw unit of the token; the least is 7',
    ],
    ['buyer_max', { ...FIXED, buyer_max: '5000000001' }, 'buyer_max: 5000000001 is more than'],
    ['buyer_min', { ...FIXED, buyer_min: '9', buyer_max: '8' }, 'buyer_min: 9 is more than the 8 of buyer_max'],
    [
      'buyer_max',
      { ...FIRST_COME, min: '1', max: '100', buyer_min: '30', buyer_max: '32' },
      'buyer_max: max can never be reached: with 30 to 32 a buyer there is room for at most 3, who pay 96 of 100: lower buyer_min, raise buyer_max, or send 96 as max',
    ],
    [
      'min',
      { ...FIRST_COME, min: '95', max: '100', buyer_min: '10' },
      'min: a rest below 10, the least of a buyer, may stay, so that deposits end at 91 and the raise fails: send at most 91 as min, or lower buyer_min',
    ],
    [
      'min',
      { ...FIXED, price: '7', min: '98', max: '100', buyer_min: '8' },
      'a rest below 14, the least of a buyer, may stay',
    ],
    ['release_bps', { ...FIXED, release_bps: 5_000 }, 'release_bps: the rest must be locked or vest'],
    ['release_bps', { ...FIXED, release_bps: 10_000, lock_seconds: 1 }, 'release_bps: all is released at once'],
    ['vesting_seconds', { ...FIXED, lock_seconds: 1, vesting_seconds: 315_359_999 }, 'must be less than ten years'],
    ['release_at', { ...FIXED, lock_seconds: 1, release_at: isoOf(2e9) }, 'release_at: nothing is released at once'],
    ['release_at', { ...FIXED, release_at: isoOf(2e9) }, 'release_at: must be from the end of the raise'],
    [
      'release_bps',
      { ...FIXED, pool: POOL, release_bps: 1 },
      'lets too much out: buyers could claim at the end, and open the only pool of the pair before the creator does: leave it out, or send pool.when: before_end',
    ],
    ['lock_seconds', { ...PRO_RATA, pool: POOL, lock_seconds: 0 }, 'lets too much out'],
    ['pool.when', { ...PRO_RATA, pool: { ...POOL, when: 'before_end' } }, 'which needs a fixed price'],
    [
      'pool.price_bps',
      { ...FIXED, pool: { ...POOL, price: 'reserve', price_bps: 9 } },
      'the price follows from the reserve',
    ],
    [
      'pool',
      { ...FIXED, min: '1', pool: { ...POOL, quote_bps: 1 } },
      'pool: The pool would have nothing of what is raised',
    ],
    ['withdrawable', { ...PRO_RATA, withdrawable: false }, 'buyers of a pro_rata raise can always withdraw'],
    ['withdrawable', { ...FIRST_COME, withdrawable: true }, 'buyers of a first_come raise can never withdraw'],
    [
      'creator',
      { ...FIXED, creator: addressOf(Keypair.generate()), creator_vault: { multisig: addressOf(Keypair.generate()) } },
      'creator: send either creator or creator_vault',
    ],
    ['payer', { ...FIXED, max: '500000000000' }, 'are needed: send it the tokens first'],
    [
      'payer',
      { ...FIXED, pool: { ...POOL, reserve: '15000000000002' } },
      'and 20000000000001 are needed (4999999999999 for sale and 15000000000002 for the pool)',
    ],
    ['quote_mint', { ...FIXED, quote_mint: addressOf(Keypair.generate()) }, 'quote_mint: there is no token mint at'],
    ['mint', { ...FIXED, mint: addressOf(Keypair.generate()) }, 'mint: there is no token mint at'],
  ])('because of %s in %j', async (param, terms, text) => {
    const it = await open()
    await it.expectRefused(terms, param, text)
  })

  it('for times that the program refuses', async () => {
    const it = await open()
    const at = (seconds: number) => isoOf(it.now() + seconds)
    const day = 24 * HOUR
    await it.expectRefused(
      { ends_at: at(40) },
      'ends_at',
      'ends_at: must be from 60 seconds to 30 days after the start',
    )
    await it.expectRefused({ ends_at: at(30 * day + 60) }, 'ends_at', 'ends_at: must be from 60 seconds to 30 days')
    await it.expectRefused({ ends_at: at(-9) }, 'ends_at', "the chain's clock shows")
    const late = { starts_at: at(30 * day + 60), ends_at: at(31 * day) }
    await it.expectRefused(late, 'starts_at', 'starts_at: must be at most 30 days ahead')
    await it.expectRefused({ starts_at: at(HOUR), ends_at: at(HOUR - 1) }, 'ends_at', 'ends_at: must be')
  })

  it('for its own quote', async () => {
    const it = await open()
    await it.expectRefused({ quote_mint: it.mint }, 'quote_mint', 'is the token for sale itself')
  })
})

type Initialize = Extension['initialize']
const token2022 = (type: spl.ExtensionType, initialize: Initialize, isFreezable = false): MintOptions => ({
  program: spl.TOKEN_2022_PROGRAM_ID,
  extensions: [{ type, initialize }],
  isFreezable,
})
const { ExtensionType: E } = spl
const delegate: Initialize = (mint, program, by) => spl.createInitializePermanentDelegateInstruction(mint, by, program)
const close: Initialize = (mint, program, by) => spl.createInitializeMintCloseAuthorityInstruction(mint, by, program)
const pause: Initialize = (mint, program, by) => spl.createInitializePausableConfigInstruction(mint, by, program)
const frozen: Initialize = (mint, program) =>
  spl.createInitializeDefaultAccountStateInstruction(mint, spl.AccountState.Initialized, program)
const hookOf =
  (hook: PublicKey): Initialize =>
  (mint, program, by) =>
    spl.createInitializeTransferHookInstruction(mint, by, hook, program)

/** Mints with which somebody could cheat buyers, and what is refused of each. */
const CHEATING: [string, MintOptions, string][] = [
  ['a freeze authority', { isFreezable: true }, 'holds the freeze authority of'],
  ['a permanent delegate', token2022(E.PermanentDelegate, delegate), 'with the extension PermanentDelegate'],
  ['a close authority', token2022(E.MintCloseAuthority, close), 'with the extension MintCloseAuthority'],
  ['a default state', token2022(E.DefaultAccountState, frozen, true), 'with the extension DefaultAccountState'],
  ['a pause', token2022(E.PausableConfig, pause), 'with the extension PausableConfig'],
  ['a hook', token2022(E.TransferHook, hookOf(Keypair.generate().publicKey)), 'which could refuse claims'],
  ['a hook to come', token2022(E.TransferHook, hookOf(PublicKey.default)), 'holds the hook authority of'],
  ['a transfer fee to come', withFee(0, 1n), 'and could raise the transfer fee up to 100 % before buyers claim'],
]

describe.skipIf(lacksPresale !== '')(`no token is for sale with ${lacksPresale}`, () => {
  const service = sharedService({ settings: { 'priority-fee': 'none' } })

  it.each(CHEATING)('%s', async (_, options, text) => {
    const it = await raisesOn(await service(), options)
    await it.expectRefused({}, 'mint', text)
  })

  it('a mint authority, whose way out is named', async () => {
    const it = await raisesOn(await service())
    const { mint } = createMint(it.chain, it.issuer, { isFreezable: false })
    const [param, message] = await it.refuse({ mint: mint.toBase58() })
    expect([param, message]).toEqual([
      'mint',
      `mint: ${addressOf(it.issuer)} holds the mint authority of ${mint}, and could mint any number more: give it up first (DELETE /v2/tokens/{mint}/authorities/mint, \`svc tokens revoke ${mint} mint\`)`,
    ])
  })

  it('a quote that can stop payments, and a quote that can be frozen is warned of', async () => {
    const it = await raisesOn(await service())
    const taking = createMint(it.chain, it.issuer, token2022(E.PermanentDelegate, delegate))
    await it.expectRefused({ quote_mint: taking.mint.toBase58() }, 'quote_mint', 'has the extension PermanentDelegate')
    const dollars = createMint(it.chain, it.issuer)
    const made = await it.create({ quote_mint: dollars.mint.toBase58() })
    expect(made.warnings.join()).toContain(`${addressOf(it.issuer)} can freeze accounts of the quote ${dollars.mint}`)
  })
})
