/** Reads the lock that a request names, and checks who may act, whether its mint can be locked, and who can be paid. */
import { explainTransactionError } from '../../chain/errors/index.ts'
import type { NodeCalls } from '../../chain/nodes/node-call.ts'
import {
  type BeforeLock,
  type Escrow,
  type LockableToken,
  type LockWithTexts,
  readLockWithTexts,
  readUnlockAccounts,
  type UnlockAccounts,
} from '../../chain/programs/jupiter-lock/index.ts'
import { decimalsProof } from '../../chain/programs/tokens/index.ts'
import type { FailedTrial } from '../../chain/sending/compute-budget.ts'
import { namesIn } from '../../chain/sending/transactions.ts'
import type { Services } from '../../context.ts'
import { badRequest, notFound } from '../../platform/errors.ts'
import { decodeWireTransaction } from '../../solana/messages.ts'
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../solana/program-ids.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { feeInEpoch } from '../../solana/transfer-fees.ts'
import { momentOf, partyOf } from './records.ts'

/** Programs whose refusal is reported. */
const REFUSING: readonly string[] = [PROGRAMS.lock.name, 'Token program', 'Token-2022 program']

/** Throws not_found for an address without a lock. */
export async function requireLock(
  { chain }: Pick<Services, 'chain'>,
  address: string,
): Promise<LockWithTexts & { escrow: Escrow }> {
  const reading = await readLockWithTexts(chain, address)
  const { escrow } = reading
  if (escrow === null) {
    throw notFound(`There is no lock of Jupiter Lock at ${address} on ${chain.cluster.label}`, { param: 'address' })
  }
  return { ...reading, escrow }
}

/** Throws bad_request for a cancelled lock, from which nothing more can be paid. */
export function requireUncancelled({ address, cancelledAt, creator }: Escrow): void {
  if (cancelledAt === 0n) return
  throw badRequest(
    `The lock ${address} was cancelled on ${momentOf(cancelledAt)}, and what it held is paid out: its creator ${creator} can close it`,
    { param: 'address', details: { cancelled_at: momentOf(cancelledAt), creator } },
  )
}

/** Throws bad_request unless the payer has this role, and names who has it. */
export function requireRole(
  lock: Escrow,
  role: 'creator' | 'recipient',
  { payer, verb }: { payer: string; verb: string },
) {
  const holder = lock[role]
  if (payer === holder) return
  throw badRequest(`Only the ${role} of the lock ${lock.address}, ${holder}, can ${verb} it, not ${payer}`, {
    param: 'payer',
    details: { [role]: holder },
  })
}

/** Throws bad_request unless a mode of the lock lets the payer act, and names who may. */
export function requireMay(lock: Escrow, mode: number, { payer, verb }: { payer: string; verb: string }): void {
  const party = partyOf(mode)
  const holders = (['creator', 'recipient'] as const).filter((role) => party === role || party === 'both')
  if (holders.some((role) => lock[role] === payer)) return
  const who =
    holders.length === 0
      ? 'nobody can, which was decided when it was made'
      : `only its ${holders.map((role) => `${role} ${lock[role]}`).join(' and its ')} can`
  throw badRequest(`${payer} cannot ${verb} the lock ${lock.address}: ${who}`, {
    param: 'payer',
    details: { allowed: party, creator: lock.creator, recipient: lock.recipient },
  })
}

/** Extensions that the program accepts. With the confidential ones, only open amounts move. */
const ACCEPTED: readonly string[] = [
  'TransferFeeConfig',
  'TokenMetadata',
  'MetadataPointer',
  'ConfidentialTransferMint',
  'ConfidentialTransferFeeConfig',
  'PermanentDelegate',
  'TransferHook',
  'MintCloseAuthority',
  'DefaultAccountState',
  'GroupPointer',
  'GroupMemberPointer',
]

/** Throws not_found without a mint, bad_request for a mint whose tokens the program cannot lock. */
export function requireLockableMint(mint: string, token: LockableToken | null, chainLabel: string): LockableToken {
  if (token === null) throw notFound(`There is no token mint at ${mint} on ${chainLabel}`, { param: 'mint' })
  const { names, extensions } = token
  const refused = (why: string, found: readonly string[]) =>
    badRequest(`The token ${mint} cannot be locked: ${why}`, { param: 'mint', details: { extensions: found } })
  const unknown = names.filter((name) => !ACCEPTED.includes(name))
  if (unknown.length > 0) {
    throw refused(`Jupiter Lock refuses mints with the extension ${unknown.join(', ')}`, unknown)
  }
  const hook = extensions?.transferHook ?? null
  if (hook !== null) {
    throw refused(`every transfer calls the program ${hook}, whose accounts are not known here`, ['TransferHook'])
  }
  if (extensions?.isFrozenByDefault) {
    throw refused(
      'its new accounts are frozen until its freeze authority thaws them, and so would be that of the lock',
      ['DefaultAccountState'],
    )
  }
  return token
}

/** The chain checks the decimals with which an amount was converted. */
export const proofOfDecimals = (payer: string, { mint, tokenProgram, decimals }: LockableToken) =>
  decimalsProof(payer, { mint, program: tokenProgram === 'spl' ? TOKEN_PROGRAM : TOKEN_2022_PROGRAM, decimals })

/** Says what the mint lets others do with locked tokens; empty if nothing. */
export function mintWarnings({ extensions }: LockableToken, epoch: bigint): string[] {
  const warnings: string[] = []
  const delegate = extensions?.permanentDelegate ?? null
  if (delegate !== null) {
    warnings.push(`${delegate} is the permanent delegate of the mint: it can take the locked tokens at any time`)
  }
  const fee = feeInEpoch(extensions, epoch)
  if (fee !== null && fee.basisPoints > 0) {
    warnings.push(
      `The mint withholds a fee of ${fee.basisPoints / 100} % from every transfer, at most ${fee.maximumFee} raw units: the recipient receives less than it claims`,
    )
  }
  return warnings
}

/** Throws bad_request unless the wallet can lock `need` raw units. `token` and `frozen` are the words of the error. */
export function requireHolding(
  { holding }: Pick<BeforeLock, 'holding'>,
  asked: { wallet: string; mint: string; need: bigint; withFee?: string; param: string; token: string; frozen: string },
): void {
  const { wallet, mint, need, withFee = '', param, token, frozen } = asked
  const have = holding?.amount ?? 0n
  const details = { mint, have: String(have), need: String(need) }
  if (have < need) {
    const message = `The wallet ${wallet} has ${have} raw units of the ${token} ${mint}, but ${need} are needed${withFee}`
    throw badRequest(message, { param: 'amount', details })
  }
  if (!holding?.isFrozen) return
  throw badRequest(`${frozen} in ${holding.address}: the token's freeze authority must thaw it first`, {
    param,
    details: { ...details, account: holding.address },
  })
}

/**
 * Reads the token accounts through which the lock pays a wallet. Throws bad_request if one of them is frozen, because
 * tokens can neither leave nor reach it, or belongs to somebody else. The error names who can thaw it.
 */
export async function requirePayable(
  node: NodeCalls,
  escrow: Escrow,
  { wallet, param, what, cannot }: { wallet: string; param: string; what: string; cannot: string },
): Promise<UnlockAccounts> {
  const { mint, address } = escrow
  const accounts = await readUnlockAccounts(node, escrow, wallet)
  const { lock, wallet: paid, freezeAuthority } = accounts
  if (paid.state !== null && paid.state.owner !== wallet) {
    throw badRequest(
      `The token account ${paid.address} of ${wallet} belongs to ${paid.state.owner}: ${what} can be paid out only when ${wallet} owns the account again`,
      { param, details: { escrow: address, mint, account: paid.address, owner: paid.state.owner } },
    )
  }
  // A closing without a payout moves no tokens.
  if ((lock.state?.amount ?? 0n) === 0n) return accounts
  for (const [ofAccount, { address: account, state }] of [
    ['of the lock', lock],
    ['of the wallet', paid],
  ] as const) {
    if (state?.state !== 'frozen') continue
    const remedy =
      freezeAuthority === null
        ? 'and nobody can thaw it, because the token no longer has a freeze authority'
        : `its freeze authority ${freezeAuthority} must thaw it first`
    throw badRequest(`${cannot}: the token account ${account} ${ofAccount} is frozen, ${remedy}`, {
      param,
      details: { escrow: address, mint, account, freeze_authority: freezeAuthority },
    })
  }
  return accounts
}

/** Throws bad_request when Jupiter Lock or a token program refuses. A payer without SOL is accepted. */
export function throwLockRefusal({ transaction, err, logs }: FailedTrial): void {
  const names = namesIn(decodeWireTransaction(transaction).message)
  const { program, name, message, hint } = explainTransactionError(err, { logs, ...names })
  if (program === null || !REFUSING.includes(program)) return
  throw badRequest(`${program} refuses it: ${message}${hint === null ? '' : `; ${hint}`}`, {
    details: { error: name, logs: logs.slice(-20) },
  })
}
