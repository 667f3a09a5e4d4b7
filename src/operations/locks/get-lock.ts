/** Reads one lock from the chain, with the texts of its creator. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { readUnlockAccounts } from '../../chain/programs/jupiter-lock/index.ts'
import type { Context } from '../../context.ts'
import { cleanLabel } from '../tokens/labels.ts'
import { lockRecord } from './lock-record.ts'
import { requireLock } from './read-lock.ts'

type GetLockRoute = Api['locks']['get']

/** Most characters of a text that are shown. Other tools can write longer ones. */
const MOST = { title: 64, description: 400 } as const

export async function getLock(context: Context, { address }: Input<GetLockRoute>): Promise<Result<GetLockRoute>> {
  const { escrow, texts, at } = await requireLock(context, address)
  const { token, lock } = await readUnlockAccounts(context.chain, escrow)
  return {
    ...lockRecord(context, escrow, at),
    held: String(lock.state?.amount ?? 0n),
    decimals: token?.decimals ?? null,
    title: cleanLabel(texts?.title, MOST.title),
    description: cleanLabel(texts?.description, MOST.description),
  }
}
