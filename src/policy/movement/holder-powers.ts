/** Finds what a transaction does to the holders of a mint that exists: accounts frozen, transfers paused, fees changed. */
import type { HolderPower } from '../../solana/token-authorities.ts'
import { changedSettings, readMintExtensions } from '../../solana/token-extensions.ts'
import type { InstructionEffects } from './instruction-effects.ts'
import type { PowerUse } from './movement.ts'
import type { TouchedAccount, TouchedAccounts } from './touched-accounts.ts'

const CHANGES: Readonly<Record<HolderPower, string>> = {
  freeze: 'new token accounts would start frozen',
  pause: 'every transfer would be paused',
  transfer_fee_config: 'the transfer fee would change',
  interest_rate: 'the interest rate that wallets show would change',
  scaled_amount: 'the multiplier that wallets show would change',
  transfer_hook: 'the program that every transfer calls would change',
  close: 'the mint would be closed',
}

/** Whose authority it is does not count: no transaction of the wallet does this unless the policy names it. */
export function powerUses(wallet: string, accounts: TouchedAccounts, { frozen }: InstructionEffects): PowerUse[] {
  return [...accounts.values()].flatMap((touched) => [...mintUses(touched), ...freezing(wallet, touched, frozen)])
}

/** A mint that the transaction creates has no holders yet. */
function mintUses({ address: mint, before, after }: TouchedAccount): PowerUse[] {
  if (before.account === null || before.mint === null) return []
  if (after.account === null) return [{ mint, power: 'close', account: mint, what: CHANGES.close }]
  const { isPaused, isFrozenByDefault } = readMintExtensions(after.account.data)
  // To resume a token, or to let new accounts start thawed, takes nothing from anybody.
  const isRelief = (power: HolderPower | null) =>
    (power === 'pause' && isPaused === false) || (power === 'freeze' && !isFrozenByDefault)
  return changedSettings(before.account.data, after.account.data)
    .filter(({ power }) => !isRelief(power))
    .map(({ power, type }) => ({
      mint,
      power,
      account: mint,
      what: power === null ? `the settings of extension ${type} would change` : CHANGES[power],
    }))
}

/** An account that is opened here may start frozen, which is no act of this transaction. */
function freezing(wallet: string, { address, before, after }: TouchedAccount, frozen: readonly string[]): PowerUse[] {
  const { token } = after
  if (token === null || token.state !== 'frozen' || token.owner === wallet) return []
  const isAct = before.token === null ? frozen.includes(address) : before.token.state !== 'frozen'
  if (!isAct) return []
  const what = `the token account ${address} of ${token.owner} would be frozen`
  return [{ mint: token.mint, power: 'freeze', account: address, what }]
}
