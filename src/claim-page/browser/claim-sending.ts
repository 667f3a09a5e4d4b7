/** Sends a signed claim and follows it until it is confirmed, has failed, or can no longer land. */
import { pause } from '../../platform/timing.ts'
import { BLOCKHASH_SLOTS } from '../../solana/constants.ts'
import { base64Of } from './bytes.ts'
import { parseChainRecord } from './chain-records.ts'
import { PageFault, type TextKey } from './page-fault.ts'
import { forgetPendingClaim, keepPendingClaim, type PendingClaim } from './pending-claims.ts'
import {
  type Expected,
  lamportsMissing,
  leavesNothing,
  type PlannedTransaction,
  type Purse,
  transactionOf,
  unitPrice,
} from './planned-transaction.ts'
import { RpcRefusal, type SolanaNode } from './solana-node.ts'
import { type ConnectedWallet, messageOf, signatureOf } from './wallet-standard.ts'

export interface SendingContext {
  node: SolanaNode
  genesisHash: string
  /** Shows the visitor the progress. */
  say(key: TextKey, values?: Readonly<Record<string, string>>): void
}

const ROUND_MS = 1_000
/** Rounds between two sendings of the same bytes, and between two reads of the block height. */
const RESEND_ROUNDS = 3
const HEIGHT_ROUNDS = 2
/** Rounds between two reads of the block height while the visitor signs. */
const SIGNING_ROUNDS = 5
/** JSON-RPC code for an invalid signature. */
const BAD_SIGNATURE = -32003

async function latestBlockhash(node: SolanaNode): Promise<{ blockhash: string; lastValidBlockHeight: number }> {
  const result = (await node.call('getLatestBlockhash', [{ commitment: 'confirmed' }])) as {
    value?: { blockhash?: unknown; lastValidBlockHeight?: unknown }
  }
  const { blockhash, lastValidBlockHeight } = result?.value ?? {}
  if (typeof blockhash !== 'string' || !Number.isSafeInteger(lastValidBlockHeight)) throw new PageFault('nodeStrange')
  return { blockhash, lastValidBlockHeight: lastValidBlockHeight as number }
}

/**
 * Simulates the transaction on the node before the visitor signs. Throws PageFault if it would fail, or have another
 * effect than the page expects.
 */
async function simulate(node: SolanaNode, transaction: Uint8Array, expected: readonly Expected[]): Promise<void> {
  let result: unknown
  try {
    const accounts = { encoding: 'base64', addresses: expected.map(({ address }) => address) }
    const options = { encoding: 'base64', sigVerify: false, replaceRecentBlockhash: true, commitment: 'confirmed' }
    result = await node.call('simulateTransaction', [
      base64Of(transaction),
      expected.length === 0 ? options : { ...options, accounts },
    ])
  } catch (error) {
    if (!(error instanceof RpcRefusal)) throw error
    // Some nodes do not simulate; then only the chain judges a claim.
    if (expected.length === 0) return
    throw new PageFault('nodeStrange')
  }
  const { err, accounts } = (result as { value?: { err?: unknown; accounts?: unknown } })?.value ?? {}
  if (err) throw new PageFault('wouldFail', { words: errorWords(err) })
  const records = Array.isArray(accounts) ? accounts.map(parseChainRecord) : []
  const differs = expected.some(({ least, of }, i) => of(records[i] ?? null) < least)
  if (differs) throw new PageFault('effectDiffers')
}

const errorWords = (err: unknown): string => JSON.stringify(err).slice(0, 120)

/** Signs and sends one planned transaction; resolves with its signature once it is confirmed. */
export async function sendClaim(
  context: SendingContext,
  wallet: ConnectedWallet,
  state: Purse,
  planned: PlannedTransaction,
  isAgain = false,
): Promise<string> {
  const { node, genesisHash, say } = context
  say('preparing')
  const [price, { blockhash, lastValidBlockHeight }] = await Promise.all([
    leavesNothing(state, planned) ? 0n : unitPrice(node, planned),
    latestBlockhash(node),
  ])
  const missing = lamportsMissing(state, planned)
  if (missing > 0n) throw new PageFault('lacksSol', { lamports: String(missing) })
  const transaction = transactionOf(wallet.address, planned, price, blockhash, wallet.version)
  await simulate(node, transaction, planned.expected ?? [])
  const term = { wallet: wallet.name, lastValidBlockHeight, isAgain }
  if (!wallet.canSign) {
    const { result } = await whileSigning(context, term, () => wallet.signAndSend(transaction))
    return followClaim(context, await kept(result, null, null))
  }
  const { result: signed, isLate } = await whileSigning(context, term, () => wallet.sign(transaction))
  const isChanged = base64Of(messageOf(signed)) !== base64Of(messageOf(transaction))
  const pending = await kept(signatureOf(signed), base64Of(signed), isChanged ? null : lastValidBlockHeight)
  try {
    return await followClaim(context, pending)
  } catch (error) {
    // It was approved too late, and can no longer land: the visitor gets a fresh one to sign.
    if (isLate && error instanceof PageFault && error.key === 'expired') {
      return sendClaim(context, wallet, state, planned, true)
    }
    throw error
  }

  /** A wallet may have used a newer blockhash, so only the newest one limits how long the transaction can land. */
  async function kept(signature: string, bytes: string | null, height: number | null): Promise<PendingClaim> {
    const pending = { wallet: wallet.address, signature, transaction: bytes, lastValidBlockHeight }
    keepPendingClaim(pending, genesisHash)
    if (height !== null) return pending
    const newest = await latestBlockhash(node).catch(() => null)
    const later = {
      ...pending,
      lastValidBlockHeight: newest?.lastValidBlockHeight ?? lastValidBlockHeight + BLOCKHASH_SLOTS,
    }
    keepPendingClaim(later, genesisHash)
    return later
  }
}

interface SigningTerm {
  /** Name of the wallet. */
  wallet: string
  lastValidBlockHeight: number
  /** Whether the visitor has signed before, too late. */
  isAgain: boolean
}

/** Shows for how long the transaction can still be signed, until the wallet returns; `isLate` if that was too long. */
export async function whileSigning<T>(
  { node, say }: SendingContext,
  { wallet, lastValidBlockHeight, isAgain }: SigningTerm,
  sign: () => Promise<T>,
): Promise<{ result: T; isLate: boolean }> {
  const blockMs = await node.slotMs()
  let end = performance.now() + BLOCKHASH_SLOTS * blockMs
  let isOver = false
  let shown: number | null = null
  const show = () => {
    const seconds = secondsUntil(end)
    if (isOver || seconds === shown) return
    shown = seconds
    if (seconds > 0) say(isAgain ? 'approveAgain' : 'approve', { wallet, seconds: String(seconds) })
    else say('approveLate', { wallet })
  }
  const look = async () => {
    const height = await node.call('getBlockHeight', [{ commitment: 'confirmed' }]).catch(() => null)
    if (typeof height === 'number') end = performance.now() + (lastValidBlockHeight - height) * blockMs
  }
  show()
  let round = 0
  const timer = setInterval(() => {
    if (++round % SIGNING_ROUNDS === 0) void look()
    show()
  }, ROUND_MS)
  try {
    return { result: await sign(), isLate: performance.now() > end }
  } finally {
    isOver = true
    clearInterval(timer)
  }
}

/** Resolves with the signature once confirmed. A claim that can still land remains stored, whatever is thrown. */
export async function followClaim({ node, genesisHash, say }: SendingContext, pending: PendingClaim): Promise<string> {
  const { signature, transaction, wallet, lastValidBlockHeight } = pending
  say('sending')
  const blockMs = await node.slotMs()
  let end: number | null = null
  for (let round = 0; ; round++) {
    try {
      if (round % RESEND_ROUNDS === 0 && transaction !== null) await submit(node, transaction)
      if (await isConfirmed(node, signature, round === 0)) {
        forgetPendingClaim(wallet, genesisHash)
        return signature
      }
      sayHowLong(say, end)
      if (round % HEIGHT_ROUNDS === 1) {
        const height = await node.call('getBlockHeight', [{ commitment: 'finalized' }])
        if (typeof height === 'number') end = performance.now() + (lastValidBlockHeight - height) * blockMs
        // All blocks up to this height are final, so the transaction can no longer land.
        if (typeof height === 'number' && height > lastValidBlockHeight) {
          if (!(await isConfirmed(node, signature, true))) throw new PageFault('expired')
          forgetPendingClaim(wallet, genesisHash)
          return signature
        }
      }
    } catch (error) {
      if (!(error instanceof PageFault)) throw error
      if (error.key === 'expired' || error.key === 'claimFailed' || error.key === 'walletUnsigned') {
        forgetPendingClaim(wallet, genesisHash)
      }
      throw error.key === 'nodeLost' ? new PageFault('nodeLostSent', { ...error.values, signature }) : error
    }
    await pause(ROUND_MS)
  }
}

/** Steps of ten seconds, because a screen reader reads each change aloud; 0 once the time is over. */
const secondsUntil = (end: number): number => Math.max(0, Math.ceil((end - performance.now()) / 10_000) * 10)

function sayHowLong(say: SendingContext['say'], end: number | null): void {
  const left = end === null ? 0 : secondsUntil(end)
  if (left > 0) say('confirmingFor', { seconds: String(left) })
  else say('confirming')
}

/**
 * Sends the bytes. A node's refusal is ignored unless it is about an invalid signature: only the chain shows the
 * outcome.
 */
async function submit(node: SolanaNode, transaction: string): Promise<void> {
  try {
    await node.call('sendTransaction', [transaction, { encoding: 'base64', skipPreflight: true, maxRetries: 0 }])
  } catch (error) {
    if (!(error instanceof RpcRefusal)) throw error
    if (error.code === BAD_SIGNATURE) throw new PageFault('walletUnsigned')
  }
}

async function isConfirmed(node: SolanaNode, signature: string, inHistory: boolean): Promise<boolean> {
  const options = inHistory ? [{ searchTransactionHistory: true }] : []
  let result: unknown
  try {
    result = await node.call('getSignatureStatuses', [[signature], ...options])
  } catch (error) {
    if (error instanceof RpcRefusal) return false
    throw error
  }
  const status = (result as { value?: unknown[] })?.value?.[0] as { err?: unknown; confirmationStatus?: unknown } | null
  if (!status) return false
  if (status.confirmationStatus !== 'confirmed' && status.confirmationStatus !== 'finalized') return false
  if (status.err) throw new PageFault('claimFailed', { words: errorWords(status.err) })
  return true
}
