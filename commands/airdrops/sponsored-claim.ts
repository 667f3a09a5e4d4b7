/** The claim for which the platform wallet pays: built by the API, checked and signed here, then signed and sent by the API. */
import type { SponsoredClaimBuilt } from '../../src/api/sponsorships.ts'
import { decodeTreeId } from '../../src/merkle/tree-id.ts'
import { LAMPORT_DECIMALS, solOf } from '../amounts.ts'
import type { CommandOutcome } from '../command.ts'
import type { Session } from '../session.ts'
import { confirmOn, refuseUnconfirmable } from '../signing/confirm.ts'
import { type SigningFlags, txVersionField } from '../signing/flags.ts'
import { waitForTransaction } from '../signing/following.ts'
import { previewLine, runLines } from '../signing/preview.ts'
import { forecastOf, transactionFailure, wouldFail } from '../signing/run-failures.ts'
import { dryRunOutcome, sentOutcome } from '../signing/run-outcomes.ts'
import { signingWallet } from '../signing/signing-wallet.ts'
import { failure, usage } from '../ui/problem.ts'

type SponsoredFlags = SigningFlags & {
  proof?: string | undefined
  platform_fee?: number | undefined
  swap_to_sol?: boolean
}

export async function claimSponsored(session: Session, id: string, flags: SponsoredFlags): Promise<CommandOutcome> {
  refuseOtherFlags(flags)
  const airdrop = decodeTreeId(id)
  if (airdrop === undefined) throw usage(`${id} is no id of an airdrop`, { next: '`svc airdrops list` shows the ids' })
  const claimer = await signingWallet(session, flags)
  if (!flags.dry_run) refuseUnconfirmable(session, await session.cluster())
  const what = `Claim from the airdrop ${id}, paid for by the platform wallet`
  // These imports are dynamic because the modules convert addresses, and help must not load base58.
  const [{ keyToBase58 }, { requireFreeOfCost, requireSponsoredClaim }] = await Promise.all([
    import('../../src/merkle/base58.ts'),
    import('./expected-claim.ts'),
  ])
  const mint = keyToBase58(airdrop.mint)
  const accounts = await session.wallet.claimAddresses(mint, airdrop.airdropCount, claimer)
  const build = async () => {
    const { data } = await session.client.sponsorships.build({ ...txVersionField(flags), id, claimer })
    const forecast = await forecastOf(session, data.transaction, claimer)
    requireSponsoredClaim(forecast.content, { ...accounts, airdrop: id, mint, claimer, sponsor: data.fee_payer })
    requireFreeOfCost(forecast.simulation, claimer)
    return { data, forecast }
  }
  const { data, forecast } = await build()
  const paid = previewLine('sponsored', `${solOf(BigInt(data.lamports))} SOL by ${data.fee_payer}`)
  const lines = runLines(what, forecast, { preview: [paid], later: [], bundle: false })
  if (flags.dry_run) {
    return dryRunOutcome(data, forecast, lines, { note: 'Nothing was signed with your keypair, and nothing was sent.' })
  }
  await session.ui.preview(lines)
  if (forecast.fault !== null) throw wouldFail(forecast, forecast.fault)
  // Who was asked may have taken so long that the platform wallet would refuse the old build.
  const agreed = (await confirmOn(session, what, forecast.cluster)) ? await build() : { data, forecast }
  if (agreed.forecast.fault !== null) throw wouldFail(agreed.forecast, agreed.forecast.fault)
  return send(session, id, flags, agreed.data)
}

async function send(
  session: Session,
  id: string,
  { keypair, wait = 'confirmed' }: SponsoredFlags,
  built: SponsoredClaimBuilt,
): Promise<CommandOutcome> {
  const { transaction, missing } = await session.wallet.sign(built.transaction, { keypair })
  if (missing.some((address) => address !== built.fee_payer)) throw failure(`not signed by ${missing.join(', ')}`)
  const { data } = await session.client.sponsorships.submit({ id, claim: built.id, transaction })
  const { signature, lamports } = data
  const fields = { airdrop: id, fee_payer: built.fee_payer, sponsored_lamports: lamports }
  const signatures = { signatures: { signature }, decimals: { sponsored_lamports: LAMPORT_DECIMALS } }
  if (wait === 'none') return sentOutcome(fields, undefined, signatures)
  const confirmed = await waitForTransaction(session, signature, wait)
  if (confirmed.lifecycle === 'failed') throw await transactionFailure(session, transaction, confirmed)
  return sentOutcome(fields, confirmed, signatures)
}

function refuseOtherFlags({ proof, platform_fee, swap_to_sol, build_only }: SponsoredFlags): void {
  const other =
    (proof !== undefined && '--proof') ||
    (platform_fee !== undefined && platform_fee > 0 && '--platform-fee') ||
    (swap_to_sol && '--swap-to-sol') ||
    (build_only && '--build-only')
  if (!other) return
  throw usage(`${other} does not go with --sponsor: the platform wallet signs the claim as it was built`, {
    param: other,
  })
}
