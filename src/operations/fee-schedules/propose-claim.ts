/** Proposes one claim of a run to the multisig whose vault the fees belong to, instead of signing it. */
import type { Approver } from '../../api/envelope.ts'
import { feeClaims } from '../../api/fee-claims.ts'
import { vaultAddress } from '../../solana/squads/index.ts'
import type { Tx } from '../../store/store.ts'
import { unsignedAnswer } from '../building.ts'
import type { ClaimContext } from '../fee-claims/claim-context.ts'
import { claimSubject, feeClaimTracking } from '../fee-claims/create-fee-claim.ts'
import { planClaim } from '../fee-claims/plan-claim.ts'
import type { FeeClaimInput } from '../fee-claims/types.ts'
import { actWords } from '../proposals/squads/act-words.ts'
import { proposeRequest } from '../proposals/squads/propose-request.ts'
import { requireWorth } from './worth.ts'

const ROUTE = feeClaims.create

interface ProposedClaim {
  approver: Approver
  input: FeeClaimInput
}

/** The outcome of a claim that was proposed. */
interface ProposedOutcome<O> {
  outcomeOf(message: string): O
  /** Writes it with the signature of the creation. */
  record(tx: Tx, outcome: O): Promise<void>
}

/** Throws bad_request with the reason `proposal_open` while another proposal of the pool and kind is open. */
export async function proposeClaim<O>(
  context: ClaimContext,
  { approver: { member: _, ...approver }, input }: ProposedClaim,
  { outcomeOf, record }: ProposedOutcome<O>,
): Promise<O> {
  const outcome = (id: string) => outcomeOf(`${id} waits for the multisig ${approver.multisig}`)
  const { address, kind } = input
  const vault = vaultAddress(approver.multisig, approver.vault_index)
  const asked = {
    approver,
    isSigned: true,
    operation: `POST ${ROUTE.path}`,
    what: await actWords(context, { route: ROUTE, input: { ...input } }),
    request: {
      method: 'post',
      target: `/v2/pools/${address}/fee-claims`,
      fields: { ...input, address: undefined, payer: vault, approver },
    },
    subject: claimSubject({ address, kind }),
    record: (tx: Tx, id: string) => record(tx, outcome(id)),
  }
  const { proposal } = await proposeRequest(context, asked, async (own) => {
    const planned = await planClaim(own, input, vault)
    await requireWorth(own.chain, planned)
    return { tx: unsignedAnswer(planned.built), tracked_resource: feeClaimTracking(planned.plan) }
  })
  return outcome(proposal.id)
}
