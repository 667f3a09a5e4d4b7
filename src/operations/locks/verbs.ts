/** Locks of any mint in Jupiter Lock: create, claim, cancel, change, title, close, read and list. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { SignedOperation } from '../../api/signed-operations.ts'
import {
  buildLock,
  buildLockCancellation,
  buildLockClaim,
  buildLockClosing,
  buildLockTitling,
  buildRecipientChange,
  type Escrow,
  findLocks,
  isPaidOut,
  LOCK_UNITS,
  LOCKS_PER_CALL,
  lockAmounts,
  readBeforeLock,
  readLockRent,
  readLocks,
  readUnlockAccounts,
  textsBytes,
} from '../../chain/programs/jupiter-lock/index.ts'
import type { ChainTime } from '../../chain/reads/chain-clock.ts'
import { rentFor } from '../../chain/reads/rpc-reads.ts'
import { readingOf } from '../../chain/sending/runs.ts'
import type { Context } from '../../context.ts'
import { type ApiError, badRequest } from '../../platform/errors.ts'
import { addressBytes, addressOf } from '../../solana/addresses.ts'
import { depositOf } from '../../solana/lock-deposit.ts'
import { CLOCK_SYSVAR } from '../../solana/program-ids.ts'
import { ESCROW_BYTES } from '../../solana/programs/jupiter-lock.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { TOKEN_ACCOUNT_SIZE } from '../../solana/token-accounts.ts'
import { feeInEpoch, feeOn } from '../../solana/transfer-fees.ts'
import { decodeAddressCursor, encodeAddressCursor, filteredList } from '../../store/queries/paging.ts'
import { act, type Plan, type Summary } from '../act.ts'
import { newKey, trackingOf } from '../building.ts'
import { requireRecipients } from '../recipients.ts'
import { trySigner } from '../signing/require-signer.ts'
import { cleanLabel } from '../tokens/labels.ts'
import {
  mintWarnings,
  proofOfDecimals,
  requireHolding,
  requireLock,
  requireLockableMint,
  requireMay,
  requirePayable,
  requireRole,
  requireUncancelled,
  throwLockRefusal,
} from './checks.ts'
import { lockRecord, lockTerms, momentOf } from './records.ts'
import { lockTermsOf, releaseWarnings } from './schedule.ts'

type Routes = Api['locks']
type Acts = Routes['create' | 'claim' | 'cancel' | 'changeRecipient' | 'entitle' | 'close']

/** Of every act, the program is required, its refusal is reported, and the lock is tracked. */
const lockAct = <R extends Acts>(
  operation: SignedOperation,
  plan: (context: Context, input: Input<R>) => Promise<Plan<Summary<R> & { address: string }>>,
) =>
  act<R>(operation, async (context, input) => {
    const planned = await plan(context, input)
    const { address } = planned.summary as { address: string }
    return {
      requiredProgram: PROGRAMS.lock,
      onFailedTrial: throwLockRefusal,
      tracked: trackingOf('lock', address, []),
      ...planned,
    }
  })

const createFor = lockAct<Routes['create']>('lock.create', async (context, input) => {
  const { chain } = context
  const { payer, mint, recipient } = input
  const amount = BigInt(input.amount)
  if ([payer, recipient, mint].includes(input.base ?? '')) {
    throw badRequest('base must be the address of a new key, without another role in this request', { param: 'base' })
  }
  await requireRecipients(context, [{ param: 'recipient', wallet: recipient }], {
    allowsPrograms: input.allow_programs,
  })
  const key = input.base === undefined ? newKey(context) : null
  const base = key?.address ?? input.base ?? ''
  const before = await readBeforeLock(chain, { user: payer, mint, base })
  const { address, at } = before
  if (before.escrow !== null) {
    throw badRequest(`base: its lock exists already at ${address}; send the address of a new key`, {
      param: 'base',
      details: { address },
    })
  }
  const terms = lockTermsOf(input, at.unixSeconds)
  const token = requireLockableMint(mint, before.token, chain.cluster.label)
  const { tokenProgram, extensions } = token
  const deposit = depositOf(feeInEpoch(extensions, at.epoch), amount)
  if (deposit === null) {
    throw badRequest(`amount: with the transfer fee of ${mint} more leaves ${payer} than a token account can hold`, {
      param: 'amount',
    })
  }
  requireHolding(before, {
    ...{ wallet: payer, mint, need: deposit, param: 'payer' },
    withFee: deposit === amount ? '' : ` (${amount} and the transfer fee)`,
    ...{ token: 'token', frozen: `The tokens of ${payer} are frozen` },
  })
  const texts = textsOf(input)
  const proof = await proofOfDecimals(payer, token)
  const tokenAccountBytes = extensions?.accountBytes ?? TOKEN_ACCOUNT_SIZE
  const sizes = [ESCROW_BYTES, tokenAccountBytes, ...(texts === undefined ? [] : [textsBytes(texts)])]
  const rents = await Promise.all(sizes.map((bytes) => rentFor(chain, bytes)))
  const warnings = [...releaseWarnings(terms, at.unixSeconds), ...mintWarnings(token, at.epoch)]
  const ends = momentOf(terms.cliffTime + terms.frequency * terms.periods)
  const mayEnd = input.cancellable_by === 'none' ? 'nobody' : input.cancellable_by
  return {
    fallbackUnits: LOCK_UNITS.create,
    build: async ({ before: budget = [], ...envelope }) => ({
      ...(await buildLock({
        ...envelope,
        before: [...budget, proof],
        ...{ base, recipient, mint, tokenProgram, terms, texts },
      })),
      secretKeys: key === null ? [] : [key.secretKey],
    }),
    // The movement shows the account of the lock, and not who can claim from it.
    about: `${address}, for ${recipient} until ${ends}, ended by ${mayEnd}`,
    summary: {
      address,
      ...lockTerms({ ...terms, mint, tokenProgram, creator: payer, recipient }),
      deposit: String(deposit),
      rent: String(rents.reduce((sum, rent) => sum + rent, 0n)),
      ...(warnings.length > 0 ? { warnings } : {}),
    },
  }
})

export const createLock: typeof createFor = async (context, input) => {
  if (input.mode === 'signed' && input.base !== undefined) {
    throw badRequest('base is a key of yours, and with mode "signed" only keys of this server sign: leave it out', {
      param: 'base',
    })
  }
  return createFor(context, input)
}

function textsOf({ title, description }: Input<Routes['create']>): { title: string; description: string } | undefined {
  return title === undefined && description === undefined
    ? undefined
    : { title: title ?? '', description: description ?? '' }
}

export const claimLock = lockAct<Routes['claim']>('lock.claim', async ({ chain }, { address, payer, amount }) => {
  const { escrow, at } = await requireLock({ chain }, address)
  requireUncancelled(escrow)
  requireRole(escrow, 'recipient', { payer, verb: 'claim from' })
  const { total, claimable } = lockAmounts(escrow, BigInt(at.unixSeconds))
  if (claimable === 0n) throw nothingToClaim(escrow, at)
  const wanted = amount === undefined ? claimable : BigInt(amount)
  if (wanted > claimable) {
    throw badRequest(`amount is ${wanted}, but only ${claimable} raw units have unlocked and are not claimed yet`, {
      param: 'amount',
      details: { claimable: String(claimable) },
    })
  }
  const cannot = `Nothing can be claimed from ${address}`
  const paid = { wallet: payer, param: 'address', what: 'the claim', cannot }
  const { token } = await requirePayable(chain, escrow, paid)
  const remaining = total - escrow.claimed - wanted
  // A recipient who made the lock, and claims the last units, gets its rent back in the same transaction.
  const closes = remaining === 0n && escrow.creator === payer
  const fee = feeOn(feeInEpoch(token?.extensions ?? null, at.epoch), wanted)
  return {
    fallbackUnits: closes ? LOCK_UNITS.claimAndClose : LOCK_UNITS.claim,
    build: (envelope) => buildLockClaim({ ...envelope, lock: escrow, amount: wanted, closes }),
    summary: {
      address,
      mint: escrow.mint,
      recipient: payer,
      amount: String(wanted),
      received: String(wanted - fee),
      remaining: String(remaining),
      closes,
    },
  }
})

function nothingToClaim(escrow: Escrow, at: ChainTime): ApiError {
  const { address, creator } = escrow
  const { next } = lockAmounts(escrow, BigInt(at.unixSeconds))
  if (next === null) {
    return badRequest(`Everything of the lock ${address} is claimed: its creator ${creator} can close it`, {
      param: 'address',
      details: { reason: 'nothing_to_claim' },
    })
  }
  const when = momentOf(next.at) === null ? 'after the year 9999' : `at ${momentOf(next.at)}`
  return badRequest(`Nothing can be claimed from ${address} now: the next ${next.amount} raw units unlock ${when}`, {
    param: 'address',
    details: { reason: 'too_early', next_unlock: { at: momentOf(next.at), amount: String(next.amount) } },
  })
}

/** Only the creator can close the lock, so a recipient who cancels leaves that to it. */
export const cancelLock = lockAct<Routes['cancel']>('lock.cancel', async ({ chain }, { address, payer }) => {
  const { escrow, at } = await requireLock({ chain }, address)
  requireUncancelled(escrow)
  requireMay(escrow, escrow.cancelMode, { payer, verb: 'cancel' })
  const { creator, recipient, mint } = escrow
  const paid = { param: 'address', what: 'its part', cannot: `The lock ${address} cannot be cancelled` }
  const { lock } = await requirePayable(chain, escrow, { ...paid, wallet: recipient })
  await requirePayable(chain, escrow, { ...paid, wallet: creator })
  const { claimable } = lockAmounts(escrow, BigInt(at.unixSeconds))
  const held = lock.state?.amount ?? 0n
  return {
    fallbackUnits: LOCK_UNITS.cancel,
    build: (envelope) => buildLockCancellation({ ...envelope, lock: escrow }),
    summary: {
      address,
      mint,
      creator,
      recipient,
      to_recipient: String(claimable),
      to_creator: String(held > claimable ? held - claimable : 0n),
      closes: payer === creator,
    },
  }
})

export const changeLockRecipient = lockAct<Routes['changeRecipient']>(
  'lock.change_recipient',
  async (context, { address, payer, new_recipient, allow_programs }) => {
    const { escrow, at } = await requireLock(context, address)
    requireUncancelled(escrow)
    requireMay(escrow, escrow.updateRecipientMode, { payer, verb: 'change the recipient of' })
    const { recipient, mint } = escrow
    const param = 'new_recipient'
    if (new_recipient === recipient) {
      throw badRequest(`${new_recipient} is the recipient of the lock ${address} already`, { param })
    }
    if (isPaidOut(escrow)) {
      throw badRequest(`Everything of the lock ${address} is claimed, so a new recipient would get nothing`, {
        param: 'address',
      })
    }
    // The program accepts any address, even one that nobody can sign for.
    await requireRecipients(context, [{ param, wallet: new_recipient }], { allowsPrograms: allow_programs })
    const { claimable } = lockAmounts(escrow, BigInt(at.unixSeconds))
    return {
      fallbackUnits: LOCK_UNITS.changeRecipient,
      build: (envelope) => buildRecipientChange({ ...envelope, lock: escrow, to: new_recipient }),
      summary: { address, mint, recipient, new_recipient, claimable: String(claimable) },
    }
  },
)

export const entitleLock = lockAct<Routes['entitle']>(
  'lock.entitle',
  async ({ chain }, { address, payer, title, description = '' }) => {
    const { escrow, hasTexts } = await requireLock({ chain }, address)
    requireRole(escrow, 'creator', { payer, verb: 'write the title of' })
    if (hasTexts) {
      throw badRequest(`The lock ${address} has a title already, which the program never changes`, {
        param: 'address',
      })
    }
    const texts = { title, description }
    return {
      fallbackUnits: LOCK_UNITS.entitle,
      build: (envelope) => buildLockTitling({ ...envelope, lock: escrow, texts }),
      summary: { address, ...texts, rent: String(await rentFor(chain, textsBytes(texts))) },
    }
  },
)

export const closeLock = lockAct<Routes['close']>('lock.close', async ({ chain }, { address, payer }) => {
  const { escrow } = await requireLock({ chain }, address)
  requireRole(escrow, 'creator', { payer, verb: 'close' })
  if (escrow.cancelledAt === 0n && !isPaidOut(escrow)) {
    throw badRequest(
      `The lock ${address} still holds tokens of ${escrow.recipient}: it can be closed once all of them are claimed, or it is cancelled`,
      { param: 'address' },
    )
  }
  return {
    fallbackUnits: LOCK_UNITS.close,
    build: (envelope) => buildLockClosing({ ...envelope, lock: escrow }),
    summary: { address, mint: escrow.mint, creator: payer, rent: String(await readLockRent(chain, escrow)) },
  }
})

/** Most characters of a text that are shown. Other tools can write longer ones. */
const SHOWN = { title: 64, description: 400 } as const

export async function getLock(context: Context, { address }: Input<Routes['get']>): Promise<Result<Routes['get']>> {
  const { escrow, texts, at } = await requireLock(context, address)
  const { token, lock } = await readUnlockAccounts(context.chain, escrow)
  return {
    ...lockRecord(context, escrow, at),
    held: String(lock.state?.amount ?? 0n),
    decimals: token?.decimals ?? null,
    title: cleanLabel(texts?.title, SHOWN.title),
    description: cleanLabel(texts?.description, SHOWN.description),
  }
}

/**
 * Lists locks in the order of their addresses. A lock that was closed since the search is left out, so that a page can
 * have fewer than `limit`.
 */
export async function listLocks(
  context: Context,
  { mint, recipient, creator, limit, cursor }: Input<Routes['list']>,
): Promise<Result<Routes['list']>> {
  const isFiltered = mint !== undefined || recipient !== undefined || creator !== undefined
  // There are too many locks to list all of them.
  const platform = isFiltered ? undefined : (await trySigner(context))?.address
  const filter = { mint, recipient, creator: creator ?? platform }
  const list = filteredList('locks', filter)
  const after = cursor === undefined ? '' : addressOf(decodeAddressCursor(list, cursor))
  if (!isFiltered && platform === undefined) return { items: [], next_cursor: null }
  const found = await findLocks(context.chain, filter, (await readingOf(context.chain, [CLOCK_SYSVAR])).oldest)
  const rest = found.filter((address) => address > after)
  const page = rest.slice(0, limit)
  const items: Result<Routes['list']>['items'] = []
  for (let from = 0; from < page.length; from += LOCKS_PER_CALL) {
    const { at, escrows } = await readLocks(context.chain, page.slice(from, from + LOCKS_PER_CALL))
    items.push(...escrows.flatMap((escrow) => (escrow === null ? [] : [lockRecord(context, escrow, at)])))
  }
  const last = page.at(-1)
  const isMore = last !== undefined && rest.length > page.length
  return { items, next_cursor: isMore ? encodeAddressCursor(list, addressBytes(last)) : null }
}
