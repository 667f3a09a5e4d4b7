/** Rehearses the claims of partner and creator, with the same plans as the requests. */
import { BENEFICIARIES_OF, type Beneficiary, type FeeClaimKind } from '../../api/fee-claims.ts'
import { planClaim } from '../fee-claims/plan-claim.ts'
import { platformWallet } from '../platform-wallet.ts'
import { curveOnCopy } from './launch-steps.ts'
import type { Rehearsal } from './rehearsal.ts'

const KIND_LABELS: Readonly<Record<FeeClaimKind, string>> = {
  dbc: 'trading fees',
  surplus: 'surplus',
  migration_fee: 'migration fee',
  leftover: 'leftover',
  pool_creation_fee: 'pool creation fee',
  damm_v2: 'fees of positions',
  vesting: 'vested tokens',
}

/** Each beneficiary pays for its own claim. */
export async function claimSteps(rehearsal: Rehearsal, kinds: readonly FeeClaimKind[]): Promise<void> {
  const { context, input, launch } = rehearsal
  for (const kind of kinds) {
    if (input.type === 'damm_v2' && kind !== 'damm_v2') continue
    const payers = new Set<string>()
    for (const beneficiary of BENEFICIARIES_OF[kind]) {
      const payer = await claimerOf(rehearsal, beneficiary)
      // A wallet that is both has already claimed all of its positions.
      if (kind === 'damm_v2' && payers.has(payer)) continue
      payers.add(payer)
      const label = `${beneficiary} claims ${KIND_LABELS[kind]}`
      await rehearsal.run(
        { stage: 'claim', label, claim: { kind, beneficiary } },
        async () =>
          (await planClaim(context, { address: launch.address, kind, beneficiary, splits: undefined }, payer)).built,
      )
    }
  }
}

async function claimerOf(rehearsal: Rehearsal, beneficiary: Beneficiary): Promise<string> {
  const { context, input } = rehearsal
  if (beneficiary === 'creator') return input.creator
  return input.type === 'damm_v2' ? platformWallet(context) : (await curveOnCopy(rehearsal)).feeClaimer
}
