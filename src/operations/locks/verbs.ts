/** Locks of any mint in Jupiter Lock: create, claim, cancel, change, title, close, read and list. */
import type { TransactionInstruction } from '@solana/web3.js'
import type { Api } from '../../api/index.ts'
import type { Lock } from '../../api/locks.ts'
import type { Input, Result } from '../../api/route.ts'
import type { SignedOperation } from '../../api/signed-operations.ts'
import {
  type Escrow,
  findLocks,
  isGoldLock,
  LOCK_UNITS,
  LOCKS_PER_CALL,
  type LockActs,
  type LockTerms,
  onLock,
  readAroundLock,
  readBeforeLock,
  readLocks,
  textsBytes,
} from '../../chain/programs/jupiter-lock/index.ts'
import type { ChainTime } from '../../chain/reads/chain-clock.ts'
import { rentFor } from '../../chain/reads/rpc-reads.ts'
import { readWithSlots } from '../../chain/sending/runs.ts'
import type { Context, Services } from '../../context.ts'
import type { ApiError } from '../../platform/errors.ts'
import { addressBytes, addressOf } from '../../solana/addresses.ts'
import {
  checkedSchedule,
  depositOf,
  endOf,
  isoSeconds,
  isPaidOut,
  type LockAmounts,
  lockAmounts,
  totalOf,
  unlocksAtOnce,
  unlockText,
} from '../../solana/lock-schedule.ts'
import { CLOCK_SYSVAR } from '../../solana/program-ids.ts'
import { ESCROW_BYTES, lockModes, lockTexts, partyOf } from '../../solana/programs/jupiter-lock.ts'
import { DBC_POOL_AUTHORITY, PROGRAMS } from '../../solana/programs.ts'
import { TOKEN_ACCOUNT_SIZE } from '../../solana/token-accounts.ts'
import { feeInEpoch, feeOn } from '../../solana/transfer-fees.ts'
import { decodeAddressCursor, encodeAddressCursor, filteredList } from '../../store/queries/paging.ts'
import { act, type Plan, type Summary } from '../act.ts'
import { newKey, trackingOf } from '../building.ts'
import { requireRecipients } from '../recipients.ts'
import { refusalsOf } from '../refusals.ts'
import { warned } from '../sentences.ts'
import { trySigner } from '../signing/require-signer.ts'
import { cleanLabel } from '../tokens/labels.ts'
import {
  type FoundLock,
  fault,
  mintWarnings,
  proofOfDecimals,
  requireHolding,
  requireLock,
  requireLockableMint,
  requirePayable,
  requirePermitted,
  requireRole,
  requireUncancelled,
} from './checks.ts'

type Routes = Api['locks']

const throwRefusal = refusalsOf(PROGRAMS.lock.name, 'Token program', 'Token-2022 program')

interface LockPlan<S> extends Omit<Plan<S>, 'build'> {
  lock: Pick<Escrow, 'address' | 'mint' | 'tokenProgram'>
  acts(of: LockActs): TransactionInstruction[]
  /** Generated keys, which sign. */
  secretKeys?: readonly Uint8Array[]
}

/** Of every act, the program is required, its refusal is reported, and the lock is tracked. */
const lockAct = <R extends Routes['create' | 'claim' | 'cancel' | 'changeRecipient' | 'entitle' | 'close']>(
  operation: SignedOperation,
  plan: (context: Context, input: Input<R>) => Promise<LockPlan<Summary<R>>>,
) =>
  act<R>(operation, async (context, input) => {
    const { lock, acts, secretKeys = [], ...planned } = await plan(context, input)
    return {
      requiredProgram: PROGRAMS.lock,
      onFailedSimulation: throwRefusal,
      tracked: trackingOf('lock', lock.address, []),
      build: async (envelope) => ({ ...(await onLock(envelope, lock, acts)), secretKeys }),
      ...planned,
    }
  })

/** The same for an act on a lock that is there, which is read first. */
const actOnLock = <R extends Routes['claim' | 'cancel' | 'changeRecipient' | 'entitle' | 'close']>(
  operation: SignedOperation,
  plan: (found: FoundLock, input: Input<R>, context: Context) => Promise<Omit<LockPlan<Summary<R>>, 'lock'>>,
) =>
  lockAct<R>(operation, async (context, input) => {
    const found = await requireLock(context, input.address)
    return { lock: found.escrow, ...(await plan(found, input, context)) }
  })

const createFor = lockAct<Routes['create']>('lock.create', async (context, input) => {
  const { chain } = context
  const { payer, mint, recipient } = input
  const amount = BigInt(input.amount)
  if ([payer, recipient, mint].includes(input.base ?? '')) {
    throw fault('base', 'base must be the address of a new key, without another role in this request')
  }
  await requireRecipients(context, [{ param: 'recipient', wallet: recipient }], {
    allowsPrograms: input.allow_programs,
  })
  const key = input.base === undefined ? newKey(context) : null
  const base = key?.address ?? input.base ?? ''
  const before = await readBeforeLock(chain, { user: payer, mint, base })
  const { address, at } = before
  if (before.escrow !== null) {
    throw fault('base', `base: its lock exists already at ${address}; send the address of a new key`, { address })
  }
  const terms = termsOf(input, at.unixSeconds)
  const token = await requireLockableMint(mint, before.token, chain.cluster.label)
  const { tokenProgram, extensions } = token
  const deposit = depositOf(feeInEpoch(extensions, at.epoch), amount)
  if (deposit === null) {
    throw fault('amount', `amount: with the transfer fee of ${mint} more leaves ${payer} than a token account can hold`)
  }
  requireHolding(before, {
    wallet: payer,
    mint,
    need: deposit,
    param: 'payer',
    withFee: deposit === amount ? '' : ` (${amount} and the transfer fee)`,
    token: 'token',
    frozen: `The tokens of ${payer} are frozen`,
  })
  const texts = lockTexts(input)
  const proof = await proofOfDecimals(payer, token)
  const tokenAccountBytes = extensions?.accountBytes ?? TOKEN_ACCOUNT_SIZE
  const sizes = [ESCROW_BYTES, tokenAccountBytes, ...(texts === undefined ? [] : [textsBytes(texts)])]
  const rents = await Promise.all(sizes.map((bytes) => rentFor(chain, bytes)))
  const mayEnd = input.cancellable_by === 'none' ? 'nobody' : input.cancellable_by
  return {
    fallbackUnits: LOCK_UNITS.create,
    lock: { address, mint, tokenProgram },
    acts: ({ create }) => [proof, ...create(payer, { base, recipient, terms, texts })],
    secretKeys: key === null ? [] : [key.secretKey],
    // The movement shows the account of the lock, and not who can claim from it.
    about: `${address}, for ${recipient} until ${isoSeconds(endOf(terms))}, ended by ${mayEnd}`,
    summary: {
      address,
      ...termsRecord({ ...terms, mint, tokenProgram, creator: payer, recipient }),
      deposit: String(deposit),
      rent: String(rents.reduce((sum, rent) => sum + rent, 0n)),
      ...warned([...releaseWarnings(terms, at.unixSeconds), ...mintWarnings(token, at.epoch)]),
    },
  }
})

const createLock: typeof createFor = async (context, input) => {
  if (input.mode === 'signed' && input.base !== undefined) {
    throw fault('base', 'base is a key of yours, and with mode "signed" only keys of this server sign: leave it out')
  }
  return createFor(context, input)
}

/** How the request calls the fields of a schedule that have another name there. */
const SCHEDULE_FIELDS: Readonly<Record<string, string>> = { start: 'starts_at', cliff: 'cliff_at' }

/** Throws bad_request for a schedule that cannot be locked. */
function termsOf(input: Input<Routes['create']>, now: number): LockTerms {
  const unitsOf = (value: string | number | undefined) => (value === undefined ? null : BigInt(value))
  const secondsOf = (time: string | undefined) =>
    time === undefined ? undefined : BigInt(Math.floor(Date.parse(time) / 1000))
  const startTime = secondsOf(input.starts_at) ?? BigInt(now)
  const schedule = checkedSchedule(
    {
      amount: BigInt(input.amount),
      startTime,
      cliffTime: secondsOf(input.cliff_at) ?? startTime,
      cliffAmount: unitsOf(input.cliff_amount),
      periods: unitsOf(input.periods),
      frequency: unitsOf(input.frequency),
    },
    (field, why) => {
      const param = SCHEDULE_FIELDS[field] ?? field
      return fault(param, `${param} ${why}`)
    },
  )
  return { ...schedule, ...lockModes(input) }
}

/** A lock that pays everything in one moment may be meant, or a forgotten period. */
function releaseWarnings(terms: LockTerms, now: number): string[] {
  if (!unlocksAtOnce(terms)) return []
  return terms.cliffTime <= BigInt(now)
    ? ['Nothing is locked: the recipient can claim everything now. Give the lock a later cliff, or periods']
    : [`Everything unlocks in one moment, ${isoSeconds(terms.cliffTime)}: no periods follow`]
}

const claimLock = actOnLock<Routes['claim']>(
  'lock.claim',
  async ({ escrow, amounts: { total, claimable, next }, at }, { address, payer, amount }, { chain }) => {
    requireUncancelled(escrow)
    requireRole(escrow, 'recipient', { payer, verb: 'claim from' })
    if (claimable === 0n) throw nothingToClaim(escrow, next)
    const wanted = amount === undefined ? claimable : BigInt(amount)
    if (wanted > claimable) {
      const message = `amount is ${wanted}, but only ${claimable} raw units have unlocked and are not claimed yet`
      throw fault('amount', message, { claimable: String(claimable) })
    }
    const cannot = `Nothing can be claimed from ${address}`
    const paid = { wallets: [payer], param: 'address', what: 'the claim', cannot }
    const { token } = await requirePayable(chain, escrow, paid)
    const remaining = total - escrow.claimed - wanted
    // A recipient who made the lock, and claims the last units, gets its rent back in the same transaction.
    const closes = remaining === 0n && escrow.creator === payer
    const fee = feeOn(feeInEpoch(token?.extensions ?? null, at.epoch), wanted)
    return {
      fallbackUnits: closes ? LOCK_UNITS.claimAndClose : LOCK_UNITS.claim,
      acts: ({ claim }) => claim(payer, payer, wanted, { closes }),
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
  },
)

function nothingToClaim({ address, creator }: Escrow, next: LockAmounts['next']): ApiError {
  if (next === null) {
    const message = `Everything of the lock ${address} is claimed: its creator ${creator} can close it`
    return fault('address', message, { reason: 'nothing_to_claim' })
  }
  const { at, amount } = next
  const message = `Nothing can be claimed from ${address} now: the next ${amount} raw units unlock ${unlockText(at)}`
  const next_unlock = { at: isoSeconds(at), amount: String(amount) }
  return fault('address', message, { reason: 'too_early', next_unlock })
}

/** Only the creator can close the lock, so a recipient who cancels leaves that to it. */
const cancelLock = actOnLock<Routes['cancel']>(
  'lock.cancel',
  async ({ escrow, amounts: { claimable } }, { address, payer }, { chain }) => {
    requireUncancelled(escrow)
    requirePermitted(escrow, escrow.cancelMode, { payer, verb: 'cancel' })
    const { creator, recipient, mint } = escrow
    const paid = { param: 'address', what: 'its part', cannot: `The lock ${address} cannot be cancelled` }
    const { lock } = await requirePayable(chain, escrow, { ...paid, wallets: [recipient, creator] })
    const held = lock.state?.amount ?? 0n
    return {
      fallbackUnits: LOCK_UNITS.cancel,
      acts: ({ cancel }) => cancel(payer, escrow),
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
  },
)

const changeLockRecipient = actOnLock<Routes['changeRecipient']>(
  'lock.change_recipient',
  async ({ escrow, amounts: { claimable } }, { address, payer, new_recipient, allow_programs }, context) => {
    requireUncancelled(escrow)
    requirePermitted(escrow, escrow.updateRecipientMode, { payer, verb: 'change the recipient of' })
    const { recipient, mint } = escrow
    const param = 'new_recipient'
    if (new_recipient === recipient) {
      throw fault(param, `${new_recipient} is the recipient of the lock ${address} already`)
    }
    if (isPaidOut(escrow)) {
      throw fault('address', `Everything of the lock ${address} is claimed, so a new recipient would get nothing`)
    }
    // The program accepts any address, even one that nobody can sign for.
    await requireRecipients(context, [{ param, wallet: new_recipient }], { allowsPrograms: allow_programs })
    return {
      fallbackUnits: LOCK_UNITS.changeRecipient,
      acts: ({ changeRecipient }) => changeRecipient(payer, new_recipient),
      summary: { address, mint, recipient, new_recipient, claimable: String(claimable) },
    }
  },
)

const titleLock = actOnLock<Routes['entitle']>(
  'lock.entitle',
  async ({ escrow, hasTexts }, { address, payer, title, description = '' }, { chain }) => {
    requireRole(escrow, 'creator', { payer, verb: 'write the title of' })
    if (hasTexts) throw fault('address', `The lock ${address} has a title already, which the program never changes`)
    const texts = { title, description }
    return {
      fallbackUnits: LOCK_UNITS.entitle,
      acts: ({ entitle }) => entitle(payer, texts),
      summary: { address, ...texts, rent: String(await rentFor(chain, textsBytes(texts))) },
    }
  },
)

const closeLock = actOnLock<Routes['close']>('lock.close', async ({ escrow }, { address, payer }, { chain }) => {
  requireRole(escrow, 'creator', { payer, verb: 'close' })
  if (escrow.cancelledAt === 0n && !isPaidOut(escrow)) {
    throw fault(
      'address',
      `The lock ${address} still holds tokens of ${escrow.recipient}: it can be closed once all of them are claimed, or it is cancelled`,
    )
  }
  return {
    fallbackUnits: LOCK_UNITS.close,
    acts: ({ close }) => close(payer),
    summary: { address, mint: escrow.mint, creator: payer, rent: String((await readAroundLock(chain, escrow)).rent) },
  }
})

/** The terms of a lock, which its creation answers too. */
function termsRecord(escrow: Omit<Escrow, 'address' | 'base' | 'claimed' | 'cancelledAt'>) {
  return {
    mint: escrow.mint,
    token_program: escrow.tokenProgram,
    creator: escrow.creator,
    recipient: escrow.recipient,
    amount: String(totalOf(escrow)),
    starts_at: isoSeconds(escrow.startTime),
    cliff_at: isoSeconds(escrow.cliffTime),
    cliff_amount: String(escrow.cliffAmount),
    frequency: String(escrow.frequency),
    periods: String(escrow.periods),
    amount_per_period: String(escrow.amountPerPeriod),
    ends_at: isoSeconds(endOf(escrow)),
    cancellable_by: partyOf(escrow.cancelMode),
    recipient_changeable_by: partyOf(escrow.updateRecipientMode),
  }
}

/** Returns the record of a lock at a time of the chain. */
function lockRecord({ config }: Pick<Services, 'config'>, escrow: Escrow, at: ChainTime): Lock {
  const { unlocked, claimable, locked, next } = lockAmounts(escrow, BigInt(at.unixSeconds))
  return {
    address: escrow.address,
    origin: originOf(escrow, config.values['gold.mint']),
    ...termsRecord(escrow),
    unlocked: String(unlocked),
    claimed: String(escrow.claimed),
    claimable: String(claimable),
    locked: String(locked),
    next_unlock: next === null ? null : { at: isoSeconds(next.at), amount: String(next.amount) },
    cancelled_at: escrow.cancelledAt === 0n ? null : isoSeconds(escrow.cancelledAt),
  }
}

/** The launch program locks vested tokens itself, with one address for all of its pools. */
function originOf(escrow: Escrow, goldMint: string | undefined): Lock['origin'] {
  if (escrow.creator === DBC_POOL_AUTHORITY) return 'launch'
  return isGoldLock(escrow, goldMint) ? 'gold' : 'other'
}

/** Most characters of a text that are shown. Other tools can write longer ones. */
const SHOWN = { title: 64, description: 400 } as const

async function getLock(context: Context, { address }: Input<Routes['get']>): Promise<Result<Routes['get']>> {
  const { escrow, texts, at } = await requireLock(context, address)
  const { token, lock } = await readAroundLock(context.chain, escrow)
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
async function listLocks(
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
  const found = await findLocks(context.chain, filter, (await readWithSlots(context.chain, [CLOCK_SYSVAR])).oldest)
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

/** The function of each route. */
export const lockVerbs = {
  create: createLock,
  list: listLocks,
  get: getLock,
  claim: claimLock,
  cancel: cancelLock,
  changeRecipient: changeLockRecipient,
  entitle: titleLock,
  close: closeLock,
}
