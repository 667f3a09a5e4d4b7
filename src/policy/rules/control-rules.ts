/**
 * Rules about control: the wallet loses no authority, no one gains power over its accounts, holders of a mint lose
 * nothing by its authorities, and closed accounts pay the wallet.
 */

import { solText } from '../../solana/amounts.ts'
import type { Movement } from '../movement/movement.ts'
import type { SigningPolicy } from '../policy.ts'
import { OWN_KEY_ADVICE, type Violation } from './violation.ts'

export function checkAuthorities({ authority_changes: [change] }: Movement): Violation | null {
  if (change === undefined) return null
  const { address, what, to } = change
  const message = `${what} of ${address} would pass from the platform wallet to ${to ?? 'nobody'}; ${OWN_KEY_ADVICE}`
  return { message, details: { ...change } }
}

export function checkDelegates({ delegates: [delegation] }: Movement): Violation | null {
  if (delegation === undefined) return null
  const { address, kind, delegate, amount } = delegation
  const units = amount === null ? '' : ` for ${amount} units`
  return {
    message: `${delegate ?? 'others'} could act on the ${kind} ${address}${units}; ${OWN_KEY_ADVICE}`,
    details: { address, kind, delegate, amount: amount === null ? null : String(amount) },
  }
}

export function checkPowers({ powers }: Movement, policy: SigningPolicy): Violation | null {
  const use = powers.find(({ power }) => power === null || !policy.powers.includes(power))
  if (use === undefined) return null
  const { mint, power, account, what } = use
  const remedy =
    power === null
      ? OWN_KEY_ADVICE
      : `allow this for every mint with \`svc signer policy --powers ${power}\`, or let it wait for approvals with \`--wait power\``
  return {
    message: `holders of ${mint} would be affected, because ${what}; ${remedy}`,
    details: { mint, power, account },
  }
}

export function checkClosings({ closes, wallet }: Movement): Violation | null {
  const lost = closes.find(({ to }) => to.some((address) => address !== wallet))
  if (lost === undefined) return null
  const { address, what, lamports, to } = lost
  const message = `the ${what} ${address} would be closed and its ${solText(lamports)} sent to ${to.join(', ')}; send them to the platform wallet ${wallet} instead`
  return { message, details: { address, lamports: String(lamports), to } }
}
