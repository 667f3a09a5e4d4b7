/** Puts a fresh blockhash into transactions that nobody has signed but keys that their build generated. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { readLatestBlockhash } from '../../chain/reads/rpc-reads.ts'
import { cosignedBy, withBlockhash } from '../../chain/sending/cosign.ts'
import { decodeTransaction } from '../../chain/sending/transactions.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../platform/errors.ts'
import { addressOf } from '../../solana/addresses.ts'
import { lifetimeOf } from '../../solana/lifetimes.ts'
import { type DecodedTransaction, decodeWireTransaction } from '../../solana/messages.ts'
import { SEED_BYTES } from '../../solana/signatures.ts'
import type { Tx } from '../../store/store.ts'
import { addRefreshedMessages, firstOfMessage, lockBlockhashes } from '../../store/transactions/refreshed-messages.ts'
import { openGeneratedKeys } from './generated-keys.ts'
import { alreadySubmitted, findSibling, messageSha256, termsSha256 } from './message-terms.ts'

type RefreshRoute = Api['transactions']['refresh']

/**
 * Throws bad_request for one that somebody else has signed, that uses a durable nonce, or whose like was submitted here
 * and has not failed. What was refreshed is stored, so that of all its versions one at a time is submitted.
 */
export async function refreshTransactions(context: Context, input: Input<RefreshRoute>): Promise<Result<RefreshRoute>> {
  const { chain, vault } = context
  const earlier = input.transactions.map((text, i) => decodeTransaction(text, `transactions.${i}`))
  const keys = input.generated_keys === undefined ? [] : openGeneratedKeys(vault, input.generated_keys, earlier)
  const generated = keys.map((key) => addressOf(key.subarray(SEED_BYTES)))
  for (const [i, transaction] of earlier.entries()) {
    requireBlockhash(transaction, `transactions.${i}`)
    requireUnsigned(transaction, generated, `transactions.${i}`)
  }
  const { blockhash, lastValidBlockHeight } = await readLatestBlockhash(chain)
  const fresh = earlier.map(({ raw }) => cosignedBy(withBlockhash(raw, blockhash), keys).transaction)
  const signers = earlier.flatMap(({ message }) => message.keys.slice(0, message.signers))
  const answer = {
    mode: 'unsigned' as const,
    transactions: fresh.map((raw) => Buffer.from(raw).toString('base64')),
    requiredSigners: [...new Set(signers)].filter((address) => !generated.includes(address)),
    last_valid_block_height: lastValidBlockHeight,
    ...(input.generated_keys === undefined ? {} : { generated_keys: input.generated_keys }),
  }
  return context.commit(async (tx) => {
    await storeVersions(context, tx, earlier, fresh)
    return answer
  })
}

/** A durable nonce stands in place of the blockhash, and lasts until somebody advances it. */
function requireBlockhash({ message }: DecodedTransaction, param: string): void {
  const { nonceAccount } = lifetimeOf(message)
  if (nonceAccount === null) return
  throw badRequest(`${param} uses the durable nonce ${nonceAccount}, which does not expire: sign it as it is`, {
    param,
    details: { nonce_account: nonceAccount },
  })
}

/** Whoever has signed might send what was signed, so that it must not exist in two versions. */
function requireUnsigned(
  { signatures, message }: DecodedTransaction,
  generated: readonly string[],
  param: string,
): void {
  const signed = message.keys
    .slice(0, message.signers)
    .filter((address, i) => signatures[i]?.some((byte) => byte !== 0) && !generated.includes(address))
  if (signed.length === 0) return
  throw badRequest(
    `${param} is signed by ${signed.join(', ')}, and with another blockhash that signature would be void: send it without, or build it anew; for a key that the build generated, send generated_keys`,
    { param, details: { signed_by: signed } },
  )
}

async function storeVersions(
  { clock }: Context,
  tx: Tx,
  earlier: readonly DecodedTransaction[],
  fresh: readonly Uint8Array[],
): Promise<void> {
  const created_at = clock.now()
  for (const [i, before] of earlier.entries()) {
    const own = messageSha256(before)
    const first = (await firstOfMessage(tx, own)) ?? own
    const known = await lockBlockhashes(tx, first)
    const sibling = await findSibling(tx, termsSha256(before), [...known, before.message.recentBlockhash])
    if (sibling !== null) throw alreadySubmitted(sibling, `transactions.${i}`)
    const versions = [before, decodeWireTransaction(fresh[i] ?? before.raw)]
    await addRefreshedMessages(
      tx,
      versions.map((version) => ({
        message_sha256: messageSha256(version),
        first_sha256: first,
        blockhash: version.message.recentBlockhash,
        created_at,
      })),
    )
  }
}
