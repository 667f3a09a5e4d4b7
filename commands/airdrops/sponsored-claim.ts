/** The claim for which the platform wallet pays: built by the API, checked and signed here, then signed and sent by the API. */
import type { SponsoredClaimBuilt } from '../../src/api/sponsorships.ts'
import type { Simulation } from '../../src/api/transactions.ts'
import { solText } from '../../src/solana/amounts.ts'
import { bytesOfHex } from '../../src/solana/bytes.ts'
import { TOKEN_PROGRAM } from '../../src/solana/program-ids.ts'
import { MERKLE_DISTRIBUTOR } from '../../src/solana/programs/merkle-distributor.ts'
import { LAMPORT_DECIMALS, solOf } from '../cli/amounts.ts'
import type { CommandOutcome } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { confirmOn, refuseUnconfirmable } from '../signing/confirm.ts'
import {
  anyValue,
  type Call,
  type CheckedBuild,
  checkedBuild,
  demanding,
  opens,
  pays,
  platformFee,
  type Signing,
  signingFor,
  unexpectedBuild,
} from '../signing/demand.ts'
import { type SigningFlags, txVersionField } from '../signing/flags.ts'
import { waitForTransaction } from '../signing/following.ts'
import { checkedLines, previewLine, runLines } from '../signing/preview.ts'
import { simulateBuild, transactionFailure, wouldFail } from '../signing/run-failures.ts'
import { dryRunOutcome, sentOutcome } from '../signing/run-outcomes.ts'
import { signChecked } from '../signing/signatures.ts'
import { signingWallet } from '../signing/signing-wallet.ts'
import { failure, usage } from '../ui/problem.ts'
import { parseAirdropId } from './airdrop-id.ts'

/** The request of a claim. */
interface OwnClaim {
  body: { id: string; claimer: string; platform_fee?: number }
  /** Raw units paid at once, if the caller has its own proof. */
  proven?: string | undefined
  /** Called with the amount paid at once, which the program proves; null if vested amounts come with it. */
  onAmount?(units: bigint | null): void
}

/** The payer is the claimer, or a sponsor that pays the rent of the claim's record. */
async function claimsAirdrop(of: Signing, { body, proven, onAmount }: OwnClaim): Promise<Call[]> {
  const { claimer } = body
  const { mint, airdrop_count } = await parseAirdropId(body.id)
  const { distributor, claimStatus, vault, tokenAccount } = await of.claim(mint, airdrop_count, claimer)
  const fields = {
    distributor,
    claim_status: claimStatus,
    from: vault,
    to: tokenAccount,
    claimant: claimer,
    token_program: TOKEN_PROGRAM,
  }
  const { id: program } = MERKLE_DISTRIBUTOR
  return [
    opens(of.payer, claimer, mint),
    ...(of.payer === claimer ? [] : [{ ...pays(of.payer, claimer, anyValue), least: 0 }]),
    // With vesting, one instruction claims the amount paid at once, another the vested amount.
    {
      program,
      call: 'new_claim',
      fields: {
        ...fields,
        amount_unlocked: (units) => {
          onAmount?.(BigInt(units))
          return proven === undefined || units === proven
        },
      },
      data: (hex) => MERKLE_DISTRIBUTOR.argsOf('new_claim', bytesOfHex(hex)) !== null,
      group: 'claim',
      mostOfGroup: 2,
    },
    {
      program,
      call: 'claim_locked',
      fields,
      data: (hex) => {
        onAmount?.(null)
        return MERKLE_DISTRIBUTOR.argsOf('claim_locked', bytesOfHex(hex)) !== null
      },
      group: 'claim',
      mostOfGroup: 2,
    },
    ...platformFee(claimer, body.platform_fee),
  ]
}

export const demandsClaim = demanding('one claim, into your own account', claimsAirdrop)

type SponsoredFlags = SigningFlags & { platform_fee?: number | undefined }

export async function claimSponsored(session: Session, id: string, flags: SponsoredFlags): Promise<CommandOutcome> {
  if (flags.platform_fee) {
    throw usage('--platform-fee cannot be used with --sponsor', {
      param: '--platform-fee',
      next: 'leave one of the two out',
    })
  }
  const claimer = await signingWallet(session, flags)
  if (!flags.dry_run) await refuseUnconfirmable(session, await session.cluster())
  const what = `Claim from the airdrop ${id}, paid for by the platform wallet`
  const build = async () => {
    const body = { ...txVersionField(flags), id, claimer }
    const { data } = await session.client.sponsorships.build(body)
    if (data.fee_payer === claimer) throw unexpectedBuild(`${claimer} would pay its fee`)
    const sponsored = signingFor(session, data.fee_payer)
    const demand = await demandsClaim(sponsored, { body })
    const transaction = await checkedBuild(session, data.transaction, demand)
    const forecast = await simulateBuild(session, transaction, claimer)
    requireFreeOfCost(forecast.simulation, claimer)
    return { data: { ...data, transaction }, forecast, demand }
  }
  const { data, forecast, demand } = await build()
  const paid = previewLine('sponsored', `${solOf(BigInt(data.lamports))} SOL by ${data.fee_payer}`)
  const preview = [paid, ...checkedLines(demand)]
  const lines = runLines(what, forecast, { preview, later: [], bundle: false })
  if (flags.dry_run) {
    return dryRunOutcome(data, forecast, lines, { note: 'Nothing was signed with your keypair, and nothing was sent.' })
  }
  await session.ui.preview(lines)
  if (forecast.fault !== null) throw wouldFail(forecast, forecast.fault)
  // The answer may have taken so long that the platform wallet would refuse the old build.
  const agreed = (await confirmOn(session, what, forecast.cluster)) ? await build() : { data, forecast }
  if (agreed.forecast.fault !== null) throw wouldFail(agreed.forecast, agreed.forecast.fault)
  return send(session, id, flags, agreed.data)
}

async function send(
  session: Session,
  id: string,
  { keypair, wait = 'confirmed' }: SponsoredFlags,
  built: SponsoredClaimBuilt & { transaction: CheckedBuild },
): Promise<CommandOutcome> {
  const { transaction, missing } = await signChecked(session, built.transaction, { keypair })
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

/**
 * Throws a failure if the run takes lamports from the claimer. A checked claim can take only the rent that its claim
 * record lacks. Only the run shows that sum: the rate of rent differs, and anyone may have sent some already.
 */
function requireFreeOfCost({ balance_changes }: Pick<Simulation, 'balance_changes'>, claimer: string): void {
  const own = balance_changes.find(({ address, mint }) => address === claimer && mint === null)
  if (own === undefined || BigInt(own.change) >= 0n) return
  throw unexpectedBuild(`${claimer} would pay ${solText(-BigInt(own.change))} of it`)
}
