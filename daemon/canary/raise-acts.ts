/** Plays the life of two raises: one at a fixed price with an allowlist, and one that fails. */
import * as presale from '../../src/chain/programs/presale/index.ts'
import { requireProgram } from '../../src/chain/programs/required-program.ts'
import { sdkInstructions } from '../../src/chain/programs/sdk-instruction.ts'
import { readLatestBlockhash } from '../../src/chain/reads/rpc-reads.ts'
import { compileUnsigned } from '../../src/chain/sending/unsigned.ts'
import { provenAllowance } from '../../src/merkle/allowlist.ts'
import { addressBytes } from '../../src/solana/addresses.ts'
import { associatedTokenAddress } from '../../src/solana/program-addresses.ts'
import { TOKEN_PROGRAM } from '../../src/solana/program-ids.ts'
import type { PlainInstruction } from '../../src/solana/programs/table.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { type FreshKey, freshKey } from '../../src/solana/signatures.ts'
import type { Stage } from './stage.ts'

const LASTS_SECONDS = 3_600
/** Raw units. */
const [SUPPLY, MAXIMUM, CAP] = [1_000_000n, 1_000n, 900n]
/** A quote unit for a token unit. */
const PRICE = 1n << 64n

export async function playRaises(stage: Stage): Promise<void> {
  const { act, chain, node } = stage
  const [creator, buyer, listed] = [stage.wallet(), stage.wallet(), freshKey()]
  const [mint, quoteMint] = [freshKey().address, freshKey().address]
  await stage.setToken(mint, creator.address, SUPPLY)
  for (const { address } of [creator, buyer]) await stage.setToken(quoteMint, address, SUPPLY)
  await stage.setToken(mint, buyer.address, 0n)
  const tokensOf = ({ address }: FreshKey) => associatedTokenAddress(address, mint, TOKEN_PROGRAM)
  const quoteOf = ({ address }: FreshKey) => associatedTokenAddress(address, quoteMint, TOKEN_PROGRAM)
  const land = async (payer: FreshKey, acts: readonly PlainInstruction[], ...keys: FreshKey[]) => {
    const [sdk, { blockhash }] = await Promise.all([sdkInstructions(), readLatestBlockhash(node)])
    const envelope = { payer: payer.address, recentBlockhash: blockhash }
    const { transaction } = await compileUnsigned(envelope, acts.map(sdk))
    stage.land(Buffer.from(transaction).toString('base64'), payer, ...keys)
  }
  const placeOf = (base: FreshKey) =>
    presale.raisePlace({ base: base.address, mint, quoteMint, tokenProgram: 'spl', quoteTokenProgram: 'spl' })
  const [place, other] = [placeOf(listed), placeOf(creator)]
  const raise = { ...place, creator: creator.address }
  const creation = (more: Partial<presale.RaiseCreation>): presale.RaiseCreation => ({
    ...{ mode: 'pro_rata', allowlist: 'none', maximum: MAXIMUM, minimum: CAP, unsold: 'return', earlyEnd: true },
    ...{ startsAt: 0n, endsAt: BigInt(chain.unixTimestamp() + LASTS_SECONDS), price: null, releaseBps: 0 },
    ...{ releaseAt: 0n, lockSeconds: 1n, vestingSeconds: 0n, creator: creator.address, payer: creator.address },
    ...{ from: tokensOf(creator), rounds: [{ supply: MAXIMUM, buyerMin: 1n, buyerMax: MAXIMUM, feeBps: 100 }] },
    ...more,
  })
  const own = (round: number, { address }: presale.RaisePlace) => ({
    escrow: presale.raiseEscrowAddress(address, buyer.address, round),
    owner: buyer.address,
    payer: buyer.address,
  })
  const deposit = (to: presale.RaisePlace, amount: bigint) =>
    presale.depositInstruction(to, { ...own(0, to), from: quoteOf(buyer), amount })
  const [metadata, config] = [
    presale.serverMetadataAddress(place.address),
    presale.merkleRootAddress(place.address, 0n),
  ]
  const { address: by } = creator

  await act('create a raise', [], async () => {
    await requireProgram(node, PROGRAMS.presale)
    const fixed = creation({ mode: 'fixed_price', allowlist: 'merkle', price: PRICE })
    const price = presale.fixedPriceInstruction(place, { payer: by, price: PRICE, withdrawable: true })
    await land(creator, [price, presale.creationInstruction(place, fixed)], listed)
    await land(creator, [presale.closeFixedPriceInstruction(place.fixedPriceArgs, by)])
  })
  await act('open a raise to an allowlist', ['create a raise'], async () => {
    // The leaf of a list of one wallet is its root.
    const root = provenAllowance({ wallet: addressBytes(buyer.address), round: 1, cap: CAP }, [])
    const url = 'https://example.com/canary'
    await land(creator, [
      presale.rootInstruction(place.address, { creator: by, config, root, version: 0n }),
      presale.serverMetadataInstruction(place.address, { creator: by, metadata, url }),
    ])
    await land(creator, [presale.closeServerMetadataInstruction(place.address, { creator: by, metadata })])
  })
  await act('deposit into a raise', ['open a raise to an allowlist'], async () => {
    const cap = { round: 0, cap: CAP, proof: [], config }
    await land(buyer, [presale.provenEscrowInstruction(place.address, own(0, place), cap), deposit(place, CAP)])
  })
  await act('withdraw from a raise', ['deposit into a raise'], async () => {
    const payout = { ...own(0, place), to: quoteOf(buyer) }
    await land(buyer, [presale.withdrawalInstruction(place, payout, 1n), deposit(place, 1n)])
  })
  await act('create a raise that fails', [], async () => {
    await requireProgram(node, PROGRAMS.presale)
    await land(creator, [presale.creationInstruction(other, creation({}))])
    await land(buyer, [presale.escrowInstruction(other.address, own(0, other)), deposit(other, 1n)])
  })
  chain.advance(LASTS_SECONDS + 1)
  await act('claim from a raise', ['deposit into a raise'], async () => {
    const payout = { ...own(0, place), to: tokensOf(buyer) }
    const acts = [presale.claimInstruction(place, payout), presale.closeEscrowInstruction(place.address, payout)]
    await land(buyer, acts)
  })
  await act('settle a raise', ['deposit into a raise'], async () => {
    await land(creator, [
      presale.creatorWithdrawalInstruction(raise, 'completed', quoteOf(creator)),
      presale.feeInstruction(raise, quoteOf(creator)),
      presale.unsoldInstruction(raise, tokensOf(creator)),
    ])
  })
  await act('refund of a raise', ['create a raise that fails'], async () => {
    await land(buyer, [presale.refundInstruction(other, { ...own(0, other), to: quoteOf(buyer) })])
    const failed = { ...other, creator: by }
    await land(creator, [presale.creatorWithdrawalInstruction(failed, 'failed', tokensOf(creator))])
  })
}
