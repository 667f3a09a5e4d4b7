/** Bounds how much is read of a wallet whose history is listed for another account. The wallet may belong to an exchange. */
import { type ListedSignature, listSignatures } from '../../chain/reads/history.ts'
import type { FollowedAccount } from '../../store/following/followed-accounts.ts'
import type { Budget } from '../budget.ts'
import type { FollowingServices } from '../services.ts'

/** One listing is given up after this many pages of a wallet's history. */
export const MOST_WALLET_PAGES = 10
/** Up to this many transactions of a page are all read. Finding those that name the account would cost calls too. */
const READ_UNASKED = 5
/** Pages of the account's own history that are listed per page of the wallet's. */
const OWN_PAGES = 5
/** Most transactions of one page that are read. */
const MOST_READ = 500

/**
 * Returns the wallet's transactions that may have changed the account: those also in the account's history, and those
 * older than its listed part. Returns null if they are too many to read. `listed` is newest first. Uses at least one
 * call even if none is left. Throws internal_error when the node fails.
 */
export async function signaturesToRead(
  { chain }: FollowingServices,
  { address }: Pick<FollowedAccount, 'address'>,
  listed: readonly ListedSignature[],
  { budget, pageSize, slot = 0 }: { budget: Budget; pageSize: number; slot?: number | undefined },
): Promise<ReadonlySet<string> | null> {
  const executed = listed.filter(({ isFailed }) => !isFailed)
  const [newest, oldest] = [executed[0], executed.at(-1)]
  const all = new Set(executed.map(({ signature }) => signature))
  if (newest === undefined || oldest === undefined || all.size <= READ_UNASKED) return all
  const own = new Set<string>()
  let reached = Number.POSITIVE_INFINITY
  let before: string | undefined
  for (let n = 0; n < OWN_PAGES && reached >= oldest.slot && (n === 0 || budget.left > 0); n++) {
    budget.take()
    // A lagging node would leave out newer transactions.
    const minSlot = Math.max(slot, newest.slot)
    const page = await listSignatures(chain, address, { before, minSlot, limit: pageSize })
    for (const { signature } of page) own.add(signature)
    const last = page.at(-1)
    before = last?.signature
    reached = page.length < pageSize || last === undefined ? -1 : last.slot
  }
  const kept = executed.filter(({ signature, slot: at }) => own.has(signature) || at <= reached)
  return kept.length > MOST_READ ? null : new Set(kept.map(({ signature }) => signature))
}
