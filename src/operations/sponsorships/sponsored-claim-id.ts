/** Makes and checks ids of sponsored claims. An id proves that this installation built exactly this message for this airdrop. */
import { timingSafeEqual } from 'node:crypto'
import type { Context } from '../../context.ts'
import type { DecodedTransaction } from '../../solana/messages.ts'
import { messageSha256 } from '../transactions/message-terms.ts'

type Sealing = Pick<Context, 'vault'>
type Message = Pick<DecodedTransaction, 'message' | 'messageBytes'>

const PURPOSE = 'sponsored claim'
const ID = /^spc_([0-9]{1,15})_([A-Za-z0-9_-]{43})$/

/** Builds are not stored, so that requests of strangers cannot fill a table. */
export function sponsoredClaimId(
  { vault }: Sealing,
  airdropId: string,
  message: Message,
  lastValidBlockHeight: number,
): string {
  const text = `${airdropId}\n${lastValidBlockHeight}\n${messageSha256(message)}`
  return `spc_${lastValidBlockHeight}_${Buffer.from(vault.mac(text, PURPOSE), 'hex').toString('base64url')}`
}

/** Returns the last block height of the build, or null if the message was not built here under this id. */
export function heightOfSponsoredClaim(
  services: Sealing,
  id: string,
  airdropId: string,
  message: Message,
): number | null {
  const height = Number(ID.exec(id)?.[1] ?? Number.NaN)
  if (!Number.isSafeInteger(height)) return null
  const own = Buffer.from(sponsoredClaimId(services, airdropId, message, height))
  const given = Buffer.from(id)
  return own.length === given.length && timingSafeEqual(own, given) ? height : null
}
