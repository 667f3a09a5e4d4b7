/** Reads the lock that a request names, and checks who may act, whether its mint can be locked, and who can be paid. */
import type { NodeCalls } from '../../chain/nodes/node-call.ts'
import {
  type AroundLock,
  type BeforeLock,
  type Escrow,
  type LockWithTexts,
  readAroundLock,
  readLockWithTexts,
} from '../../chain/programs/jupiter-lock/index.ts'
import { decimalsProof, namedExtensions, type OnChainToken } from '../../chain/programs/tokens/index.ts'
import type { Services } from '../../context.ts'
import { type ApiError, badRequest, notFound } from '../../platform/errors.ts'
import { isoSeconds, type LockAmounts, lockAmounts } from '../../solana/lock-schedule.ts'
import { partyOf } from '../../solana/programs/jupiter-lock.ts'
import { tokenProgramOf } from '../../solana/token-programs.ts'
import { feeInEpoch } from '../../solana/transfer-fees.ts'

export const fault = (param: string, message: string, details?: Record<string, unknown>): ApiError =>
  badRequest(message, { param, ...(details === undefined ? {} : { details }) })

/** A lock that is there, and its amounts at the time of the reading. */
export interface FoundLock extends LockWithTexts {
  escrow: Escrow
  amounts: LockAmounts
}

/** Throws not_found for an address without a lock. */
export async function requireLock({ chain }: Pick<Services, 'chain'>, address: string): Promise<FoundLock> {
  const reading = await readLockWithTexts(chain, address)
  const { escrow, at } = reading
  if (escrow === null) {
    throw notFound(`There is no lock of Jupiter Lock at ${address} on ${chain.cluster.label}`, { param: 'address' })
  }
  return { ...reading, escrow, amounts: lockAmounts(escrow, BigInt(at.unixSeconds)) }
}

/** Throws bad_request for a cancelled lock, from which nothing more can be paid. */
export function requireUncancelled({ address, cancelledAt, creator }: Escrow): void {
  if (cancelledAt === 0n) return
  const cancelled_at = isoSeconds(cancelledAt)
  throw fault(
    'address',
    `The lock ${address} was cancelled on ${cancelled_at}, and what it held is paid out: its creator ${creator} can close it`,
    { cancelled_at, creator },
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
  const message = `Only the ${role} of the lock ${lock.address}, ${holder}, can ${verb} it, not ${payer}`
  throw fault('payer', message, { [role]: holder })
}

/** Throws bad_request unless a mode of the lock lets the payer act, and names who may. */
export function requirePermitted(lock: Escrow, mode: number, { payer, verb }: { payer: string; verb: string }): void {
  const { address, creator, recipient } = lock
  const party = partyOf(mode)
  const holders = (['creator', 'recipient'] as const).filter((role) => party === role || party === 'both')
  if (holders.some((role) => lock[role] === payer)) return
  const who =
    holders.length === 0
      ? 'nobody can, which was decided when it was made'
      : `only its ${holders.map((role) => `${role} ${lock[role]}`).join(' and its ')} can`
  throw fault('payer', `${payer} cannot ${verb} the lock ${address}: ${who}`, { allowed: party, creator, recipient })
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

/** Returns the names of a mint's other extensions. */
export const extensionsBeside = async (known: readonly string[], token: OnChainToken): Promise<string[]> =>
  (await namedExtensions(token)).map(({ name }) => name).filter((name) => !known.includes(name))

/** Throws not_found without a mint, bad_request for a mint whose tokens the program cannot lock. */
export async function requireLockableMint(
  mint: string,
  token: OnChainToken | null,
  chainLabel: string,
): Promise<OnChainToken> {
  if (token === null) throw notFound(`There is no token mint at ${mint} on ${chainLabel}`, { param: 'mint' })
  const { extensions } = token
  const refused = (why: string, found: readonly string[]) =>
    fault('mint', `The token ${mint} cannot be locked: ${why}`, { extensions: found })
  const unknown = await extensionsBeside(ACCEPTED, token)
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
export const proofOfDecimals = (payer: string, { mint, tokenProgram, decimals }: OnChainToken) =>
  decimalsProof(payer, { mint, program: tokenProgramOf(tokenProgram), decimals })

/** Says what the mint lets others do with locked tokens; empty if nothing. */
export function mintWarnings({ extensions }: OnChainToken, epoch: bigint): string[] {
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
    throw fault('amount', message, details)
  }
  if (!holding?.isFrozen) return
  const message = `${frozen} in ${holding.address}: the token's freeze authority must thaw it first`
  throw fault(param, message, { ...details, account: holding.address })
}

/**
 * Reads the token accounts through which the lock pays wallets. Throws bad_request if one of them is frozen, because
 * tokens can neither leave nor reach it, or belongs to somebody else. The error names who can thaw it.
 */
export async function requirePayable(
  node: NodeCalls,
  escrow: Escrow,
  { wallets, param, what, cannot }: { wallets: readonly string[]; param: string; what: string; cannot: string },
): Promise<AroundLock> {
  const around = await readAroundLock(node, escrow, wallets)
  const { lock, token } = around
  const at = { escrow: escrow.address, mint: escrow.mint }
  for (const [i, wallet] of wallets.entries()) {
    const paid = around.wallets[i]
    const owner = paid?.state?.owner ?? wallet
    if (paid !== undefined && owner !== wallet) {
      throw fault(
        param,
        `The token account ${paid.address} of ${wallet} belongs to ${owner}: ${what} can be paid out only when ${wallet} owns the account again`,
        { ...at, account: paid.address, owner },
      )
    }
    // A closing without a payout moves no tokens.
    if ((lock.state?.amount ?? 0n) === 0n) continue
    for (const [name, account] of Object.entries({ lock, wallet: paid })) {
      if (account?.state?.state !== 'frozen') continue
      const freeze_authority = token?.freezeAuthority ?? null
      const remedy =
        freeze_authority === null
          ? 'and nobody can thaw it, because the token no longer has a freeze authority'
          : `its freeze authority ${freeze_authority} must thaw it first`
      const message = `${cannot}: the token account ${account.address} of the ${name} is frozen, ${remedy}`
      throw fault(param, message, { ...at, account: account.address, freeze_authority })
    }
  }
  return around
}
