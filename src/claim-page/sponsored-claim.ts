/** Claims that a sponsor pays for: offered by the operator's daemon, checked here to the byte before anybody signs. */
import { COMPUTE_BUDGET_PROGRAM, SYSTEM_PROGRAM } from '../solana/program-ids.ts'
import { base64Of, bytesOfBase64, equalBytes, readU32 } from './bytes.ts'
import { firstClaimInstruction, openingInstruction, vestedClaimInstruction } from './claim-instructions.ts'
import { followClaim, type SendingContext } from './claim-sending.ts'
import type { RowState } from './claim-state.ts'
import type { PageInstruction } from './compiled-message.ts'
import { foreignWords, PageFault, type TextKey } from './page-fault.ts'
import { keepPendingClaim } from './pending-claims.ts'
import { base58Of, keyOfAddress } from './program-addresses.ts'
import { type ConnectedWallet, messageOf } from './wallet-standard.ts'

const ANSWER_MS = 30_000

interface SponsorAnswer {
  data?: Record<string, unknown>
  error?: { message?: unknown; details?: { reason?: unknown; signature?: unknown } }
}

/** What the sponsor says, by its reason; all others are shown in its own words. */
const REASONS: Readonly<Record<string, TextKey>> = {
  not_sponsored: 'sponsorNone',
  budget_exhausted: 'sponsorNone',
  attempts_exhausted: 'sponsorNone',
  sponsor_unavailable: 'sponsorLater',
  changed_transaction: 'sponsorChanged',
  expired: 'expired',
}

async function ask(url: string, body?: object): Promise<Record<string, unknown>> {
  let answer: SponsorAnswer
  let status = 0
  try {
    const response = await fetch(url, {
      ...(body && { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(ANSWER_MS),
      credentials: 'omit',
    })
    status = response.status
    answer = (await response.json()) as SponsorAnswer
  } catch {
    throw new PageFault('sponsorLater')
  }
  if (answer.data && status < 400) return answer.data
  if (status === 429) throw new PageFault('sponsorLater')
  const reason = REASONS[String(answer.error?.details?.reason)]
  throw new PageFault(reason ?? 'sponsorRefused', { words: foreignWords(answer.error?.message) })
}

const baseOf = (sponsor: string, { row }: RowState) =>
  `${sponsor === '' ? location.origin : sponsor.replace(/\/+$/, '')}/claim/${encodeURIComponent(row.airdrop.id)}`

/** Whether the sponsor would pay for a claim of this airdrop now; a sponsor who does not answer would not. */
export async function isSponsored(sponsor: string, state: RowState): Promise<boolean> {
  try {
    return (await ask(`${baseOf(sponsor, state)}/sponsorship`)).available === true
  } catch {
    return false
  }
}

/** Has the wallet sign what the sponsor pays for; resolves with the signature once it is confirmed. */
export async function sendSponsoredClaim(
  context: SendingContext,
  sponsor: string,
  wallet: ConnectedWallet,
  state: RowState,
): Promise<string> {
  const url = `${baseOf(sponsor, state)}/sponsored-claims`
  context.say('preparing')
  const offer = await ask(url, { claimer: wallet.address })
  const { id, transaction: wire, last_valid_block_height: height } = offer
  const isComplete = typeof id === 'string' && typeof wire === 'string' && Number.isSafeInteger(height)
  if (!isComplete) throw new PageFault('sponsorStrange')
  let offered: Uint8Array
  try {
    offered = bytesOfBase64(wire as string)
    await requireHonest(messageOf(offered), wallet.address, state)
  } catch {
    throw new PageFault('sponsorStrange')
  }
  context.say('approve', { wallet: wallet.name })
  const signed = await wallet.sign(offered, 1)
  if (!equalBytes(messageOf(signed), messageOf(offered))) throw new PageFault('sponsorChanged')
  context.say('sending')
  const submission = `${url}/${encodeURIComponent(id as string)}/submissions`
  const { signature } = await ask(submission, { transaction: base64Of(signed) })
  if (typeof signature !== 'string') throw new PageFault('sponsorStrange')
  const pending = { wallet: wallet.address, signature, transaction: null, lastValidBlockHeight: height as number }
  keepPendingClaim(pending, context.genesisHash)
  return followClaim(context, pending)
}

/**
 * Throws where a message does more than claim for the wallet: it may set the budget, lend the rent, open the token
 * account at the sponsor's cost, and claim the very leaf that the page has proven.
 */
export async function requireHonest(message: Uint8Array, claimer: string, state: RowState): Promise<void> {
  const { keys, signers, instructions } = readMessage(message)
  const payer = keys[0]
  const refuse = () => new Error('the transaction does something else')
  if (payer === undefined || payer === claimer || signers !== 2 || keys[1] !== claimer) throw refuse()
  const opening = openingInstruction(state.accounts)
  const expected = [
    { ...opening, accounts: [{ address: payer, signs: true, writable: true }, ...opening.accounts.slice(1)] },
    await firstClaimInstruction(state.accounts, state.row),
    await vestedClaimInstruction(state.accounts),
  ]
  const seen = new Set<PageInstruction | string>()
  for (const { program, accounts, data } of instructions) {
    if (program === COMPUTE_BUDGET_PROGRAM) continue
    const isLoan = program === SYSTEM_PROGRAM && data.length === 12 && readU32(data, 0) === 2
    const known = isLoan && accounts[0] === payer && accounts[1] === claimer
    const match = known ? 'loan' : expected.find((each) => isSame(each, program, accounts, data))
    if (match === undefined || seen.has(match)) throw refuse()
    seen.add(match)
  }
  if (!seen.has(expected[1] as PageInstruction) && !seen.has(expected[2] as PageInstruction)) throw refuse()
}

const isSame = (each: PageInstruction, program: string, accounts: readonly string[], data: Uint8Array) =>
  each.program === program &&
  each.accounts.length === accounts.length &&
  each.accounts.every(({ address }, n) => address === accounts[n]) &&
  equalBytes(each.data, data)

interface ReadMessage {
  keys: string[]
  signers: number
  instructions: { program: string; accounts: string[]; data: Uint8Array }[]
}

/** Reads a message of version 0 without lookup tables. Throws an Error for any other. */
function readMessage(bytes: Uint8Array): ReadMessage {
  let at = 0
  const take = (length: number) => {
    if (at + length > bytes.length) throw new Error('the message is cut off')
    at += length
    return bytes.subarray(at - length, at)
  }
  const byte = () => take(1)[0] ?? 0
  const length = () => {
    const low = byte()
    return low < 0x80 ? low : (low & 0x7f) | (byte() << 7)
  }
  if (byte() !== 0x80) throw new Error('not of version 0')
  const signers = byte()
  take(2)
  const keys = Array.from({ length: length() }, () => base58Of(take(32)))
  take(32)
  const keyAt = (place: number) => {
    const key = keys[place]
    if (key === undefined || keyOfAddress(key) === null) throw new Error('no such account')
    return key
  }
  const instructions = Array.from({ length: length() }, () => {
    const program = keyAt(byte())
    const accounts = Array.from(take(length()), keyAt)
    return { program, accounts, data: take(length()) }
  })
  if (length() !== 0 || at !== bytes.length) throw new Error('the message has more')
  return { keys, signers, instructions }
}
