/** Asks the user before anything is sent, on every cluster where a mistake costs money. */
import { type Session, sessionWith } from '../cli/session.ts'
import { usage } from '../ui/problem.ts'

/** Clusters whose SOL has no value, so no confirmation is needed. */
const FREE_CLUSTERS: readonly (string | null)[] = ['embedded', 'devnet', 'testnet', 'localhost']

/**
 * Asks on mainnet and on any cluster that is not known to be free, or `always`; without a terminal, `--yes` is
 * required. Returns whether a person was asked, who may have taken a while.
 */
export async function confirmOn(
  session: Session,
  question: string,
  cluster: string | null,
  { always = false }: { always?: boolean } = {},
): Promise<boolean> {
  if (!always && FREE_CLUSTERS.includes(cluster)) return false
  await refuseUnconfirmable(session, cluster)
  const source = await session.unchosenCluster()
  const chosenBy = source === null ? '' : `, which comes from ${source}`
  return session.ui.confirm(`${question} on ${cluster ?? 'the cluster of the API'}${chosenBy}?`)
}

/** The same session for runs that the user has agreed to together: it previews and asks nothing again. */
export const agreedSession = (session: Session): Session =>
  sessionWith(session, {
    unchosenCluster: async () => null,
    ui: {
      ...session.ui,
      interactive: false,
      attended: false,
      confirmable: true,
      preview: async () => undefined,
      confirm: async () => false,
    },
  })

/**
 * Throws a usage problem if a confirmation is required but impossible, or if `--yes` would confirm a cluster that nobody
 * chose for svc. Checked before the first request, and again once the cluster is known.
 */
export async function refuseUnconfirmable(session: Session, cluster: string | null): Promise<void> {
  const { ui } = session
  if (FREE_CLUSTERS.includes(cluster) || ui.attended) return
  const source = await session.unchosenCluster()
  if (source !== null) {
    throw usage(`this would be sent to ${cluster}, which only ${source} names`, {
      next: `choose it with -u ${cluster === 'mainnet-beta' ? cluster : 'URL'} (or SVC_URL), or the chain inside svc with -u embedded`,
    })
  }
  if (ui.confirmable) return
  throw usage(`this would be sent to ${cluster ?? 'a cluster that only the API knows'}`, {
    param: '--yes',
    next: 'without a terminal, confirm it with --yes; --dry-run shows what it would do',
  })
}

/** Throws a usage problem if signers other than the local keypair must sign. */
export function refuseOtherSigners(missing: readonly string[], signer: string): void {
  const others = missing.filter((address) => address !== signer)
  if (others.length === 0) return
  throw usage(`${others.join(', ')} must sign this too`, {
    next: 'use --build-only, then `svc tx sign` with each keypair, then `svc tx submit`',
  })
}
