/** What a claim page or an export says about an airdrop besides its list: cluster, accounts, token and times. */
import type { Airdrop } from '../../src/api/airdrops.ts'
import type { TreeRecord } from '../../src/api/merkle-trees.ts'
import { type SiteAirdrop, type SiteCluster, siteCluster } from '../../src/claim-page/site/site-subject.ts'
import type { Session } from '../cli/session.ts'
import { mintState } from '../signing/token-state.ts'
import { tokenShown } from '../ui/page-site.ts'
import { failure } from '../ui/problem.ts'

/** Throws if the chain cannot be read, has no such token, or has a distributor of another list. */
export async function aboutAirdrop(
  session: Session,
  tree: TreeRecord,
): Promise<{ cluster: SiteCluster; airdrop: SiteAirdrop }> {
  const { client } = session
  const { id, mint, airdrop_count, root, leaf_count, total, total_locked, list_sha256 } = tree
  const [{ data: chain }, { data: state }, { decimals }, token] = await Promise.all([
    client.service.cluster({}),
    client.airdrops.get({ id }),
    mintState(session, mint),
    tokenShown(client, mint),
  ])
  if (state.distributor === null) {
    throw failure(`the state of ${id} cannot be read from the chain`, {
      next: 'try again; `svc doctor` tests the node',
    })
  }
  requireOwnRoot(state)
  const vests = total_locked !== '0'
  const { distributor, vault, starts_at, ends_at, clawback_at } = state
  const airdrop = {
    id,
    mint,
    airdrop_count,
    distributor,
    vault,
    decimals,
    ...token,
    root,
    list_sha256,
    leaf_count,
    total,
    total_locked,
    starts_at: vests ? starts_at : null,
    ends_at: vests ? ends_at : null,
    clawback_at,
  }
  return { cluster: siteCluster(chain.genesis_hash), airdrop }
}

/** Nobody in the stored list could claim from a distributor with another root. */
function requireOwnRoot({ id, root, on_chain_root }: Airdrop): void {
  if (on_chain_root === null || on_chain_root === root) return
  throw failure(`the distributor of ${id} has the root ${on_chain_root}, and the stored list has ${root}`, {
    next: 'store the list under another --airdrop-count, and initialize that one',
  })
}
