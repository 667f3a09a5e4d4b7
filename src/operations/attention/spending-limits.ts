/** Daily limits of the platform wallet's policy that are nearly spent. */
import { groupedDecimalOf, solText } from '../../solana/amounts.ts'
import type { Found } from '../../store/attention/found.ts'
import { spendsOfDay } from '../../store/attention/kinds.ts'
import type { Reader } from '../../store/store.ts'
import { dailyLimits } from '../signing/policy-state.ts'

/** The asset of the limit in lamports; those of tokens are their mints. */
export const LAMPORTS = 'lamports'
/** The share of a limit from which a person looks at it. */
const NEARLY = 0.8

interface NearlySpent extends Found {
  signer: string
  asset: string
  /** Amounts with their unit. */
  limit: string
  left: string
  share: number
}

/** Each began with the first spend that counts. */
export async function nearlySpentLimits(reader: Reader, now: number): Promise<NearlySpent[]> {
  const rows = await spendsOfDay(reader, now)
  return rows.flatMap(({ signer, policy_json, mint, since, spent: sum }) => {
    const limit = dailyLimits(policy_json).get(mint) ?? 0n
    const [spent, share] = [BigInt(Math.round(Number(sum))), Number(sum) / Number(limit)]
    if (limit === 0n || share < NEARLY) return []
    const asset = mint === '' ? LAMPORTS : mint
    const text = (raw: bigint) => (mint === '' ? solText(raw) : `${groupedDecimalOf(raw, 0)} raw units of ${mint}`)
    const left = spent < limit ? limit - spent : 0n
    return [{ subject: `${signer}.${asset}`, since, signer, asset, limit: text(limit), left: text(left), share }]
  })
}
