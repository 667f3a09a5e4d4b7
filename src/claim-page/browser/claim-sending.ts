/** Sends a signed claim and follows it until it is confirmed, has failed, or can no longer land. */
import { pause } from '../../platform/timing.ts'
import { base64Of } from './bytes.ts'
import { lamportsMissing, type PlannedTransaction, transactionOf, unitPrice } from './claim-plan.ts'
import type { WalletState } from './claim-state.ts'
import { PageFault, type TextKey } from './page-fault.ts'
import { forgetPendingClaim, keepPendingClaim, type PendingClaim } from './pending-claims.ts'
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
const [RESEND_ROUNDS, HEIGHT_ROUNDS] = [3, 2]
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

/** Simulates the transaction on the node before the visitor signs. Throws PageFault if it would fail. */
async function rehearse(node: SolanaNode, transaction: Uint8Array): Promise<void> {
  let result: unknown
  try {
    const options = { encoding: 'base64', sigVerify: false, replaceRecentBlockhash: true, commitment: 'confirmed' }
    result = await node.call('simulateTransaction', [base64Of(transaction), options])
  } catch (error) {
    // Some nodes do not simulate; then only the chain judges the claim.
    if (error instanceof RpcRefusal) return
    throw error
  }
  const err = (result as { value?: { err?: unknown } })?.value?.err
  if (err) throw new PageFault('wouldFail', { words: errorWords(err) })
}

const errorWords = (err: unknown): string => JSON.stringify(err).slice(0, 120)

/** Signs and sends one planned transaction; resolves with its signature once it is confirmed. */
export async function sendClaim(
  context: SendingContext,
  wallet: ConnectedWallet,
  state: WalletState,
  planned: PlannedTransaction,
): Promise<string> {
  const { node, genesisHash, say } = context
  say('preparing')
  const [price, { blockhash, lastValidBlockHeight }] = await Promise.all([
    unitPrice(node, planned),
    latestBlockhash(node),
  ])
  const affordable = lamportsMissing(state, planned) === 0n
  if (!affordable) throw new PageFault('lacksSol')
  const transaction = transactionOf(wallet.address, planned, price, blockhash, wallet.version)
  await rehearse(node, transaction)
  say('approve', { wallet: wallet.name })
  if (!wallet.canSign) {
    const signature = await wallet.signAndSend(transaction)
    return followClaim(context, await kept(signature, null, null))
  }
  const signed = await wallet.sign(transaction)
  const isChanged = base64Of(messageOf(signed)) !== base64Of(messageOf(transaction))
  return followClaim(
    context,
    await kept(signatureOf(signed), base64Of(signed), isChanged ? null : lastValidBlockHeight),
  )

  /** A wallet may have used a newer blockhash, so only the newest one limits how long the transaction can land. */
  async function kept(signature: string, bytes: string | null, height: number | null): Promise<PendingClaim> {
    const pending = { wallet: wallet.address, signature, transaction: bytes, lastValidBlockHeight }
    keepPendingClaim(pending, genesisHash)
    if (height !== null) return pending
    const newest = await latestBlockhash(node).catch(() => null)
    const later = { ...pending, lastValidBlockHeight: newest?.lastValidBlockHeight ?? lastValidBlockHeight + 150 }
    keepPendingClaim(later, genesisHash)
    return later
  }
}

/** Resolves with the signature once confirmed. A claim that can still land remains stored, whatever is thrown. */
export async function followClaim({ node, genesisHash, say }: SendingContext, pending: PendingClaim): Promise<string> {
  const { signature, transaction, wallet, lastValidBlockHeight } = pending
  say('sending')
  for (let round = 0; ; round++) {
    try {
      if (round % RESEND_ROUNDS === 0 && transaction !== null) await submit(node, transaction)
      if (await isConfirmed(node, signature, round === 0)) {
        forgetPendingClaim(wallet, genesisHash)
        return signature
      }
      say('confirming')
      if (round % HEIGHT_ROUNDS === 1) {
        const height = await node.call('getBlockHeight', [{ commitment: 'finalized' }])
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
