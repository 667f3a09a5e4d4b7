/** Builds a lock of tokens for a recipient, unsigned or signed by the platform wallet. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import {
  buildLock,
  LAST_SECOND,
  LOCK_UNITS,
  type LockTerms,
  readBeforeLock,
  textsBytes,
} from '../../chain/programs/jupiter-lock/index.ts'
import { rentFor } from '../../chain/reads/rpc-reads.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../platform/errors.ts'
import { depositOf } from '../../solana/lock-deposit.ts'
import { splitLock, unlocksAtOnce } from '../../solana/lock-schedule.ts'
import { ESCROW_BYTES } from '../../solana/programs/jupiter-lock.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { TOKEN_ACCOUNT_SIZE } from '../../solana/token-accounts.ts'
import { feeInEpoch } from '../../solana/transfer-fees.ts'
import { buildTransaction, newKey } from '../building.ts'
import { requireRecipients } from '../recipients.ts'
import { type LockBuild, lockInEitherMode } from './either-mode.ts'
import { lockTerms, modeOf, momentOf } from './lock-record.ts'
import { mintWarnings, proofOfDecimals, requireLockableMint } from './lockable-mint.ts'
import { requireHolding, throwLockRefusal } from './read-lock.ts'

type CreateLockRoute = Api['locks']['create']
type CreateLockInput = Input<CreateLockRoute>
type LockSummary = Omit<Extract<Result<CreateLockRoute>, { mode: 'signed' }>, 'mode' | 'signature'>

export async function createLock(context: Context, input: CreateLockInput): Promise<Result<CreateLockRoute>> {
  if (input.mode === 'signed' && input.base !== undefined) {
    throw badRequest('base is a key of yours, and with mode "signed" only keys of this server sign: leave it out', {
      param: 'base',
    })
  }
  return lockInEitherMode(context, input, 'lock.create', (payer) => planLock(context, { ...input, payer }))
}

async function planLock(context: Context, input: CreateLockInput): Promise<LockBuild<LockSummary>> {
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
  const before = await readBeforeLock(context.chain, { user: payer, mint, base })
  if (before.escrow !== null) {
    throw badRequest(`base: its lock exists already at ${before.address}; send the address of a new key`, {
      param: 'base',
      details: { address: before.address },
    })
  }
  const terms = scheduleOf(input, before.at.unixSeconds)
  const token = requireLockableMint(mint, before.token, context.chain.cluster.label)
  const { tokenProgram, extensions } = token
  const deposit = depositOf(feeInEpoch(extensions, before.at.epoch), amount)
  if (deposit === null) {
    throw badRequest(`amount: with the transfer fee of ${mint} more leaves ${payer} than a token account can hold`, {
      param: 'amount',
    })
  }
  const withFee = deposit === amount ? '' : ` (${amount} and the transfer fee)`
  requireHolding(before, {
    ...{ wallet: payer, mint, need: deposit, withFee, param: 'payer' },
    ...{ token: 'token', frozen: `The tokens of ${payer} are frozen` },
  })
  const texts = textsOf(input)
  const proof = await proofOfDecimals(payer, token)
  const built = await buildTransaction(context, {
    payer,
    requiredProgram: PROGRAMS.lock,
    fallbackUnits: LOCK_UNITS.create,
    build: async ({ before: budget = [], ...envelope }) => ({
      ...(await buildLock({
        ...envelope,
        before: [...budget, proof],
        ...{ base, recipient, mint, tokenProgram, terms, texts },
      })),
      secretKeys: key === null ? [] : [key.secretKey],
    }),
    onFailedTrial: throwLockRefusal,
  })
  const sizes = [
    ESCROW_BYTES,
    extensions?.accountBytes ?? TOKEN_ACCOUNT_SIZE,
    ...(texts === undefined ? [] : [textsBytes(texts)]),
  ]
  const rents = await Promise.all(sizes.map((bytes) => rentFor(context.chain, bytes)))
  const warnings = [...releaseWarnings(terms, before.at.unixSeconds), ...mintWarnings(token, before.at.epoch)]
  const mayEnd = input.cancellable_by === 'none' ? 'nobody' : input.cancellable_by
  return {
    built,
    // The movement shows the account of the lock, and not who can claim from it.
    about: `${before.address}, for ${recipient} until ${momentOf(terms.cliffTime + terms.frequency * terms.periods)}, ended by ${mayEnd}`,
    summary: {
      address: before.address,
      ...lockTerms({ ...terms, mint, tokenProgram, creator: payer, recipient }),
      deposit: String(deposit),
      rent: String(rents.reduce((sum, rent) => sum + rent, 0n)),
      ...(warnings.length > 0 ? { warnings } : {}),
    },
  }
}

/** Throws bad_request for a schedule that has no end, unlocks nothing in a period, or contradicts itself. */
function scheduleOf(input: CreateLockInput, now: number): LockTerms {
  const amount = BigInt(input.amount)
  const startTime = secondsOf(input.starts_at, 'starts_at') ?? BigInt(now)
  const cliffTime = secondsOf(input.cliff_at, 'cliff_at') ?? startTime
  if (cliffTime < startTime) throw badRequest('cliff_at is before starts_at', { param: 'cliff_at' })
  if (input.frequency !== undefined && input.periods === undefined) {
    throw badRequest('periods is required with frequency: how many periods follow the cliff', { param: 'periods' })
  }
  const periods = BigInt(input.periods ?? 0)
  if (periods > 0n && input.frequency === undefined) {
    throw badRequest('frequency is required with periods: the seconds of a period', { param: 'frequency' })
  }
  const wanted = input.cliff_amount === undefined ? null : BigInt(input.cliff_amount)
  if (wanted !== null && wanted > amount) {
    throw badRequest(`cliff_amount is ${wanted}, more than the amount ${amount}`, { param: 'cliff_amount' })
  }
  if (wanted !== null && periods === 0n && wanted !== amount) {
    throw badRequest(
      `cliff_amount is ${wanted} of ${amount}, and without periods everything unlocks at the cliff: leave it out, or send periods and frequency`,
      { param: 'cliff_amount' },
    )
  }
  const { cliffAmount, amountPerPeriod } = splitLock({ amount, cliffAmount: wanted ?? 0n, periods })
  if (periods > 0n && amountPerPeriod === 0n) {
    throw badRequest(
      `periods is ${periods}, and ${amount - (wanted ?? 0n)} raw units after the cliff are less than one for each`,
      { param: 'periods' },
    )
  }
  // The program requires a frequency even if no period follows.
  const frequency = BigInt(input.frequency ?? 1)
  if (cliffTime + frequency * periods > LAST_SECOND) {
    throw badRequest('The last period ends after the year 9999: send fewer or shorter periods', { param: 'periods' })
  }
  return {
    ...{ startTime, cliffTime, frequency, cliffAmount, amountPerPeriod, periods },
    updateRecipientMode: modeOf(input.recipient_changeable_by),
    cancelMode: modeOf(input.cancellable_by),
  }
}

/** A lock that pays everything in one moment may be meant, or a forgotten period. */
function releaseWarnings(terms: LockTerms, now: number): string[] {
  if (!unlocksAtOnce(terms)) return []
  return terms.cliffTime <= BigInt(now)
    ? ['Nothing is locked: the recipient can claim everything now. Send cliff_at, or periods and frequency']
    : [`Everything unlocks in one moment, ${momentOf(terms.cliffTime)}: no periods follow`]
}

/** Returns whole Unix seconds; undefined without a time. */
function secondsOf(time: string | undefined, param: string): bigint | undefined {
  if (time === undefined) return undefined
  const seconds = Math.floor(Date.parse(time) / 1000)
  if (seconds >= 0) return BigInt(seconds)
  throw badRequest(`${param} is before 1970`, { param })
}

function textsOf({ title, description }: CreateLockInput): { title: string; description: string } | undefined {
  return title === undefined && description === undefined
    ? undefined
    : { title: title ?? '', description: description ?? '' }
}
