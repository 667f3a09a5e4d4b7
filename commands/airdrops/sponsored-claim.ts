/** The claim for which the platform wallet pays: built by the API, checked and signed here, then signed and sent by the API. */
import type { SponsoredClaimBuilt } from '../../src/api/sponsorships.ts'
import { decodeInstruction } from '../../src/solana/instructions/index.ts'
import { ASSOCIATED_TOKEN_PROGRAM, COMPUTE_BUDGET_PROGRAM, SYSTEM_PROGRAM } from '../../src/solana/program-ids.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
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
import type { TransactionContent } from '../signing/wallet.ts'
import { failure, usage } from '../ui/problem.ts'

type SponsoredFlags = SigningFlags & {
  proof?: string | undefined
  platform_fee?: number | undefined
  swap_to_sol?: boolean
}

export async function claimSponsored(session: Session, id: string, flags: SponsoredFlags): Promise<CommandOutcome> {
  refuseOtherFlags(flags)
  const claimer = await signingWallet(session, flags)
  if (!flags.dry_run) refuseUnconfirmable(session, await session.cluster())
  const what = `Claim from the airdrop ${id}, paid for by the platform wallet`
  const build = async () => {
    const { data } = await session.client.sponsorships.build({ ...txVersionField(flags), id, claimer })
    const forecast = await forecastOf(session, data.transaction, claimer)
    requireSponsored(forecast.content, data, claimer)
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
  const agreed = (await confirmOn(session, what, forecast.cluster)) ? (await build()).data : data
  return send(session, id, flags, agreed)
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

/** Throws a failure unless it is a claim for which the claimer's own lamports are not touched by a transfer. */
function requireSponsored(
  { fee_payer, signers, instructions }: TransactionContent,
  { fee_payer: sponsor }: SponsoredClaimBuilt,
  claimer: string,
): void {
  const unexpected = (difference: string) =>
    failure(`the API built another transaction than a sponsored claim: ${difference}; nothing was signed`, {
      next: 'check which API answers: `svc config list`',
    })
  if (fee_payer !== sponsor || fee_payer === claimer) throw unexpected(`${fee_payer} would pay its fee`)
  if (signers.length !== 2) throw unexpected(`it has ${signers.length} signers`)
  let claims = 0
  for (const { program, accounts, data } of instructions) {
    if (program === COMPUTE_BUDGET_PROGRAM) continue
    if (program === PROGRAMS.distributor.id) {
      claims++
      continue
    }
    const addresses = accounts.map(({ address }) => address)
    const decoded = decodeInstruction(program, addresses, Buffer.from(data, 'hex'))
    const isLoan = decoded?.program === 'system' && decoded.instruction.type === 'transfer'
    if (isLoan && addresses[0] === sponsor && addresses[1] === claimer) continue
    if (program === ASSOCIATED_TOKEN_PROGRAM && addresses[0] === sponsor) continue
    throw unexpected(
      program === SYSTEM_PROGRAM ? 'it transfers otherwise than from its sponsor' : `it calls ${program}`,
    )
  }
  // With vesting, what is paid at once and what has vested are claimed by an instruction each.
  if (claims !== 1 && claims !== 2) throw unexpected(`it makes ${claims} claims`)
}
