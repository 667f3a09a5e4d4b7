/** Who pays for a launch, if that is not its creator. */
import type { Session } from '../cli/session.ts'
import { usage } from '../ui/problem.ts'
import type { CreateFlags } from './launch-flags.ts'

/**
 * Returns the payer if it is not the creator. The creator is --creator or the owner of --keypair; without them,
 * --payer is both. Throws a usage problem if the launch would have to be signed here.
 */
export async function sponsorOf(
  { payer, creator, keypair, build_only, dry_run }: CreateFlags,
  session: Session,
): Promise<string | undefined> {
  if (payer === undefined) return undefined
  const launches = creator ?? (keypair === undefined ? payer : await session.wallet.address(keypair))
  if (launches === payer) return undefined
  if (build_only || dry_run) return payer
  throw usage(`${payer} pays and ${launches} launches: both must sign`, {
    param: '--payer',
    next: 'add --build-only, sign with `svc tx sign` where each key is, and send it with `svc tx submit`',
  })
}
