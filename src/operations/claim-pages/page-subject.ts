/** Reads what a claim page shows of a stored airdrop: its cluster, accounts, token and times. */
import { readTokenState } from '../../chain/programs/tokens/index.ts'
import { type SiteAirdrop, type SiteCluster, siteCluster, tokenWords } from '../../claim-page/site/site-subject.ts'
import type { Context } from '../../context.ts'
import type { Row } from '../../store/schema.ts'
import { isoOfUnixTime, readAirdrop } from '../airdrops/on-chain.ts'

/** How long an answer of the chain is reused, in milliseconds. */
const KEPT_MS = 10_000
const MOST_KEPT = 1_000

interface StoredSubject {
  cluster: SiteCluster
  airdrop: SiteAirdrop
}

export class PageSubjects {
  readonly #kept = new Map<string, { until: number; subject: Promise<StoredSubject> }>()

  /** Throws not_found if the chain has no such token, and internal_error if it cannot be read. */
  read(context: Pick<Context, 'chain' | 'clock'>, row: Row<'merkle_trees'>): Promise<StoredSubject> {
    const key = `${row.id}:${row.root}`
    const now = context.clock.now()
    const kept = this.#kept.get(key)
    if (kept !== undefined && now < kept.until) return kept.subject
    if (this.#kept.size >= MOST_KEPT) this.#kept.clear()
    const subject = readSubject(context, row)
    this.#kept.set(key, { until: now + KEPT_MS, subject })
    subject.catch(() => this.#kept.delete(key))
    return subject
  }
}

async function readSubject({ chain }: Pick<Context, 'chain'>, row: Row<'merkle_trees'>): Promise<StoredSubject> {
  const [genesis, airdrop, token] = await Promise.all([
    chain.genesisHash(),
    readAirdrop(chain, row.id),
    readTokenState(chain, row.mint),
  ])
  const { id, mint, airdrop_count, root, list_sha256, leaf_count, total, total_locked } = row
  // The times of another list's distributor do not apply to this one. The page itself compares the roots.
  const distributor = airdrop.distributor?.root === root ? airdrop.distributor : null
  const time = (seconds: bigint | undefined) => (seconds === undefined ? null : isoOfUnixTime(seconds))
  const vests = total_locked !== '0'
  return {
    cluster: siteCluster(genesis),
    airdrop: {
      id,
      mint,
      airdrop_count,
      distributor: airdrop.address,
      vault: airdrop.vaultAddress,
      decimals: token.decimals,
      ...tokenWords(mint, token.metadata?.name, token.metadata?.symbol),
      root,
      list_sha256,
      leaf_count,
      total,
      total_locked,
      starts_at: vests ? time(distributor?.startsAt) : null,
      ends_at: vests ? time(distributor?.endsAt) : null,
      clawback_at: time(distributor?.clawbackAt),
    },
  }
}
