/** Tokens of creators who can take what holders have, built on the real programs: no report calls them clean. */
import * as cpAmm from '@meteora-ag/cp-amm-sdk'
import * as spl from '@solana/spl-token'
import { Keypair, PublicKey, type TransactionInstruction, VersionedTransaction } from '@solana/web3.js'
import BN from 'bn.js'
import { describe, expect, it } from 'vitest'
import type { TokenReport, TokenRisk } from '../src/api/token-report.ts'
import { INCINERATOR } from '../src/solana/program-ids.ts'
import { PROGRAMS } from '../src/solana/programs.ts'
import { flatFee, HAS_DAMM_V2, openStrangersPool, strangersClient } from './support/damm-v2.ts'
import { addressOf, createMint, type Extension, give, type Mint, run, tokenAccountOf } from './support/gold.ts'
import type { TestChain } from './support/local-chain.ts'
import { buildLock } from './support/lock-builds.ts'
import { hasProgram } from './support/programs.ts'
import { sharedService } from './support/service.ts'
import { SOL, walletOn } from './support/wallets.ts'

const { AuthorityType, ExtensionType } = spl
const shared = sharedService()

async function opened() {
  const { services, request } = await shared()
  const { chain, wallet } = await walletOn(services, 1_000n * SOL)
  const land = (instructions: TransactionInstruction[], ...signers: Keypair[]) => {
    const landed = run(chain, instructions, [wallet, ...signers])
    expect(landed.err, landed.logs.join('\n')).toBeNull()
    chain.advance(1)
  }
  const verdict = async (mint: PublicKey, risk: TokenRisk['risk']) => {
    chain.advance(40)
    const { status, json, text } = await request('GET', `/v2/tokens/${mint}/report`)
    expect(status, text).toBe(200)
    return (json.data as TokenReport).risks.find((each) => each.risk === risk)!
  }
  /** A pool of 10^13 raw units of the token against another one's, with a position that its owner can withdraw. */
  const openPool = async (mint: PublicKey): Promise<PublicKey> => {
    const dollars = createMint(chain, wallet)
    give(chain, wallet, dollars, wallet.publicKey, 1_000n * SOL)
    const client = strangersClient()
    const amounts = { tokenAAmount: new BN(10).pow(new BN(13)), tokenBAmount: new BN(10).pow(new BN(12)) }
    const prices = { minSqrtPrice: cpAmm.MIN_SQRT_PRICE, maxSqrtPrice: cpAmm.MAX_SQRT_PRICE }
    const collectFeeMode = cpAmm.CollectFeeMode.OnlyB
    const terms = client.preparePoolCreationParams({ ...amounts, ...prices, collectFeeMode })
    const nft = Keypair.generate()
    const { tx, pool } = await client.createCustomPool({
      ...{ payer: wallet.publicKey, creator: wallet.publicKey, positionNft: nft.publicKey },
      ...{ tokenAMint: mint, tokenBMint: dollars.mint, ...amounts, ...terms },
      ...{ sqrtMinPrice: prices.minSqrtPrice, sqrtMaxPrice: prices.maxSqrtPrice },
      poolFees: { baseFee: flatFee(100), compoundingFeeBps: 0, padding: 0, dynamicFee: null },
      ...{ hasAlphaVault: false, activationType: cpAmm.ActivationType.Timestamp, activationPoint: null },
      ...{ collectFeeMode, tokenAProgram: spl.TOKEN_PROGRAM_ID, tokenBProgram: spl.TOKEN_PROGRAM_ID },
    })
    land(tx.instructions, nft)
    return pool
  }
  /** Gives an authority of the mint away, or up. */
  const sets = ({ mint, program }: Mint, type: spl.AuthorityType, to: PublicKey | null) =>
    spl.createSetAuthorityInstruction(mint, wallet.publicKey, type, to, [], program)
  return { chain, wallet, me: wallet.publicKey, land, verdict, sets, openPool }
}

describe('the report of a creator who withheld 81 % as transfer fees, and then gave the fee up', () => {
  it('calls it a danger while the authority to withdraw them is kept', async () => {
    const { chain, wallet, me, land, verdict, sets } = await opened()
    const program = spl.TOKEN_2022_PROGRAM_ID
    const fee: Extension = {
      type: ExtensionType.TransferFeeConfig,
      initialize: (mint, of, by) =>
        spl.createInitializeTransferFeeConfigInstruction(mint, by, by, 9_000, 2n ** 63n, of),
    }
    const gold = createMint(chain, wallet, { program, extensions: [fee] })
    const { mint } = gold
    const own = give(chain, wallet, gold, me, 10_000n)
    for (let i = 0; i < 9; i++) {
      const holder = give(chain, wallet, gold, Keypair.generate().publicKey, 100n)
      const sent = spl.createTransferCheckedWithFeeInstruction(own, mint, holder, me, 1_000n, 9, 900n, [], program)
      land([sent])
    }
    land([spl.createHarvestWithheldTokensToMintInstruction(mint, [tokenAccountOf(gold, me)], program)])
    land([
      spl.createSetTransferFeeInstruction(mint, me, [], 0, 0n, program),
      sets(gold, AuthorityType.TransferFeeConfig, null),
      sets(gold, AuthorityType.MintTokens, null),
      sets(gold, AuthorityType.FreezeAccount, null),
    ])
    expect(await verdict(mint, 'large_holder')).toMatchObject({
      level: 'danger',
      finding: expect.stringMatching(
        new RegExp(`^${me} holds .* 74\\.31 % are withheld transfer fees that it can withdraw`),
      ),
    })
    land([sets(gold, AuthorityType.WithheldWithdraw, null)])
    expect((await verdict(mint, 'large_holder')).level).toBe('ok')
  })
})

describe('the report of a mint whose shown amounts somebody can change', () => {
  it.each<[string, Extension, spl.AuthorityType]>([
    [
      'by a multiplier',
      {
        type: ExtensionType.ScaledUiAmountConfig,
        initialize: (mint, of, by) => spl.createInitializeScaledUiAmountConfigInstruction(mint, by, 1, of),
      },
      AuthorityType.ScaledUiAmountConfig,
    ],
    [
      'by an interest',
      {
        type: ExtensionType.InterestBearingConfig,
        initialize: (mint, of, by) => spl.createInitializeInterestBearingMintInstruction(mint, by, 0, of),
      },
      AuthorityType.InterestRate,
    ],
  ])('warns of it: %s', async (_, extension, type) => {
    const { chain, wallet, me, land, verdict, sets } = await opened()
    const gold = createMint(chain, wallet, { program: spl.TOKEN_2022_PROGRAM_ID, extensions: [extension] })
    expect(await verdict(gold.mint, 'displayed_amounts')).toMatchObject({
      level: 'warning',
      finding: `Wallets show the amounts that holders have, and ${me} can change what they show.`,
    })
    land([sets(gold, type, null)])
    expect((await verdict(gold.mint, 'displayed_amounts')).level).toBe('ok')
  })
})

describe('the report of a mint whose authorities are at the incinerator', () => {
  it('calls it no danger, because nobody can sign for it', async () => {
    const { chain, wallet, land, verdict, sets } = await opened()
    const gold = createMint(chain, wallet)
    expect((await verdict(gold.mint, 'mint_authority')).level).toBe('danger')
    const burnt = new PublicKey(INCINERATOR)
    land([sets(gold, AuthorityType.MintTokens, burnt), sets(gold, AuthorityType.FreezeAccount, burnt)])
    for (const risk of ['mint_authority', 'freeze_authority'] as const) {
      expect(await verdict(gold.mint, risk)).toMatchObject({
        level: 'ok',
        finding: expect.stringContaining(`${INCINERATOR}, for which nobody can sign`),
      })
    }
  })
})

describe.skipIf(!hasProgram(PROGRAMS.lock.id))(
  'the report of a creator whose 90 % are in a lock (needs Jupiter Lock)',
  () => {
    it.each([
      ['of a few minutes, as held by it', 300n, 'danger'],
      ['of 100 days, as locked', 100n * 86_400n, 'ok'],
    ])('counts a lock %s', async (_, seconds, level) => {
      const { chain, wallet, me, verdict } = await opened()
      const gold = createMint(chain, wallet)
      give(chain, wallet, gold, me, 900n)
      for (let i = 0; i < 10; i++) give(chain, wallet, gold, Keypair.generate().publicKey, 10n)
      const base = Keypair.generate()
      const cliffTime = BigInt(chain.unixTimestamp()) + seconds
      const { transaction } = await buildLock({
        ...{ payer: String(me), recentBlockhash: chain.latestBlockhash().blockhash, base: addressOf(base) },
        ...{ recipient: String(me), mint: String(gold.mint), tokenProgram: 'spl', texts: undefined },
        terms: {
          ...{ startTime: cliffTime - seconds, cliffTime, frequency: 1n, cliffAmount: 900n, amountPerPeriod: 0n },
          ...{ periods: 0n, updateRecipientMode: 0, cancelMode: 0 },
        },
      })
      const signed = VersionedTransaction.deserialize(transaction)
      signed.sign([wallet, base])
      const landed = chain.send(signed.serialize())
      expect(landed.err, landed.logs.join('\n')).toBeNull()
      const found = await verdict(gold.mint, 'large_holder')
      expect(found.level).toBe(level)
      const date = new Date(Number(cliffTime) * 1_000).toISOString().slice(0, 10)
      if (level === 'danger') expect(found.finding).toContain(`90 % are in locks that pay it by ${date}`)
    })
  },
)

describe.skipIf(!HAS_DAMM_V2)('the report of a token with a pool (needs DAMM v2)', () => {
  async function pooled() {
    const made = await opened()
    const { chain, wallet } = made
    const [mint, positionNft] = [Keypair.generate(), Keypair.generate()]
    const send = (instructions: TransactionInstruction[], signers: Keypair[]) => run(chain, instructions, signers)
    const test = { chain, send } as unknown as TestChain
    const pool = new PublicKey(await openStrangersPool(test, { creator: wallet, mint, positionNft }))
    return { ...made, mint: mint.publicKey, nft: positionNft.publicKey, pool }
  }

  it('is not clean because a locked decoy has most of the token against nothing', async () => {
    const { chain, me, land, verdict, openPool, mint, nft, pool } = await pooled()
    const [position, positionNftAccount] = [cpAmm.derivePositionAddress(nft), cpAmm.derivePositionNftAccount(nft)]
    const client = strangersClient()
    const decode = () =>
      client._program.coder.accounts.decode('position', Buffer.from(chain.account(String(position))!.data))
    const common = { owner: me, pool, position, positionNftAccount }
    const lock = await client.permanentLockPosition({ ...common, unlockedLiquidity: decode().unlockedLiquidity })
    land(lock.instructions)
    expect((await verdict(mint, 'unlocked_liquidity')).level).toBe('ok')

    const unlocked = await openPool(mint)
    expect(await verdict(mint, 'unlocked_liquidity')).toMatchObject({
      level: 'danger',
      finding: `Its owners can withdraw 100 % of the liquidity of ${unlocked}.`,
    })
  })

  it('is a danger if a vault of the pool is frozen for good', async () => {
    const { chain, wallet, me, land, verdict, sets, openPool } = await opened()
    const gold = createMint(chain, wallet)
    const { mint } = gold
    give(chain, wallet, gold, me, 10n ** 13n)
    const pool = await openPool(mint)
    land([spl.createFreezeAccountInstruction(cpAmm.deriveTokenVaultAddress(mint, pool), mint, me)])
    expect(await verdict(mint, 'freeze_authority')).toMatchObject({
      level: 'danger',
      finding: `A vault of the pool ${pool} is frozen, so that nobody can trade there.`,
    })
    land([sets(gold, AuthorityType.FreezeAccount, null)])
    expect(await verdict(mint, 'freeze_authority')).toMatchObject({
      level: 'danger',
      finding: `A vault of the pool ${pool} is frozen, so that nobody can trade there, for good.`,
      remedy: null,
    })
  })
})
