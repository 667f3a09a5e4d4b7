/** `svc airdrops withdraw`: what is left in a vault, taken back by the platform wallet after the clawback time. */
import { paths } from '../../src/api/paths.ts'
import { decimalOf } from '../amounts.ts'
import { required, text, verb } from '../command.ts'
import { signedOnce } from '../signing/by-platform.ts'
import { WAIT } from '../signing/flags.ts'
import { follow } from '../signing/following.ts'
import { pair } from '../signing/preview.ts'
import { confirmOn, failedAs } from '../signing/sign-and-submit.ts'
import { usage } from '../ui/problem.ts'
import { zonedTime } from '../ui/times.ts'
import { decimalsOf } from './status.ts'

export const withdraw = verb({
  about: 'Withdraw what is left in the vault, once its clawback time has come',
  details:
    'The whole vault goes to the token account that its maker set, whoever pays for it; the platform wallet signs. --amount guards against a vault that is not as you think.',
  calls: [paths.airdrops.get, paths.airdrops.withdraw, paths.transactions.get],
  args: { id: required(text('Id of the airdrop')) },
  flags: {
    amount: text('What the vault must hold, in raw units (default: whatever it holds)', { placeholder: 'UNITS' }),
    admin: text('Wallet that must own the receiving account (default: not checked)', { placeholder: 'WALLET' }),
    idempotency_key: text('Repeat under this key what an earlier run began', { placeholder: 'KEY' }),
    wait: WAIT,
  },
  examples: ['svc airdrops withdraw <id>', 'svc airdrops withdraw <id> --admin <wallet> --yes'],
  async run({ id, amount, admin, idempotency_key, wait = 'confirmed' }, session) {
    if (amount !== undefined && !/^\d{1,20}$/.test(amount)) {
      throw usage(`--amount must be raw units, not "${amount}"`, { param: '--amount' })
    }
    if (idempotency_key !== undefined && amount === undefined) {
      throw usage('--idempotency-key repeats a withdrawal: give the --amount of that one', { param: '--amount' })
    }
    const { data: airdrop } = await session.client.airdrops.get({ id })
    const all = amount ?? airdrop.vault_balance
    if (all === null) throw usage(`${id} has no vault on chain: nothing can be withdrawn`, { param: '<id>' })
    const decimals = await decimalsOf(session, airdrop.mint)
    const shownAmount = decimals === null ? `${all} raw units` : decimalOf(BigInt(all), decimals)
    const what = `Withdraw ${shownAmount} of ${airdrop.mint}`
    await session.ui.preview([
      what,
      pair('vault', airdrop.vault ?? '-'),
      pair('goes to', airdrop.clawback_receiver ?? '-'),
      pair('possible', airdrop.clawback_at === null ? '-' : `from ${zonedTime(airdrop.clawback_at)}`),
    ])
    await confirmOn(session, what, await session.cluster())
    const body = { id, amount: all, ...(admin === undefined ? {} : { admin }) }
    const { data } = await signedOnce(session, idempotency_key ?? crypto.randomUUID(), (options) =>
      session.client.airdrops.withdraw(body, options),
    )
    const { mode: _, signature, ...shown } = data
    if (wait === 'none') return { data: { airdrop: id, ...shown, signature, lifecycle: 'submitted' } }
    const landed = await follow(session, signature, wait)
    if (landed.lifecycle === 'failed') throw failedAs(landed)
    return { data: { airdrop: id, ...shown, signature, lifecycle: landed.lifecycle, slot: landed.slot } }
  },
})
